/* What the counters are told to count: when it takes effect, and what is refused. */
#include "test/machine/guest/guest.h"

/* Each register access stalls, so between a reading and a configuration of its own there would be some. */
void a_turn_counts_nothing_for_the_wrong_event(void)
{
    volatile struct machine_cpu *r = regs();
    unsigned c = 0;
    uint64_t value;

    while (!(id->counter_mask[MACHINE_EVENT_STALL_OTHER] >> c & 1))
        c++;
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        r->counter[i].event = MACHINE_EVENT_NONE;
    r->counter[c].event = MACHINE_EVENT_STALL_OTHER;
    r->counter[c].flags = MACHINE_COUNT_KERNEL;
    command(MACHINE_CMD_CONFIGURE);
    command(MACHINE_CMD_START);
    command(MACHINE_CMD_READ);
    value = r->counter[c].value;
    r->counter[c].event = MACHINE_EVENT_NONE;
    check("a turn is taken", (uint32_t)command(MACHINE_CMD_TURN), 0, 0);
    check("  and reads what was counted until then", r->counter[c].value > value, 1, 1);
    value = r->counter[c].value;
    command(MACHINE_CMD_READ);
    check("  nothing of which goes to what counts from then on", r->counter[c].value, value, value);
    r->counter[c].event = MACHINE_EVENTS;
    check("a turn to an unknown event is refused", (uint32_t)command(MACHINE_CMD_TURN), (uint32_t)-22,
          (uint32_t)-22);
    r->counter[c].event = MACHINE_EVENT_NONE;
    command(MACHINE_CMD_STOP);
}

void bad_settings_are_refused(void)
{
    volatile struct machine_cpu *r = regs();
    const uint64_t refused = (uint32_t)-22;

    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        r->counter[i].event = MACHINE_EVENT_NONE;
    r->counter[1].event = MACHINE_EVENT_CYCLES;
    check("an event the counter cannot count is refused", (uint32_t)command(MACHINE_CMD_CONFIGURE), refused,
          refused);
    check("  and the counter named", r->bad_counter, 1, 1);
    r->counter[1].event = MACHINE_EVENTS;
    check("an unknown event is refused", (uint32_t)command(MACHINE_CMD_CONFIGURE), refused, refused);
    r->counter[1].event = MACHINE_EVENT_NONE;
    check("a command beyond the last is refused", (uint32_t)command(MACHINE_COMMANDS), refused, refused);
    check("a counter without an event cannot be armed", (uint32_t)command(MACHINE_COMMAND_ARM(1)), refused,
          refused);
    check("a counter beyond the last cannot be armed",
          (uint32_t)command(MACHINE_COMMAND_ARM(MACHINE_COUNTERS)), refused, refused);
    r->sample_sources = 1u << MACHINE_L1;
    check("L1 hits cannot be sampled", (uint32_t)command(MACHINE_CMD_SAMPLE), refused, refused);
    r->sample_sources = 1u << MACHINE_LOCAL_L2;
    r->ring_records = 100;
    check("a ring must be a power of two", (uint32_t)command(MACHINE_CMD_SAMPLE), refused, refused);
    r->sample_sources = r->ring_records = 0;
}
