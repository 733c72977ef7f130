/* Which thread runs when several want one CPU: priorities, gates, slices, shares, and balancing. */
#include "kernel/core/printf.h"
#include "sched/cpuset.h"
#include "sched/runqueue.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

static volatile bool go, stop;

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
    threads_begin();
    go = stop = false;
}

/* ---- Priorities ------------------------------------------------------------------------------ */

static uint64_t high_steps, low_steps;

static void run_high(UNUSED void *arg)
{
    __atomic_store_n(&go, true, __ATOMIC_RELEASE);
    uint64_t low_before = __atomic_load_n(&low_steps, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < 1000; i++) {
        high_steps++;
        sched_yield();
    }
    CHECK(__atomic_load_n(&low_steps, __ATOMIC_RELAXED) == low_before);
    note_end();
}

static void run_low(UNUSED void *arg)
{
    while (high_steps < 2000) {
        __atomic_add_fetch(&low_steps, 1, __ATOMIC_RELAXED);
        sched_yield();
    }
    note_end();
}

static void a_lower_priority_waits_while_a_higher_one_wants_to_run(void)
{
    struct cpuset last = cpuset_one(cpu_count() - 1);

    uint64_t starve_ms = sched_starve_ms;

    reset();
    sched_starve_ms = 100000; /* none starves, on any host */
    high_steps = low_steps = 0;
    for (unsigned i = 0; i < 4; i++)
        spawn(run_low, NULL, &last, PRIO_LOW);
    for (unsigned i = 0; i < 400 && !__atomic_load_n(&low_steps, __ATOMIC_RELAXED); i++)
        nap(5 * NS_PER_MS);
    CHECK(low_steps > 0);
    for (unsigned i = 0; i < 2; i++)
        spawn(run_high, NULL, &last, PRIO_HIGH);
    wait_for_ends(6);
    CHECK(high_steps == 2000);
    sched_starve_ms = starve_ms;
}

static void spin(UNUSED void *arg)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        sched_point();
        arch_cpu_relax();
    }
    note_end();
}

static void sleep_now_and_then(void *arg)
{
    for (uint64_t i = 0; i < (uint64_t)arg; i++) {
        nap(100 * NS_PER_US);
        sched_yield();
    }
    note_end();
}

/* Against the highest priority of programs, and the kernel's own. */
static void a_lower_priority_is_not_kept_waiting_for_ever(void)
{
    static const uint8_t busy_prio[] = {PRIO_HIGH, PRIO_KERNEL};
    struct cpuset last = cpuset_one(cpu_count() - 1);

    uint64_t starve_ms = sched_starve_ms;

    sched_starve_ms = 10;
    for (unsigned i = 0; i < ARRAY_SIZE(busy_prio); i++) {
        reset();
        for (unsigned n = 0; n < 2; n++)
            spawn(spin, NULL, &last, busy_prio[i]);
        for (unsigned prio = PRIO_LOW; prio <= PRIO_NORMAL; prio++)
            spawn(sleep_now_and_then, (void *)3, &last, prio);
        wait_for_ends(2);
        __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
        wait_for_ends(4);
    }
    sched_starve_ms = starve_ms;
}

/* ---- Gates ----------------------------------------------------------------------------------- */

static struct gate gate = GATE(gate, GATE_SESSIONS, "test");
static volatile bool in_gate;

/* Enters the gate and leaves it when another thread waits for it. */
static void hold_gate(UNUSED void *arg)
{
    gate_enter(&gate);
    in_gate = true;
    while (!stop) {
        sched_point();
        bool irq = spin_lock(&gate.mutex.guard);
        stop = go && !list_empty(&gate.mutex.waiters.waiters);
        spin_unlock(&gate.mutex.guard, irq);
    }
    CHECK(thread_current()->ready.prio == PRIO_KERNEL);
    gate_leave(&gate);
    CHECK(thread_current()->ready.prio == PRIO_LOW);
    note_end();
}

static void go_and_spin(void *arg)
{
    go = true;
    spin(arg);
}

static void wait_at_gate(UNUSED void *arg)
{
    gate_enter(&gate);
    gate_leave(&gate);
    note_end();
}

/* The owner shares its CPU with a thread of higher priority that never sleeps, until the waiting
 * thread has entered. */
static void the_owner_of_a_gate_runs_while_others_wait(void)
{
    struct cpuset first = cpuset_one(0), last = cpuset_one(cpu_count() - 1);
    uint64_t starve_ms = sched_starve_ms;

    reset();
    in_gate = false;
    sched_starve_ms = 100000; /* it is not run because it starves */
    spawn(hold_gate, NULL, &last, PRIO_LOW);
    while (!in_gate)
        nap(NS_PER_MS);
    spawn(go_and_spin, NULL, &last, PRIO_HIGH);
    /* Runs first: once a thread waits, the owner's priority keeps it from running. */
    while (!go)
        nap(NS_PER_MS);
    spawn(wait_at_gate, NULL, cpu_count() > 1 ? &first : &last, PRIO_HIGH);
    wait_for_ends(3);
    sched_starve_ms = starve_ms;
}

/* ---- Slices and shares ----------------------------------------------------------------------- */

/* All threads run on one CPU, so plain variables suffice; volatile, since they change while a
 * thread waits in sched_point(). */
#define SLICES 12
static volatile uint64_t turns_of[4];
static volatile unsigned last_of;

static void take_turns(void *arg)
{
    uint64_t self = (uint64_t)arg;

    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        sched_yield();
    while (!stop) {
        turns_of[self]++;
        stop = stop || turns_of[self] == SLICES;
        last_of = (unsigned)self;
        while (last_of == self && !stop) /* until another thread has run: the slice is over */
            sched_point();
    }
    note_end();
}

