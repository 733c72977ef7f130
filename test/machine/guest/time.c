/* Clocks, timers and interrupts: when they come, in model cycles. */
#include "test/machine/guest/guest.h"

static void the_clock_counts_model_cycles(void)
{
    volatile struct machine_cpu *r = regs();
    uint64_t clock, time;

    command(MACHINE_CMD_READ);
    time = r->time;
    clock = ticks();
    spin(1000000);
    clock = ticks() - clock;
    command(MACHINE_CMD_READ);
    time = r->time - time;
    check("the clock counts model cycles", clock, time - 1000, time);
    check("  of which the loop takes what it should", clock,
          2000000 * (uint64_t)id->completion_cpi_256 / 256,
          2000000 * (uint64_t)id->completion_cpi_256 / 256 * 102 / 100);
}

static void timers_fire_in_model_time(void)
{
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t begin = 0, before;

    for (unsigned round = 0; round < 2; round++) { /* the first one fetches the handler */
        before = i->count;
        begin = ticks();
        timer_in(100000);
        while (i->count == before)
            spin(10);
    }
    check("a timer interrupts a running CPU on time", i->time - begin, 100000, 101000);

    struct counting c = {.event = {MACHINE_EVENT_IDLE}};
    before = i->count;
    count_start(&c, MACHINE_COUNT_KERNEL);
    begin = ticks();
    timer_in(1000000);
    while (i->count == before)
        halt();
    count_stop(&c);
    check("a timer wakes a waiting CPU on time", i->time - begin, 1000000, 1001000);
    check("  and the wait is idle time", c.value[0], 999000, 1000100);
    check("  not cycles", c.cycles, 300, 5000);
}

static void an_interrupt_reaches_a_waiting_cpu_when_it_should(void)
{
    struct interrupts *i = &interrupts[1];

    if (guest_cpus() < 2)
        return;
    for (uint64_t wait = ticks() + 20000; ticks() < wait;)
        ; /* CPU 1 waits when this is over */
    uint64_t before = i->count, begin = ticks();
    wake(1);
    while (i->count == before)
        cpu_pause();
    check("an interrupt to a waiting CPU takes its time", i->time - begin, 2 * id->ipi_cycles,
          2 * id->ipi_cycles + id->exception_entry_cycles + 3 * id->register_cycles +
              4 * id->latency[MACHINE_REMOTE_MEMORY]);
}

static void overflows_interrupt_on_time(void)
{
    volatile struct machine_cpu *r = regs();
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t worst = 0, best = UINT64_MAX;
    /* With the store of START, and reading the clock. */
    uint64_t entry = id->exception_entry_cycles + 2 * id->register_cycles;

    message(r);
    for (unsigned k = 0; k < MACHINE_COUNTERS; k++)
        r->counter[k].event = MACHINE_EVENT_NONE;
    r->counter[MACHINE_COUNTER_CYCLES].event = MACHINE_EVENT_CYCLES;
    r->counter[MACHINE_COUNTER_CYCLES].flags = MACHINE_COUNT_KERNEL | MACHINE_COUNT_IRQ;
    r->counter[MACHINE_COUNTER_CYCLES].period = 10000;
    for (unsigned round = 0; round < 10; round++) {
        uint64_t before = i->count, begin;
        command(MACHINE_CMD_CONFIGURE);
        begin = ticks();
        command(MACHINE_CMD_START);
        while (i->count == before)
            spin(2);
        command(MACHINE_CMD_STOP);
        r->ack = r->overflow;
        command(MACHINE_CMD_ACK);
        worst = MAX(worst, i->time - begin);
        best = MIN(best, i->time - begin);
    }
    check("an overflow after 10000 cycles interrupts then", best, 10000, 10000 + entry + 100);
    check("  and so ten times, but for a cold handler", worst, 10000,
          10000 + entry + 100 + 3 * id->latency[MACHINE_REMOTE_MEMORY]);
    r->irq_address = 0;
}

static void an_armed_counter_interrupts_once_when_it_is_due(void)
{
    volatile struct machine_cpu *r = regs();
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t before = i->count;
    unsigned cycles = 0;

    message(r);
    for (unsigned k = 0; k < MACHINE_COUNTERS; k++)
        r->counter[k].event = MACHINE_EVENT_NONE;
    while (!(id->counter_mask[MACHINE_EVENT_CYCLES] >> cycles & 1))
        cycles++;
    r->counter[cycles].event = MACHINE_EVENT_CYCLES;
    r->counter[cycles].flags = MACHINE_COUNT_KERNEL;
    r->counter[cycles].period = 0;
    command(MACHINE_CMD_CONFIGURE);
    command(MACHINE_CMD_START);
    command(MACHINE_CMD_READ);
    uint64_t due = r->counter[cycles].value + 5000;
    r->due = due;
    check("a counter is armed", (uint32_t)command(MACHINE_COMMAND_ARM(cycles)), 0, 0);
    while (i->count == before)
        spin(2);
    command(MACHINE_CMD_READ);
    check("  and interrupts when it reaches that", r->counter[cycles].value, due, due + 2000);
    check("  and says so", r->overflow, 1u << cycles, 1u << cycles);
    r->ack = r->overflow;
    command(MACHINE_CMD_ACK);
    spin(20000);
    check("  once", i->count - before, 1, 1);
    r->due = due;
    command(MACHINE_COMMAND_ARM(cycles));
    spin(100);
    check("what is due already interrupts at once", i->count - before, 2, 2);
    r->ack = r->overflow;
    command(MACHINE_CMD_ACK);
    r->due = due + 1000000;
    command(MACHINE_COMMAND_ARM(cycles));
    r->turn = MACHINE_TURN_SELECT |
              MACHINE_TURN_EVENT(cycles, MACHINE_EVENT_CYCLES, MACHINE_COUNT_KERNEL);
    r->due = 0;
    spin(1000000);
    check("a turn disarms", i->count - before, 2, 2);
    command(MACHINE_CMD_STOP);
    r->irq_address = 0;
}

void time_is_model_time(void)
{
    the_clock_counts_model_cycles();
    timers_fire_in_model_time();
    an_interrupt_reaches_a_waiting_cpu_when_it_should();
    overflows_interrupt_on_time();
    an_armed_counter_interrupts_once_when_it_is_due();
}
