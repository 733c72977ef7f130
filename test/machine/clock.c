/*
 * Model time is the guest's time. QEMU asks its accelerator for the virtual clock, which drives
 * timers, and for the ticks of the time-stamp counter. The two slots of the accelerator's table are
 * replaced, after checking that the table is laid out as expected. One model cycle is one
 * nanosecond and one tick.
 *
 * A vCPU reads its own clock, but never less than any vCPU has read before, so that time is
 * monotonic across CPUs. All other readers get the machine's time. While all vCPUs wait for
 * interrupts, a thread of the simulator, under QEMU's big lock, advances the machine's time to the
 * next timer and runs it.
 *
 * Interrupts are intercepted on their way to a vCPU, to note the time at which it wakes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include "test/machine/engine.h"

/* Words of struct AccelOpsClass (QEMU include/system/accel-ops.h), in QEMU 10.0. */
enum { SLOT_KICK = 16, SLOT_HANDLE_INTERRUPT = 23, SLOT_GET_CLOCK, SLOT_SET_CLOCK, SLOT_GET_TICKS };

#define ALL_TIMERS     (-1)
#define DEADLINE_NEVER ((int64_t)1 << 50) /* ns; a deadline further away is none */

/* Intervals at which the idle thread looks again, in the host's time. */
#define BUSY_RETRY_NS (10 * NS_PER_MS) /* a vCPU runs; clock_idle() ends the wait early */
/* the vCPU thread is about to wait or to wake, or there is no timer */
#define IDLE_RETRY_NS (50 * NS_PER_US)
#define SKIP_NS       NS_PER_MS /* for each further timer, after this many that woke no vCPU */
#define SKIPS_AT_ONCE 1000
/* Devices of QEMU's own answer in the host's time. If all vCPUs wait for one, the next timer may be
 * the timeout of that wait. So the host's time, divided by SLOWER, passes as well before a jump
 * that far: the answer comes first. */
#define SLOWER       100
#define PATIENCE_MIN (20 * NS_PER_US)
/* The host's disks can take seconds. The guest's time stops once in each such interval until they
 * have answered. */
#define DISKS_NS (10 * NS_PER_MS)

/* QEMU's main loop waits this much longer than its timers ask for. */
#define MAIN_LOOP_NS (10 * NS_PER_MS)

static __thread bool runs_vcpus, runs_timers, main_loop_waits;
static void (*handle_interrupt)(void *cpu, int mask);
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle_cond = PTHREAD_COND_INITIALIZER;
static bool idle_asked;  /* set by clock_idle(), under idle_lock */
static uint64_t idlings; /* atomic: number of times all vCPUs began to wait */

void clock_thread_is_vcpus(void)
{
    runs_vcpus = true;
}

static int64_t read_clock(void)
{
    struct vcpu *v = machine.running;

    if (!runs_vcpus || !v || !turn_can_run(v))
        return (int64_t)(machine.time >> CYCLE_SHIFT) -
               (main_loop_waits ? (int64_t)MAIN_LOOP_NS : 0);
    machine.ticks_read = MAX(machine.ticks_read, vcpu_cycles(v));
    return (int64_t)machine.ticks_read;
}

static void set_clock(int64_t ns)
{
    machine.time = MAX(machine.time, (uint64_t)ns << CYCLE_SHIFT);
}

/*
 * QEMU's main loop waits for the next timer in the host's time, which passes much faster than the
 * guest's: it would wake up again and again, a fifth of all that QEMU does. Timers do not need it,
 * so they are shown to it as far away.
 */
static void main_loop(struct qemu_notifier *self, void *which)
{
    (void)self;
    main_loop_waits = *(const int *)which == QEMU_BEFORE_WAITING;
}
static struct qemu_notifier main_loop_notifier = {.notify = main_loop};

/* Returns the time at which an interrupt raised now arrives, by the target's clock. */
static uint64_t arrival(const struct vcpu *target)
{
    const struct vcpu *sender = machine.running;

    if (!runs_vcpus || runs_timers || !sender || !turn_can_run(sender) || sender == target)
        return machine.time;
    return sender->now + ((uint64_t)machine.topology->ipi_cycles << CYCLE_SHIFT);
}

static void watch_interrupt(void *cpu, int mask)
{
    handle_interrupt(cpu, mask);
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++)
        if (v->cpu == cpu && !turn_can_run(v) && (!v->wake || !v->started))
            v->wake = MAX(arrival(v), (uint64_t)1);
}

static uint64_t timers_deadline(void)
{
    int64_t ns = qemu.deadline_ns(QEMU_CLOCK_VIRTUAL, ALL_TIMERS);

    if (ns < 0 || ns > DEADLINE_NEVER)
        return NEVER;
    return (uint64_t)(read_clock() + ns) << CYCLE_SHIFT;
}

/* Returns the same of the machine's own devices. */
static uint64_t devices_deadline(void)
{
    return MIN(disk_deadline(), wire_deadline());
}

uint64_t clock_deadline(void)
{
    return MIN(timers_deadline(), devices_deadline());
}

