/*
 * Intel's fixed counters of reference cycles and of the pipeline's slots, and PERF_METRICS, which
 * tells how the slots were used (SDM volume 3, "Fixed-Function Performance Counters", "Performance
 * Metrics").
 *
 * PERF_METRICS has the shares, in 255ths, of the slots that fixed counter 3 has counted since both
 * were cleared. So both are cleared whenever they are read, the counter first; otherwise the shares
 * of a short stretch would drown in earlier ones. Slots of the few driver instructions in between
 * are lost. Registers that are not programmed are not accessed.
 */
#include "hpm/pmu/x86/intel_fixed.h"

#define FIRST_FIELD 16  /* first field of PERF_METRICS, as struct event numbers them */
#define FIELDS      4   /* of the first level, which every processor with PERF_METRICS has */
#define WHOLE       255 /* all slots, in the unit of a field */

/* Written by probe. */
static struct {
    unsigned count;
    uint8_t number[HPM_FIXED_MAX]; /* by rank, as in struct event */
    uint64_t mask;                 /* of the width of a counter */
} fixed;

uint32_t intel_fixed_find(const struct intel_ability *has)
{
    uint32_t mask = has->fixed & 1u << FIXED_REFERENCE;

    if (intel_has_metrics(has))
        mask |= 1u << FIXED_SLOTS | ((1u << FIELDS) - 1) << FIRST_FIELD;
    fixed.mask = has->fixed_width == 64 ? UINT64_MAX : INTEL_BIT(has->fixed_width) - 1;
    fixed.count = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        fixed.number[fixed.count++] = (uint8_t)__builtin_ctz(left);
    return mask;
}

void intel_fixed_init(struct intel_fixed *f)
{
    *f = (struct intel_fixed){0};
    for (unsigned n = 0; n < fixed.count; n++)
        if (fixed.number[n] < FIRST_FIELD)
            x86_write(MSR_FIXED_CTR0 + fixed.number[n], 0);
        else if (fixed.number[n] == FIRST_FIELD)
            x86_write(MSR_PERF_METRICS, 0);
}

static uint64_t bits_of(unsigned number)
{
    return number < FIRST_FIELD ? GLOBAL_FIXED(number) : GLOBAL_FIXED(FIXED_SLOTS) | GLOBAL_METRICS;
}

uint64_t intel_fixed_changed(const struct intel_fixed *f, const struct event *const *next)
{
    uint64_t bits = 0;

    for (unsigned n = 0; n < fixed.count; n++)
        if (f->programmed[n] != next[n])
            bits |= bits_of(fixed.number[n]);
    return bits;
}

static uint64_t grown_reference(struct intel_fixed *f)
{
    uint64_t now = x86_read_counter(RDPMC_FIXED | FIXED_REFERENCE) & fixed.mask;
    uint64_t grown = (now - f->reference) & fixed.mask;

    f->reference = now;
    return grown;
}

/* Returns the slots since the last reading, and their shares in *shares. */
static uint64_t take_slots(const struct intel_fixed *f, uint64_t *shares)
{
    uint64_t slots = x86_read_counter(RDPMC_FIXED | FIXED_SLOTS) & fixed.mask;

    *shares = slots && (f->bits & GLOBAL_METRICS) ? x86_read_counter(RDPMC_METRICS) : 0;
    if (slots)
        x86_write(MSR_FIXED_CTR0 + FIXED_SLOTS, 0);
    if (slots && (f->bits & GLOBAL_METRICS))
        x86_write(MSR_PERF_METRICS, 0);
    return slots;
}

static uint64_t share_of(uint64_t slots, uint64_t shares, unsigned field)
{
    return slots * (shares >> 8 * field & 0xff) / WHOLE;
}

void intel_fixed_read(struct intel_fixed *f, uint64_t *count)
{
    uint64_t shares = 0, slots = f->bits & GLOBAL_FIXED(FIXED_SLOTS) ? take_slots(f, &shares) : 0;

    for (unsigned n = 0; n < fixed.count; n++) {
        unsigned number = fixed.number[n];
        if (f->programmed[n])
            f->sum[n] += number == FIXED_REFERENCE ? grown_reference(f)
                         : number == FIXED_SLOTS   ? slots
                                                   : share_of(slots, shares, number - FIRST_FIELD);
        count[n] = f->sum[n];
    }
}

void intel_fixed_user(const struct intel_fixed *f, unsigned n, struct hpm_user_register *out)
{
    if (n < fixed.count && fixed.number[n] == FIXED_REFERENCE)
        *out = (struct hpm_user_register){(RDPMC_FIXED | FIXED_REFERENCE) + 1,
                                          (unsigned)__builtin_popcountll(fixed.mask), f->reference};
}

/* Slots and their shares are counted in the same modes, or they would exclude each other. */
uint64_t intel_fixed_program(struct intel_fixed *f, const struct event *const *next)
{
    uint64_t control = 0;

    f->bits = 0;
    for (unsigned n = 0; n < fixed.count; n++) {
        f->programmed[n] = next[n];
        if (!next[n])
            continue;
        f->bits |= bits_of(fixed.number[n]);
        control |= intel_fixed_field(MIN(fixed.number[n], (unsigned)FIXED_SLOTS), next[n]->modes);
    }
    return control;
}
