/* The scheduler under load, from inside: nothing is lost, and no thread runs on a forbidden CPU. */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "sched/cpuset.h"
#include "sched/runqueue.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define THREADS 32

static uint64_t counter;
static volatile bool go, stop;

static struct spinlock lock = SPINLOCK(LOCK_THREAD, "test");
static struct wait_queue queue;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct thread *create(void (*entry)(void *), void *arg, const struct cpuset *affinity,
                             uint8_t prio)
{
    return make_thread(
        (struct thread_params){.entry = entry, .arg = arg, .affinity = affinity, .prio = prio});
}

static void spawn(void (*entry)(void *), void *arg, const struct cpuset *affinity, uint8_t prio)
{
    start_thread(
        (struct thread_params){.entry = entry, .arg = arg, .affinity = affinity, .prio = prio});
}

static void reset(void)
{
    counter = 0;
    threads_begin();
    go = stop = false;
    wait_init(&queue);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void count_and_end(void *arg)
{
    __atomic_add_fetch(&counter, (uint64_t)arg, __ATOMIC_RELAXED);
    note_end();
}

static void every_thread_runs_once_and_gives_its_memory_back(void)
{
    struct frame_stats before, after;

    for (unsigned round = 0; round < 30; round++) {
        reset();
        for (uint64_t i = 1; i <= THREADS; i++)
            spawn(count_and_end, (void *)i, NULL, PRIO_NORMAL);
        wait_for_ends(THREADS);
        CHECK(counter == THREADS * (THREADS + 1) / 2);
        if (round == 9) { /* caches are full by now */
            nap(20 * NS_PER_MS);
            frame_stats(&before);
        }
    }
    /* The last stacks may not be free yet. */
    for (unsigned i = 0; i < 100; i++) {
        nap(20 * NS_PER_MS);
        frame_stats(&after);
        if (after.free_pages + 64 >= before.free_pages)
            break;
    }
    CHECK(after.free_pages + 64 >= before.free_pages);
    check_queues();
}

/* ---- Waking ---------------------------------------------------------------------------------- */

#define TURNS 500

struct pair {
    struct spinlock lock;
    struct wait_queue moved;
    unsigned turns;
};
static struct pair pairs[THREADS / 2];

static void play(struct pair *p, unsigned side)
{
    bool irq = spin_lock(&p->lock);

    while (p->turns < TURNS) {
        if (p->turns % 2 == side) {
            p->turns++;
            counter += side; /* keeps both sides from being equal, otherwise irrelevant */
            wait_wake(&p->moved, 1);
        } else if (wait_sleep(&p->moved, &p->lock, &irq, UINT64_MAX)) {
            CHECK(!"woken without a reason");
        }
    }
    spin_unlock(&p->lock, irq);
    note_end();
}

static void play_even(void *arg)
{
    play(arg, 0);
}

static void play_odd(void *arg)
{
    play(arg, 1);
}

static void pairs_of_threads_hand_over_to_each_other_without_loss(void)
{
    reset();
    for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++) {
        spin_init(&pairs[i].lock, LOCK_THREAD, "pair");
        wait_init(&pairs[i].moved);
        pairs[i].turns = 0;
        spawn(play_even, &pairs[i], NULL, PRIO_NORMAL);
        spawn(play_odd, &pairs[i], NULL, PRIO_NORMAL);
    }
    wait_for_ends(THREADS);
    for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++)
        CHECK(pairs[i].turns == TURNS);
    check_queues();
}

#define DOZES 50
static uint64_t woken, timed_out, wakes;

static void doze(void *arg)
{
    uint64_t seed = (uint64_t)arg * 0x9e3779b97f4a7c15 + 1;

    for (unsigned i = 0; i < DOZES; i++) {
        bool irq = spin_lock(&lock);
        int r = wait_sleep(&queue, &lock, &irq,
                           arch_clock_ns() + next_random(&seed) % (50 * NS_PER_US));
        if (r == 0)
            woken++;
        else if (r == -ETIMEDOUT)
            timed_out++;
        else
            CHECK(!"neither woken nor timed out");
        spin_unlock(&lock, irq);
    }
    note_end();
}

static void wake_others(UNUSED void *arg)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        bool irq = spin_lock(&lock);
        wakes += wait_wake(&queue, 2);
        spin_unlock(&lock, irq);
        nap(10 * NS_PER_US);
    }
    note_end();
}

static void every_wake_up_is_seen_by_exactly_one_sleeper_though_deadlines_race(void)
{
    reset();
    woken = timed_out = wakes = 0;
    for (uint64_t i = 0; i < THREADS; i++)
        spawn(doze, (void *)i, NULL, PRIO_NORMAL);
    spawn(wake_others, NULL, NULL, PRIO_NORMAL);
    wait_for_ends(THREADS);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    wait_for_ends(THREADS + 1);
    CHECK(woken == wakes);
    CHECK(woken + timed_out == THREADS * DOZES);
    CHECK(woken && timed_out);
    CHECK(list_empty(&queue.waiters));
    check_queues();
}