static bool slices_went_round(void)
{
    struct cpuset last = cpuset_one(cpu_count() - 1);

    reset();
    for (uint64_t i = 0; i < ARRAY_SIZE(turns_of); i++) {
        turns_of[i] = 0;
        spawn(take_turns, (void *)i, &last, PRIO_NORMAL);
    }
    __atomic_store_n(&go, true, __ATOMIC_RELEASE);
    wait_for_ends(ARRAY_SIZE(turns_of));
    for (unsigned i = 0; i < ARRAY_SIZE(turns_of); i++)
        if (turns_of[i] < SLICES - 2)
            return false;
    return true;
}

/* A host that stalls may cost a thread a few slices. */
static void slices_go_round_among_equals(void)
{
    bool went_round = false;

    for (unsigned i = 0; i < 5 && !went_round; i++)
        went_round = slices_went_round();
    CHECK(went_round);
}

static void compute_and_doze(UNUSED void *arg)
{
    struct thread *self = thread_current();

    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        uint64_t until_ns = sched_time(self).run_ns + self->slice_ns / 5;
        while (sched_time(self).run_ns < until_ns)
            sched_point();
        nap(20 * NS_PER_US);
    }
    note_end();
}

/* Returns the share, in permille, of a thread that dozes now and then, of the CPU that it shares
 * with one that does not. */
static uint64_t share_of_one_that_dozes(void)
{
    struct cpuset last = cpuset_one(cpu_count() - 1);
    struct thread *t[2];
    uint64_t run_ns[2];

    reset();
    t[0] = create(spin, NULL, &last, PRIO_NORMAL);
    t[1] = create(compute_and_doze, NULL, &last, PRIO_NORMAL);
    for (unsigned i = 0; i < 2; i++)
        thread_start(t[i]);
    do {
        nap(10 * NS_PER_MS);
        for (unsigned i = 0; i < 2; i++)
            run_ns[i] = sched_time(t[i]).run_ns;
    } while (run_ns[0] + run_ns[1] < 25 * sched_slice_us * NS_PER_US);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    wait_for_ends(2);
    for (unsigned i = 0; i < 2; i++)
        thread_put(t[i]);
    return run_ns[1] * 1000 / (run_ns[0] + run_ns[1]);
}

/* If turns were counted instead of time, it would be a sixth. A host that stalls may cost some
 * time. */
static void what_a_thread_has_run_is_charged_to_it(void)
{
    uint64_t permille = 0;

    for (unsigned i = 0; i < 5 && permille < 350; i++)
        permille = share_of_one_that_dozes();
    kprintf("# %llu permille\n", (unsigned long long)permille);
    CHECK(permille >= 350 && permille < 650);
}

/* Three threads on one CPU, examined in the middle of their slices; their priority changes
 * meanwhile. */
static void a_thread_wants_a_cpu_all_the_time_that_it_runs_or_waits_for_one(void)
{
    struct cpuset last = cpuset_one(cpu_count() - 1);
    struct thread *t[3];
    uint64_t begin_ns[3], end_ns[3];

    reset();
    for (unsigned i = 0; i < 3; i++) {
        t[i] = create(spin, NULL, &last, PRIO_NORMAL);
        begin_ns[i] = arch_clock_ns();
        thread_start(t[i]);
        end_ns[i] = arch_clock_ns();
    }
    for (unsigned look = 0; look < 10; look++) {
        nap(4 * NS_PER_MS);
        for (unsigned i = 0; i < 3; i++)
            sched_set_priority(t[i], PRIO_NORMAL);
        for (unsigned i = 0; i < 3; i++) {
            uint64_t least_ns = arch_clock_ns() - end_ns[i], wanted_ns = sched_wanted_ns(t[i]);
            uint64_t most_ns = arch_clock_ns() - begin_ns[i];
            CHECK(wanted_ns >= least_ns && wanted_ns <= most_ns);
        }
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    wait_for_ends(3);
    for (unsigned i = 0; i < 3; i++)
        thread_put(t[i]);
}

/* All threads start on one CPU and must be pulled away by the others. */
static void balancing_levels_a_heap_of_threads(void)
{
    unsigned n = 2 * cpu_count();
    struct cpuset first = cpuset_one(0), any = cpuset_first(CPU_MAX);
    bool level = false;

    reset();
    for (unsigned i = 0; i < n; i++) {
        struct thread *t = create(spin, NULL, &first, PRIO_NORMAL);
        thread_start(t);
        sched_set_affinity(t, &any);
        thread_put(t);
    }
    for (unsigned i = 0; i < 200 && !level; i++) {
        nap(5 * NS_PER_MS);
        level = true;
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            level = level && rq_running(cpu) >= 1 && rq_running(cpu) <= 3;
    }
    CHECK(level);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    wait_for_ends(n);
    check_queues();
}

static const struct suite_test tests[] = {
    {"a lower priority waits while a higher one wants to run",
     a_lower_priority_waits_while_a_higher_one_wants_to_run},
    {"a lower priority is not kept waiting for ever",
     a_lower_priority_is_not_kept_waiting_for_ever},
    {"the owner of a gate runs while others wait", the_owner_of_a_gate_runs_while_others_wait},
    {"slices go round among equals", slices_go_round_among_equals},
    {"what a thread has run is charged to it", what_a_thread_has_run_is_charged_to_it},
    {"a thread wants a CPU all the time that it runs or waits for one",
     a_thread_wants_a_cpu_all_the_time_that_it_runs_or_waits_for_one},
    {"balancing levels a heap of threads", balancing_levels_a_heap_of_threads},
    {0},
};

const struct suite turns_suite = {"turns", tests};
