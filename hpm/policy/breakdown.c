/* Sums and differences of stall breakdowns. Pure arithmetic. */
#include "hpm/policy/breakdown.h"
#include "hpm/policy/context.h"

static uint32_t permille(uint64_t part, uint64_t all)
{
    return all ? (uint32_t)fixed_muldiv(part, 1000, all) : 0;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t *figure(struct hpm_breakdown *b, unsigned f)
{
    return (uint64_t *)b + offsetof(struct hpm_breakdown, stall) / sizeof(uint64_t) + f;
}

static struct fit_reading reading_of(const struct hpm_breakdown *b, unsigned f)
{
    const uint64_t *count =
        (const uint64_t *)b + offsetof(struct hpm_breakdown, stall) / sizeof(uint64_t) + f;

    return (struct fit_reading){b->cycles, *count, b->figure_counted[f], b->figure_seen[f]};
}

void hpm_breakdown_fit(struct hpm_breakdown *b)
{
    const struct fit_figures f = {b->cycles, figure(b, 0), b->figure_counted, b->figure_seen};

    b->fitted = fit_figures(&f);
    b->seen_permille = permille(MIN(b->seen_cycles, b->cycles), b->cycles);
}

void hpm_breakdown_add(struct hpm_breakdown *sum, const struct hpm_breakdown *part)
{
    sum->cycles += part->cycles;
    sum->instructions += part->instructions;
    sum->idle_cycles += part->idle_cycles;
    for (unsigned f = 0; f < FIT_FIGURES; f++) {
        *figure(sum, f) += reading_of(part, f).count;
        sum->figure_counted[f] += part->figure_counted[f];
        sum->figure_seen[f] += part->figure_seen[f];
    }
    sum->seen_cycles += part->seen_cycles;
    hpm_breakdown_fit(sum);
}

void hpm_breakdown_sub(struct hpm_breakdown *from, const struct hpm_breakdown *earlier)
{
    for (unsigned f = 0; f < FIT_FIGURES; f++) {
        struct fit_reading now = reading_of(from, f), then = reading_of(earlier, f);
        *figure(from, f) = fit_since(&now, &then);
        from->figure_counted[f] = minus(now.counted, then.counted);
        from->figure_seen[f] = minus(now.seen, then.seen);
    }
    from->cycles = minus(from->cycles, earlier->cycles);
    from->instructions = minus(from->instructions, earlier->instructions);
    from->idle_cycles = minus(from->idle_cycles, earlier->idle_cycles);
    from->seen_cycles = minus(from->seen_cycles, earlier->seen_cycles);
    hpm_breakdown_fit(from);
}
