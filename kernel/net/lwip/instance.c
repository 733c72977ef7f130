/* The instance of lwIP; see instance.h. */
#include "kernel/net/lwip/instance.h"
#include "kernel/arch/arch.h"
#include "kernel/core/entropy.h"
#include "kernel/core/panic.h"
#include "kernel/net/lwip/connections.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/timeouts.h"
#include "sched/sched.h"

#define TASKS_AT_ONCE 16 /* before interrupts are let in */

static struct spinlock lock = SPINLOCK(LOCK_NET, "network");
static struct net_task *posted; /* [A] newest first */
static bool begun;              /* of starting threads only */

/* The thread of its timers. */
static struct spinlock wake = SPINLOCK(LOCK_THREAD, "network timers");
static struct wait_queue sleeping;     /* [wake] */
static uint64_t wakes_ns = UINT64_MAX; /* [wake] when the thread wakes; 0: it is awake */

/* ---- What lwIP asks for ---------------------------------------------------------------------- */

u32_t sys_now(void)
{
    return (u32_t)(arch_clock_ns() / NS_PER_MS);
}

uint32_t lwip_random(void)
{
    uint32_t word;

    entropy_bytes(NULL, &word, sizeof(word));
    return word;
}

#ifdef DEBUG
void lwip_failed(const char *what, const char *file, int line)
{
    panic("lwip: %s (%s:%d)", what, file, line);
}
#endif

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Puts a task into the list, unless it is in it. */
static void list_task(struct net_task *t, uint32_t wanted)
{
    if (__atomic_fetch_or(&t->wanted, wanted | NET_TASK_LISTED, __ATOMIC_ACQ_REL) & NET_TASK_LISTED)
        return;
    t->keep(t);
    t->next = __atomic_load_n(&posted, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&posted, &t->next, t, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
        continue;
}

/* Takes the list, oldest first. */
static struct net_task *take_tasks(void)
{
    struct net_task *t = __atomic_exchange_n(&posted, NULL, __ATOMIC_SEQ_CST), *oldest = NULL;

    while (t) {
        struct net_task *next = t->next;
        t->next = oldest;
        oldest = t;
        t = next;
    }
    return oldest;
}

static struct net_task *rest; /* [lock] taken, not yet done */

/* Does some tasks. Lock held. */
static void do_tasks(void)
{
    for (unsigned n = 0; n < TASKS_AT_ONCE; n++) {
        struct net_task *t = rest ? rest : take_tasks();
        __atomic_store_n(&rest, t ? t->next : NULL, __ATOMIC_RELAXED);
        if (!t)
            break;
        uint32_t wanted = __atomic_exchange_n(&t->wanted, 0, __ATOMIC_ACQ_REL);
        t->run(t, wanted & ~NET_TASK_LISTED);
        t->let_go(t);
    }
    netif_poll_all();
}

static bool are_tasks(void)
{
    return __atomic_load_n(&posted, __ATOMIC_SEQ_CST) || __atomic_load_n(&rest, __ATOMIC_RELAXED);
}

/* ---- Timers ---------------------------------------------------------------------------------- */

/* When lwIP's next timer expires: a time of arch_clock_ns(). Lock held. */
static uint64_t next_timer_ns(void)
{
    u32_t ms = sys_timeouts_sleeptime();

    return ms == SYS_TIMEOUTS_SLEEPTIME_INFINITE ? UINT64_MAX : arch_clock_ns() + ms * NS_PER_MS;
}

/* Wakes the thread of timers if there is one now that expires before it would wake. Lock held. */
static void note_timers(void)
{
    uint64_t at_ns = next_timer_ns();

    spin_lock_irqoff(&wake);
    if (at_ns != UINT64_MAX && at_ns + NS_PER_MS < wakes_ns) {
        wakes_ns = at_ns;
        wait_wake(&sleeping, 1);
    }
    spin_unlock_irqoff(&wake);
}

static void run_timers(UNUSED void *arg)
{
    for (;;) {
        bool irq = net_lock();
        sys_check_timeouts();
        spin_lock_irqoff(&wake);
        wakes_ns = next_timer_ns();
        spin_unlock_irqoff(&wake);
        net_unlock(irq);
        irq = spin_lock(&wake);
        while (arch_clock_ns() < wakes_ns)
            wait_sleep(&sleeping, &wake, &irq, wakes_ns);
        spin_unlock(&wake, irq);
    }
}

/* ---- The lock -------------------------------------------------------------------------------- */

/* Gives the lock back. What is posted from now on is seen by who looks next. */
static void give_lock(bool irq)
{
    note_timers();
    spin_unlock(&lock, irq);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Does what was posted, unless another thread has the lock: that one looks again after it. */
static void do_posted(void)
{
    bool irq;

    while (are_tasks() && spin_try_lock(&lock, &irq)) {
        do_tasks();
        give_lock(irq);
    }
}

bool net_lock(void)
{
    return spin_lock(&lock);
}

void net_unlock(bool irq)
{
    netif_poll_all();
    give_lock(irq);
    do_posted();
}

void net_post(struct net_task *t, uint32_t wanted)
{
    list_task(t, wanted);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    do_posted();
}

void net_post_locked(struct net_task *t, uint32_t wanted)
{
    list_task(t, wanted);
}

/* ---- Starting -------------------------------------------------------------------------------- */

int net_instance_start(unsigned index, unsigned count, const struct cpuset *cpus)
{
    const struct thread_params params = {.name = "net/timers",
                                         .entry = run_timers,
                                         .affinity = cpus,
                                         .prio = PRIO_KERNEL,
                                         .group = GROUP_NONE};
    struct thread *t;

    if (begun)
        return 0;
    wait_init(&sleeping);
    if (thread_create(&params, &t))
        return -ENOMEM;
    bool irq = net_lock();
    begun = true;
    lwip_init();
    tcp_share_ports(index, count);
    net_unlock(irq);
    thread_start(t);
    thread_put(t);
    return 0;
}
