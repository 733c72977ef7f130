/*
 * Threads from creation to the freeing of their memory. A thread has two references: its creator's
 * and its own. Its own is dropped by the thread that runs next on its CPU, since a thread cannot
 * free the stack it runs on. The memory is freed by a kernel thread, the reaper, since unmapping a
 * stack needs interrupts on.
 */
#include "kernel/lib/format.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "sched/cpuset.h"
#include "sched/quanta.h"
#include "sched/runqueue.h"

struct numbers thread_numbers = NUMBERS("thread numbers", NUMBER_MAX);
/* Of kernel threads: behind those of processes, which so begin with 1. */
static struct numbers kernel_numbers = {
    .lock = SPINLOCK(LOCK_THREAD, "kernel thread numbers"), .last = NUMBER_MAX, .max = INT32_MAX};

static struct numbers *numbers_of(const struct process *p)
{
    return p ? &thread_numbers : &kernel_numbers;
}

/* Guards the three variables below. */
static struct spinlock reap_lock = SPINLOCK(LOCK_THREAD, "dead threads");
static struct list dead_threads = {&dead_threads, &dead_threads};
static struct wait_queue reaper_queue = {{&reaper_queue.waiters, &reaper_queue.waiters}};
static struct thread *reaper;

static void free_thread(struct thread *t)
{
    void (*freed)(void *arg) = t->freed;
    void *arg = t->freed_arg;

    if (t->gone)
        t->gone(t);
    if (!list_empty(&t->traced))
        quanta_freed(t);
    kstack_free(t->kstack, KSTACK_SIZE);
    number_give(numbers_of(t->process), &t->id);
    kfree(t);
    if (freed)
        freed(arg);
}

static void reaper_main(UNUSED void *arg)
{
    bool irq = spin_lock(&reap_lock);

    for (;;) {
        struct list *item = list_pop_front(&dead_threads);
        if (!item) {
            wait_sleep(&reaper_queue, &reap_lock, &irq, UINT64_MAX);
            continue;
        }
        spin_unlock(&reap_lock, irq);
        free_thread(container_of(item, struct thread, ready.link));
        irq = spin_lock(&reap_lock);
    }
}

/* Queues a thread without references for the reaper. */
static void bury(struct thread *t)
{
    bool irq = spin_lock(&reap_lock);

    list_push_back(&dead_threads, &t->ready.link);
    wait_wake(&reaper_queue, 1);
    spin_unlock(&reap_lock, irq);
}

void thread_put(struct thread *t)
{
    if (__atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL) == 0)
        bury(t);
}

/* The first function of every new thread. The entry and its argument are members of struct thread,
 * since arch_context_init passes one pointer. */
static void run_thread(void *arg)
{
    struct thread *t = arg;

    thread_entry();
    t->entry(t->arg);
    thread_exit();
}

static void name_thread(struct thread *t, const char *name)
{
    ksnprintf(t->name, sizeof(t->name), "%s", name);
}

static struct thread *allocate(const struct thread_params *p)
{
    struct thread *t = kmalloc(sizeof(*t));

    if (!t)
        return NULL;
    t->kstack = kstack_alloc(KSTACK_SIZE);
    if (!t->kstack) {
        kfree(t);
        return NULL;
    }
    name_thread(t, p->name);
    list_init(&t->ready.link);
    list_init(&t->timer);
    list_init(&t->wait);
    list_init(&t->siblings);
    list_init(&t->traced);
    t->state = THREAD_NEW;
    t->ready.prio = t->own_prio = p->prio;
    t->entry = p->entry;
    t->arg = p->arg;
    t->process = p->process;
    t->space = p->space;
    t->space_number = p->space_number;
    t->gone = p->gone;
    t->freed = p->freed;
    t->freed_arg = p->freed_arg;
    t->affinity = p->affinity ? *p->affinity : cpuset_first(CPU_MAX);
    t->chip_home = CHIP_ANY;
    t->migrate_to = CPU_ANY;
    t->group = p->group;
    t->policy = sched_policy_now();
    t->tid = p->tid ? p->tid : number_take(numbers_of(p->process), &t->id);
    t->refs = 2;
    hpm_thread_init(&t->hpm, t->tid, p->pid);
    arch_context_init(&t->context, (char *)t->kstack + KSTACK_SIZE, run_thread, t);
    return t;
}

