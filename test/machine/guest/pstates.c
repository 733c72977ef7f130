/* Counters that user mode reads, and cores that are slower. */
#include "test/machine/guest/guest.h"

#define KERNEL MACHINE_COUNT_KERNEL

static volatile struct machine_user *user_page(unsigned cpu)
{
    return (volatile struct machine_user *)((uint64_t)id + MACHINE_USER_OFFSET + cpu * PAGE_SIZE);
}

static void a_latch_reads_all_counters_at_one_moment(void)
{
    volatile struct machine_user *u = user_page(this_cpu());
    volatile struct machine_cpu *r = regs();
    struct counting c = {.event = {MACHINE_EVENT_LOADS, MACHINE_EVENT_STALL_OTHER}};
    uint64_t first[MACHINE_COUNTERS], more = 0;

    r->user_open = 0;
    count_start(&c, KERNEL);
    u->latch = 1;
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        more += u->value[i];
    check("user mode gets no counts unless it may", more + u->time, 0, 0);
    r->user_open = 1;
    u->latch = 1;
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        first[i] = u->value[i];
    uint64_t time = u->time, cycles = first[MACHINE_COUNTER_CYCLES];
    u->latch = 1;
    check("a latch has the moment's counts: cycles", u->value[MACHINE_COUNTER_CYCLES] - cycles,
          (MACHINE_COUNTERS + 1) * id->register_cycles,
          (MACHINE_COUNTERS + 1) * id->register_cycles + 400);
    check("  and its time, which are the same", u->value[MACHINE_COUNTER_CYCLES] - cycles,
          u->time - time - 1, u->time - time + 1);
    u->latch = 1;
    cycles = u->value[MACHINE_COUNTER_CYCLES];
    u->latch = 1;
    check("  and costs nothing itself, a load what a register does",
          u->value[MACHINE_COUNTER_CYCLES] - cycles, id->register_cycles, id->register_cycles + 60);
    u->latch = 1;
    command(MACHINE_CMD_READ);
    check("  and what READ reads",
          r->counter[MACHINE_COUNTER_INSTRUCTIONS].value - u->value[MACHINE_COUNTER_INSTRUCTIONS],
          0, 60);
    count_stop(&c);
    if (guest_cpus() > 1) {
        u = user_page(!this_cpu());
        u->latch = 1;
        check("another CPU's page does nothing", u->value[MACHINE_COUNTER_CYCLES] + u->time, 0, 0);
        u = user_page(this_cpu());
    }
    r->user_open = 0;
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        more += u->value[i];
    check("what was latched is gone when user mode may no longer", more + u->time, 0, 0);
}

static volatile uint64_t seen_pstate;

static void tell_pstate(void *arg)
{
    (void)arg;
    seen_pstate = regs()->pstate;
}

static void slower_cores_take_longer_but_memory_does_not(void)
{
    struct counting c = {.event = {MACHINE_EVENT_STALL_DCACHE, MACHINE_EVENT_COMPLETION}};
    volatile struct machine_cpu *r = regs();
    uint64_t block = id->home_block_bytes * id->chips;

    for (unsigned p = 0; p < MACHINE_PSTATES; p++) {
        uint64_t scale = id->pstate_cycle_256[p], lines = 200,
                 at = ALIGN_UP(arena(2 * block), block);
        r->pstate = p;
        count_start(&c, KERNEL);
        uint64_t began = ticks();
        spin(100000);
        uint64_t took = ticks() - began;
        count_stop(&c);
        uint64_t expected = 200000 * id->completion_cpi_256 / 256;
        check("completion takes its cycles", c.value[1], expected, expected + expected / 100 + 200);
        check("  which are longer in a slower P-state", took, expected * scale / 256,
              expected * scale / 256 * 102 / 100 + 1000);
        at += id->place[this_cpu()].chip * id->home_block_bytes;
        count_start(&c, KERNEL);
        touch_lines(at, lines);
        count_stop(&c);
        expected = lines * (id->latency[MACHINE_LOCAL_MEMORY] * 256ull / scale);
        check("memory takes as long, so fewer cycles", c.value[0], expected,
              expected + expected / 20);
        touch_lines(at, 4 * id->l1d_bytes / line);
        touch_lines(at, 4 * id->l1d_bytes / line);
        count_start(&c, KERNEL);
        touch_lines(at, lines);
        count_stop(&c);
        expected = lines * id->latency[MACHINE_LOCAL_L2];
        check("  and the L2 as many cycles", c.value[0], expected, expected + expected / 5);
        if (id->threads_per_core > 1 && guest_cpus() > 1) {
            run_on(1, tell_pstate, NULL);
            run_wait(1);
            check("the other thread of the core has the same P-state", seen_pstate, p, p);
        }
    }
    r->pstate = MACHINE_PSTATES;
    check("a P-state that is none is not taken", r->pstate, MACHINE_PSTATES - 1,
          MACHINE_PSTATES - 1);
    r->pstate = 0;
}

void counters_are_for_users_and_cores_for_saving(void)
{
    a_latch_reads_all_counters_at_one_moment();
    slower_cores_take_longer_but_memory_does_not();
}