static void sleep_until_interrupted(UNUSED void *arg)
{
    bool irq = spin_lock(&lock);

    CHECK(wait_sleep(&queue, &lock, &irq, UINT64_MAX) == -EINTR);
    CHECK(wait_sleep(&queue, &lock, &irq, UINT64_MAX) == -EINTR); /* its process is still ending */
    spin_unlock(&lock, irq);
    uint64_t before_ns = arch_clock_ns();
    nap(3600 * NS_PER_S);
    CHECK(arch_clock_ns() - before_ns < 3600 * NS_PER_S);
    note_end();
}

static void the_end_of_its_process_wakes_a_sleeper_and_keeps_it_awake(void)
{
    reset();
    struct thread *t = create(sleep_until_interrupted, NULL, NULL, PRIO_NORMAL);
    thread_start(t);
    nap(5 * NS_PER_MS);
    sched_interrupt_thread(t);
    wait_for_ends(1);
    thread_put(t);
    CHECK(list_empty(&queue.waiters));
}

/* ---- Time ------------------------------------------------------------------------------------ */

#define SLEEPERS 20
static uint64_t deadline_ns[SLEEPERS];
static unsigned order[SLEEPERS], arrived, late;

static void sleep_once(void *arg)
{
    uint64_t self = (uint64_t)arg;

    if (arch_clock_ns() >= deadline_ns[self])
        __atomic_fetch_add(&late, 1, __ATOMIC_RELAXED);
    sched_sleep_until(deadline_ns[self]);
    CHECK(arch_clock_ns() >= deadline_ns[self]);
    order[__atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED)] = (unsigned)self;
    note_end();
}

static bool in_order(void)
{
    for (unsigned i = 1; i < SLEEPERS; i++)
        if (deadline_ns[order[i - 1]] > deadline_ns[order[i]])
            return false;
    return true;
}

/* Returns whether all fell asleep before the first deadline, and each ran before the next
 * deadline. */
static bool sleepers_were_in_time(uint64_t ahead_ns, uint64_t apart_ns)
{
    struct cpuset last = cpuset_one(cpu_count() - 1);
    uint64_t start_ns = arch_clock_ns() + ahead_ns;

    reset();
    arrived = late = 0;
    /* 7 and 20 have no common divisor, so every position occurs once. */
    for (uint64_t i = 0; i < SLEEPERS; i++) {
        deadline_ns[i] = start_ns + i * 7 % SLEEPERS * apart_ns;
        spawn(sleep_once, (void *)i, &last, PRIO_NORMAL);
    }
    wait_for_ends(SLEEPERS);
    return !late && in_order();
}

static void sleepers_of_one_cpu_wake_in_order_and_never_early(void)
{
    /* A busy host may run no thread for that long; two threads that are due at once may run in any
     * order. */
    uint64_t apart_ns = NS_PER_MS;

    while (apart_ns < NS_PER_S && !sleepers_were_in_time(20 * apart_ns, apart_ns))
        apart_ns *= 2;
    CHECK(apart_ns < NS_PER_S);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static void stay_within(void *arg)
{
    const struct cpuset *allowed = arg;

    for (unsigned i = 0; i < 200; i++) {
        CHECK(cpuset_has(allowed, this_cpu()->index));
        if (i % 3)
            sched_yield();
        else
            nap(20 * NS_PER_US);
    }
    note_end();
}

static void no_thread_runs_outside_its_affinity(void)
{
    static struct cpuset sets[THREADS];

    reset();
    for (unsigned i = 0; i < THREADS; i++) {
        sets[i] = (struct cpuset){0};
        cpuset_add(&sets[i], i % cpu_count());
        cpuset_add(&sets[i], i * 5 % cpu_count());
        spawn(stay_within, &sets[i], &sets[i], PRIO_NORMAL);
    }
    wait_for_ends(THREADS);
    check_queues();
}

static void follow(UNUSED void *arg)
{
    for (unsigned i = 0; i < 100; i++) {
        unsigned cpu = i * 3 % cpu_count();
        struct cpuset one = cpuset_one(cpu);
        CHECK(sched_set_affinity(thread_current(), &one) == 0);
        sched_point();
        CHECK(this_cpu()->index == cpu);
    }
    struct cpuset none = {0};
    CHECK(sched_set_affinity(thread_current(), &none) == -EINVAL);
    note_end();
}

static void a_running_thread_follows_its_affinity_at_once(void)
{
    reset();
    for (unsigned i = 0; i < THREADS; i++)
        spawn(follow, NULL, NULL, PRIO_NORMAL);
    wait_for_ends(THREADS);
    check_queues();
}

static struct thread *herd[THREADS];

static void move_about(void *arg)
{
    uint64_t seed = (uint64_t)arg + 77;

    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        nap(100 * NS_PER_US);
    for (unsigned i = 0; i < 400; i++) {
        uint64_t r = next_random(&seed);
        struct thread *other = herd[r % THREADS];
        struct cpuset any = cpuset_first(CPU_MAX), some = {{next_random(&seed) | 1}};
        switch (r >> 32 & 7) {
        case 0:
            nap(r % (30 * NS_PER_US));
            break;
        case 1:
        case 2:
            sched_migrate(other, (r >> 8) % cpu_count());
            break;
        case 3:
            sched_set_affinity(other, &some);
            sched_set_affinity(other, &any);
            break;
        case 4:
            sched_set_priority(other, PRIO_LOW + (r >> 16) % 3);
            break;
        case 5:
            sched_set_home(other, (r >> 16) % (sched_topology()->chips + 1));
            break;
        default:
            sched_yield();
        }
        sched_point();
        __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    }
    note_end();
}

static void threads_that_move_each_other_about_all_come_to_their_end(void)
{
    for (unsigned round = 0; round < 3; round++) {
        reset();
        for (uint64_t i = 0; i < THREADS; i++)
            herd[i] = create(move_about, (void *)i, NULL, PRIO_NORMAL);
        for (unsigned i = 0; i < THREADS; i++)
            thread_start(herd[i]);
        __atomic_store_n(&go, true, __ATOMIC_RELEASE);
        wait_for_ends(THREADS);
        for (unsigned i = 0; i < THREADS; i++)
            thread_put(herd[i]);
        CHECK(counter == THREADS * 400);
        check_queues();
    }
}

/* ---- Locks ----------------------------------------------------------------------------------- */

#define LOCK_ROUNDS 200

/* Releases the lock only to take it again; QEMU tends to switch CPUs at device accesses, so one is
 * made while it is held. */
static void hog_lock(UNUSED void *arg)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        bool irq = spin_lock(&lock);
        sched_program_timer();
        spin_unlock(&lock, irq);
    }
    note_end();
}