/* Creates the reaper, when the first thread is created. */
static int make_reaper(void)
{
    static const struct thread_params params = {
        .name = "reaper", .entry = reaper_main, .prio = PRIO_KERNEL, .group = GROUP_NONE};

    reaper = allocate(&params);
    if (!reaper)
        return -ENOMEM;
    thread_start(reaper);
    return 0;
}

int thread_create(const struct thread_params *params, struct thread **out)
{
    ASSERT(params->prio < PRIO_COUNT && params->entry);
    if (!reaper && make_reaper())
        return -ENOMEM;
    struct thread *t = allocate(params);
    if (!t)
        return -ENOMEM;
    *out = t;
    return 0;
}

/* Until the thread is started, only its process and the sharing placer know it and the end of the
 * process does not wake it: a NEW thread is queued here only. */
void thread_start(struct thread *t)
{
    bool irq = arch_irq_save();
    unsigned cpu = t->process ? t->policy->place_new(t) : balance_cpu_for_new(t);
    struct runqueue *from = &runqueues[t->cpu], *to = &runqueues[cpu];

    if (telemetry_wants(TELEMETRY_QUANTA))
        quanta_started(t);
    rq_lock_two(from, to);
    t->cpu = cpu;
    t->state = THREAD_READY;
    t->since_ns = arch_clock_ns();
    bool allowed = cpuset_has(&t->affinity, cpu);
    telemetry_thread_start(t->tid, t->hpm.pid, cpu, t->name);
    if (telemetry_wants(TELEMETRY_QUANTA))
        quanta_woken(t, TRACE_CREATED);
    rq_insert_locked(to, t, READY_NEW);
    rq_unlock_two(from, to);
    if (!allowed) /* its affinity has changed since it was placed */
        sched_migrate(t, balance_cpu_for_new(t));
    arch_irq_restore(irq);
}

int thread_create_kernel(const char *name, void (*entry)(void *), void *arg,
                         const struct cpuset *cpus)
{
    const struct thread_params params = {.name = name,
                                         .entry = entry,
                                         .arg = arg,
                                         .affinity = cpus,
                                         .prio = PRIO_KERNEL,
                                         .group = GROUP_NONE};
    struct thread *t;

    if (thread_create(&params, &t))
        return -ENOMEM;
    thread_start(t);
    thread_put(t);
    return 0;
}

NORETURN void thread_exit(void)
{
    arch_irq_save();
    struct runqueue *rq = rq_this();
    struct thread *t = rq->cpu->current;

    ASSERT(list_empty(&t->wait) && list_empty(&t->timer));
    spin_lock_irqoff(&rq->lock);
    t->state = THREAD_DEAD;
    telemetry_thread_exit(t->tid);
    hpm_thread_ends(&t->hpm);
    sched_switch_locked(rq, GIVE_WAY_YIELD);
    panic("thread %u runs after its end", t->tid);
}

/* The context a CPU started in, which has a stack, becomes the CPU's idle thread. */
struct thread *thread_create_idle(struct cpu *cpu)
{
    static struct thread idle_threads[CPU_MAX];
    struct thread *t = &idle_threads[cpu->index];

    ksnprintf(t->name, sizeof(t->name), "idle %u", cpu->index);
    list_init(&t->ready.link);
    list_init(&t->timer);
    list_init(&t->wait);
    list_init(&t->siblings);
    t->state = THREAD_RUNNING;
    t->ready.prio = PRIO_IDLE;
    t->cpu = cpu->index;
    t->affinity = cpuset_one(cpu->index);
    t->chip_home = CHIP_ANY;
    t->migrate_to = CPU_ANY;
    t->group = GROUP_NONE;
    t->refs = 1;
    return t;
}
