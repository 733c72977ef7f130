/*
 * Turns of the vCPUs. QEMU's single vCPU thread goes round all vCPUs and runs each until it is told
 * to leave (cpu_exit), waits for an interrupt, or spins (PAUSE). This file decides when to leave,
 * so that all vCPUs advance together in model time:
 *
 *   - A turn lasts Q cycles, a quarter more or less at random (equal slices can beat with spin
 *     loops). It ends earlier when this vCPU is that far ahead of the slowest one, and at the next
 *     timer's deadline.
 *   - At its end the vCPU goes on if it still is the slowest, else the next one gets its turn. A
 *     vCPU that is too far ahead when its turn comes leaves after the block it has entered.
 *   - The slowest vCPU's clock is the machine's time. Timers run when that has reached them, so a
 *     timer's interrupt finds every vCPU at the timer's time, to within a block.
 */
#include "test/machine/engine.h"

struct vcpu *turn_find(const void *cpu)
{
    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++)
        if (v->cpu == cpu)
            return v;
    machine_error("QEMU runs a CPU that it did not announce");
}

bool turn_can_run(const struct vcpu *v)
{
    return v->started && !v->idle;
}

/* Returns the time from which a vCPU can go on. A vCPU that was sent an interrupt does not know it
 * before its turn comes. */
static uint64_t ready_at(const struct vcpu *v)
{
    if (turn_can_run(v))
        return v->now;
    return v->wake ? MAX(v->now, v->wake) : NEVER;
}

uint64_t turn_others(const struct vcpu *v)
{
    uint64_t least = NEVER;
    for (struct vcpu *o = machine.vcpus; o < machine.vcpus + machine.cpus; o++)
        if (o != v)
            least = MIN(least, ready_at(o));
    return least;
}

/* Returns the vCPU's cycles per instruction: a second running hardware thread of its core slows it
 * down. */
static uint32_t cpi_now(const struct vcpu *v)
{
    unsigned threads = machine.topology->threads_per_core;
    unsigned first = v->index / threads * threads;

    for (unsigned i = first; i < first + threads; i++)
        if (i != v->index && turn_can_run(&machine.vcpus[i]))
            return machine.topology->completion_cpi_256 * machine.topology->smt_factor_256 / 256;
    return machine.topology->completion_cpi_256;
}

static void start_slice(struct vcpu *v, uint64_t others)
{
    uint64_t slice = machine.quantum * 3 / 4 + machine_random() % (machine.quantum / 2 + 1);
    uint64_t end = MIN(v->now, others) + slice;
    uint64_t deadline = clock_deadline();

    v->slice_end = deadline > v->now ? MIN(end, deadline) : end;
    v->cpi = cpi_now(v);
    forget_hits(v); /* others may have taken lines from the L1s */
}

static void leave(struct vcpu *v)
{
    v->turns++;
    qemu.cpu_exit(v->cpu);
}

/* At the beginning of a turn, and at the end of a slice. */
static void next_slice(struct vcpu *v)
{
    uint64_t others = turn_others(v);
    bool slowest = v->now <= others;

    if (slowest) {
        machine.time = MAX(machine.time, v->now);
        if (clock_deadline() <= v->now)
            clock_run_timers();
    }
    if (slowest || v->slice_end == 0)
        start_slice(v, others);
    if (v->now >= v->slice_end)
        leave(v);
}

struct vcpu *turn_begin(void)
{
    struct vcpu *v = turn_find(*qemu.current);

    machine.running = v;
    v->slice_end = v->stop = 0;
    return v;
}

void turn_stop(struct vcpu *v)
{
    turn_wake(v);
    if (v->now >= v->pmu_at)
        pmu_poll(v);
    if (v->now >= v->cell_at)
        cells_end(v);
    if (v->now >= v->slice_end)
        next_slice(v);
    v->stop = MIN(MIN(v->slice_end, v->pmu_at), v->cell_at);
}

void turn_pause(struct vcpu *v)
{
    execute_charge(v, machine.id->pause_cycles);
    v->stop = v->slice_end = 0; /* QEMU goes on to the next vCPU after a PAUSE */
}

void turn_halt(struct vcpu *v)
{
    execute_fence(v);
    v->idle = true;
    v->idle_since = v->now;
    v->wake = 0;
    v->stop = 0;
    if (turn_others(v) == NEVER)
        clock_idle();
}

void turn_wake(struct vcpu *v)
{
    if (!v->started) {
        v->started = true;
        v->now = MAX(v->wake, machine.time);
        v->wake = 0;
    }
    if (!v->idle)
        return;
    uint64_t now = MAX(v->now, v->wake ? v->wake : machine.time);
    uint64_t idle_cycles = (now >> CYCLE_SHIFT) - vcpu_cycles(v);
    v->idle_cycles += idle_cycles;
    v->now = now;
    v->idle = false;
    v->wake = 0;
    event_done(v, MACHINE_EVENT_IDLE, idle_cycles);
}
