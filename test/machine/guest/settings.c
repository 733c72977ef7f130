/* The counters' settings: when they take effect, and which are refused. */
#include "test/machine/guest/guest.h"

static uint64_t half(volatile struct machine_cpu *r, unsigned counter)
{
    return (uint32_t)(r->pair[counter / 2] >> counter % 2 * 32);
}

static uint64_t turn(volatile struct machine_cpu *r, uint64_t selects)
{
    r->turn = selects;
    return (uint32_t)r->result;
}

/* Each register access stalls. With a configuration separate from the reading, there would be
 * stalls in between. */
void a_turn_counts_nothing_for_the_wrong_event(void)
{
    volatile struct machine_cpu *r = regs();
    const uint64_t refused = (uint32_t)-22;
    unsigned c = 0;
    uint64_t value;

    while (!(id->counter_mask[MACHINE_EVENT_STALL_OTHER] >> c & 1))
        c++;
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        r->counter[i].event = MACHINE_EVENT_NONE;
    command(MACHINE_CMD_CONFIGURE);
    command(MACHINE_CMD_START);
    uint64_t kernel = MACHINE_TURN_EVENT(c, MACHINE_EVENT_STALL_OTHER, MACHINE_COUNT_KERNEL),
             user = MACHINE_TURN_EVENT(c, MACHINE_EVENT_STALL_OTHER, MACHINE_COUNT_USER);
    check("a turn is taken", turn(r, MACHINE_TURN_SELECT | kernel), 0, 0);
    value = half(r, c);
    check("a turn without events is", turn(r, 0), 0, 0);
    check("  and reads what has been counted", half(r, c) > value, 1, 1);
    value = half(r, c);
    check("a turn to no events is taken", turn(r, MACHINE_TURN_SELECT), 0, 0);
    check("  and reads what was counted until then", half(r, c) > value, 1, 1);
    value = half(r, c);
    turn(r, MACHINE_TURN_SELECT | user);
    check("  nothing of which goes to what counts from then on", half(r, c), value, value);
    turn(r, 0);
    check("  and nothing is counted in the other mode", half(r, c), value, value);
    command(MACHINE_CMD_READ);
    check("a turn has the low half of the value", (uint32_t)r->counter[c].value, value, value);
    check("a turn to an unknown event is refused",
          turn(r, MACHINE_TURN_SELECT | MACHINE_TURN_EVENT(c, MACHINE_EVENTS, MACHINE_COUNT_USER)),
          refused, refused);
    check("  and the counter named", r->bad_counter, c, c);
    check("a turn with unknown bits is refused", turn(r, MACHINE_TURN_SELECT << 1), refused,
          refused);
    command(MACHINE_CMD_STOP);
}

static void overflow_cycles_after(volatile struct machine_cpu *r, uint64_t cycles)
{
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        r->counter[i].event = MACHINE_EVENT_NONE;
    r->counter[MACHINE_COUNTER_CYCLES].event = MACHINE_EVENT_CYCLES;
    r->counter[MACHINE_COUNTER_CYCLES].flags =
        MACHINE_COUNT_USER | MACHINE_COUNT_KERNEL | MACHINE_COUNT_IRQ;
    r->counter[MACHINE_COUNTER_CYCLES].period = cycles;
    command(MACHINE_CMD_CONFIGURE);
    command(MACHINE_CMD_START);
}

void a_turn_acknowledges_and_begins_a_whole_period(void)
{
    volatile struct machine_cpu *r = regs();
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t before = i->count;

    message(r);
    overflow_cycles_after(r, 20000);
    while (i->count == before)
        spin(2);
    check("what has overflowed says so", r->overflow, 1u << MACHINE_COUNTER_CYCLES,
          1u << MACHINE_COUNTER_CYCLES);
    spin(50000);
    check("  and interrupts once", i->count - before, 1, 1);
    turn(r, MACHINE_TURN_SELECT);
    uint64_t since = ticks();
    check("a turn forgets it", r->overflow, 0, 0);
    while (i->count == before + 1)
        spin(2);
    check("  and the next interrupt is a whole period later", i->time - since, 19500, 22000);
    turn(r, 0);
    check("a turn without events acknowledges nothing", r->overflow, 1u << MACHINE_COUNTER_CYCLES,
          1u << MACHINE_COUNTER_CYCLES);
    command(MACHINE_CMD_STOP);
    r->counter[MACHINE_COUNTER_CYCLES].period = 0;
    command(MACHINE_CMD_CONFIGURE);
    r->irq_address = 0;
}

void bad_settings_are_refused(void)
{
    volatile struct machine_cpu *r = regs();
    const uint64_t refused = (uint32_t)-22;

    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        r->counter[i].event = MACHINE_EVENT_NONE;
    r->counter[1].event = MACHINE_EVENT_CYCLES;
    check("an event the counter cannot count is refused", (uint32_t)command(MACHINE_CMD_CONFIGURE),
          refused, refused);
    check("  and the counter named", r->bad_counter, 1, 1);
    r->counter[1].event = MACHINE_EVENTS;
    check("an unknown event is refused", (uint32_t)command(MACHINE_CMD_CONFIGURE), refused,
          refused);
    r->counter[1].event = MACHINE_EVENT_NONE;
    check("a command beyond the last is refused", (uint32_t)command(MACHINE_COMMANDS), refused,
          refused);
    check("a counter without an event cannot be armed", (uint32_t)command(MACHINE_COMMAND_ARM(1)),
          refused, refused);
    check("a counter beyond the last cannot be armed",
          (uint32_t)command(MACHINE_COMMAND_ARM(MACHINE_COUNTERS)), refused, refused);
}