/* Runs the timers that are due. Big lock held. */
static void run_due(void)
{
    disk_run(machine.time);
    wire_run(machine.time);
    qemu.run_timers(QEMU_CLOCK_VIRTUAL);
}

void clock_run_timers(void)
{
    bool had_lock = qemu.locked();

    if (!had_lock)
        qemu.lock(__FILE__, __LINE__);
    runs_timers = true;
    run_due();
    runs_timers = false;
    if (!had_lock)
        qemu.unlock();
}

/* ---- Idling ---------------------------------------------------------------------------------- */

static bool nobody_can_run(void)
{
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++)
        if (turn_can_run(v))
            return false;
    return machine.running;
}

static bool all_wait(void)
{
    return nobody_can_run() && qemu.all_idle();
}

/* Returns how long to wait before the machine's time may jump to the deadline: 0 if that wait is
 * over and no vCPU has run since. */
static uint64_t patience_ns(uint64_t deadline)
{
    static uint64_t waited_for, waited_in;
    uint64_t idling = __atomic_load_n(&idlings, __ATOMIC_RELAXED);
    uint64_t ns = deadline > machine.time ? ((deadline - machine.time) >> CYCLE_SHIFT) / SLOWER : 0;

    if (ns < PATIENCE_MIN || deadline == devices_deadline() ||
        (waited_for == deadline && waited_in == idling))
        return 0;
    waited_for = deadline;
    waited_in = idling;
    return ns;
}

/* Waits for disks that have not been waited for lately. Returns whether all vCPUs still wait
 * afterwards. Big lock held. */
static bool disks_answered(uint64_t deadline)
{
    static uint64_t answered; /* machine time up to which they have answered */

    if (deadline < answered + (DISKS_NS << CYCLE_SHIFT))
        return true;
    qemu.drain_disks();
    answered = machine.time;
    return all_wait();
}

/* Skips to the next timer. Returns 0, or how long to wait before trying again: there is no timer, a
 * vCPU woke up, or the timer is far away. */
static uint64_t skip(void)
{
    uint64_t deadline = NEVER, wait;

    qemu.lock(__FILE__, __LINE__);
    if (all_wait())
        deadline = clock_deadline();
    wait = deadline == NEVER ? IDLE_RETRY_NS : patience_ns(deadline);
    if (!wait && !disks_answered(deadline))
        wait = IDLE_RETRY_NS;
    if (!wait) {
        machine.time = MAX(machine.time, deadline);
        run_due();
    }
    qemu.unlock();
    return wait;
}

static void wait_ns(uint64_t ns)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    ns += (uint64_t)t.tv_nsec;
    t.tv_sec += (time_t)(ns / NS_PER_S);
    t.tv_nsec = (long)(ns % NS_PER_S);
    pthread_mutex_lock(&idle_lock);
    if (!idle_asked)
        pthread_cond_timedwait(&idle_cond, &idle_lock, &t);
    idle_asked = false;
    pthread_mutex_unlock(&idle_lock);
}

/* Skips while all vCPUs wait, but not too fast: time must not fly for a guest that waits only for,
 * say, its console. */
static void *idle_thread(void *arg)
{
    unsigned skipped = 0;
    uint64_t wait;

    qemu.rcu_register();
    for (;;) {
        if (!nobody_can_run()) {
            skipped = 0;
            wait_ns(BUSY_RETRY_NS);
        } else if ((wait = skip())) {
            skipped = 0;
            wait_ns(wait);
        } else if (++skipped > SKIPS_AT_ONCE) {
            wait_ns(SKIP_NS);
        }
    }
    return arg;
}

void clock_idle(void)
{
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++)
        if (v->started)
            machine.time = MAX(machine.time, v->idle_since);
    __atomic_add_fetch(&idlings, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&idle_lock);
    idle_asked = true;
    pthread_cond_signal(&idle_cond);
    pthread_mutex_unlock(&idle_lock);
}

/* ---- Installing ------------------------------------------------------------------------------ */

void clock_install(void)
{
    void **slots = qemu.accel();
    pthread_t thread;

    if (slots[SLOT_HANDLE_INTERRUPT] != qemu.handle_interrupt || slots[SLOT_KICK] != qemu.kick)
        machine_error("this QEMU's accelerator is not laid out as expected: it must be QEMU 10.0 "
                      "and run with "
                      "-accel tcg,thread=single");
    handle_interrupt = (void (*)(void *, int))qemu.handle_interrupt;
    slots[SLOT_HANDLE_INTERRUPT] = (void *)watch_interrupt;
    slots[SLOT_GET_CLOCK] = (void *)read_clock;
    slots[SLOT_SET_CLOCK] = (void *)set_clock;
    slots[SLOT_GET_TICKS] = (void *)read_clock;
    qemu.watch_main_loop(&main_loop_notifier);
    if (pthread_create(&thread, NULL, idle_thread, NULL))
        machine_error("cannot start the idle thread");
    pthread_detach(thread);
}