static void take_the_lock(UNUSED void *arg)
{
    for (unsigned i = 0; i < LOCK_ROUNDS; i++)
        spin_unlock(&lock, spin_lock(&lock));
    if (__atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED) == cpu_count() - 1)
        __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    note_end();
}

static void a_lock_that_is_taken_over_and_over_reaches_every_waiter(void)
{
    reset();
    stop = cpu_count() == 1;
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        struct cpuset here = {0};
        cpuset_add(&here, cpu);
        spawn(cpu + 1 == cpu_count() ? hog_lock : take_the_lock, NULL, &here, PRIO_NORMAL);
    }
    wait_for_ends(cpu_count());
    CHECK(counter == cpu_count() - 1);
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

#define AHEAD_NS (5 * NS_PER_MS)

/* Does what another CPU does whose clock is ahead: charges the calling thread until then. */
static void be_charged_ahead(struct thread *self)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_this();

    spin_lock_irqoff(&rq->lock);
    uint64_t until_ns = arch_clock_ns() + AHEAD_NS;
    rq_account_locked(self, until_ns);
    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
    sched_yield();
    CHECK(self->stopped_ns >= until_ns);
}

/* Makes a thread that is ready on this CPU so at a time that has not come here. */
static void delay_readiness(struct thread *t, struct thread *self)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_this();

    spin_lock_irqoff(&rq->lock);
    if (t->state == THREAD_READY && rq == &runqueues[t->cpu])
        t->since_ns = rq_clock_ns(self) + AHEAD_NS;
    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
}

static void run_ahead(void *unused)
{
    struct thread *self = thread_current();

    (void)unused;
    for (unsigned i = 0; i < 10; i++) {
        be_charged_ahead(self);
        CHECK(self->ready_ns < 100 * NS_PER_S);
    }
    stop = true;
    note_end();
}

static void delay_it(void *arg)
{
    while (!stop) {
        delay_readiness(arg, thread_current());
        sched_yield();
    }
    note_end();
}

static void times_add_up_where_clocks_differ(void)
{
    struct cpuset one = cpuset_one(cpu_count() - 1);

    reset();
    struct thread *t = create(run_ahead, NULL, &one, PRIO_NORMAL);
    spawn(delay_it, t, &one, PRIO_NORMAL);
    thread_start(t);
    wait_until_dead(t);
    wait_for_ends(2);
    thread_put(t);
    check_queues();
}

static const struct suite_test tests[] = {
    {"every thread runs once and gives its memory back",
     every_thread_runs_once_and_gives_its_memory_back},
    {"pairs of threads hand over to each other without loss",
     pairs_of_threads_hand_over_to_each_other_without_loss},
    {"every wake-up is seen by exactly one sleeper though deadlines race",
     every_wake_up_is_seen_by_exactly_one_sleeper_though_deadlines_race},
    {"the end of its process wakes a sleeper and keeps it awake",
     the_end_of_its_process_wakes_a_sleeper_and_keeps_it_awake},
    {"sleepers of one CPU wake in order and never early",
     sleepers_of_one_cpu_wake_in_order_and_never_early},
    {"no thread runs outside its affinity", no_thread_runs_outside_its_affinity},
    {"a running thread follows its affinity at once",
     a_running_thread_follows_its_affinity_at_once},
    {"threads that move each other about all come to their end",
     threads_that_move_each_other_about_all_come_to_their_end},
    {"a lock that is taken over and over reaches every waiter",
     a_lock_that_is_taken_over_and_over_reaches_every_waiter},
    {"times add up where clocks of CPUs differ", times_add_up_where_clocks_differ},
    {0},
};

const struct suite sched_suite = {"sched", tests};
