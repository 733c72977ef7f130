/* See since.h. */
#include "apps/tools/measuring/since.h"
#include <stddef.h>
#include "hpm/events/fit.h"

#define WORD(field) (offsetof(struct sys_breakdown, field) / sizeof(uint64_t))

static struct fit_reading figure(const struct sys_breakdown *b, unsigned f)
{
    const uint64_t *count = (const uint64_t *)b + WORD(stall) + f;

    return (struct fit_reading){b->cycles, *count, b->figure_counted[f], b->figure_seen[f]};
}

static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

void breakdown_since(struct sys_breakdown *b, const struct sys_breakdown *from)
{
    uint64_t *count = (uint64_t *)b + WORD(stall);

    for (unsigned f = 0; f < FIT_FIGURES; f++) {
        struct fit_reading now = figure(b, f), before = figure(from, f);
        count[f] = fit_since(&now, &before);
        b->figure_counted[f] = since(now.counted, before.counted);
        b->figure_seen[f] = since(now.seen, before.seen);
    }
    b->cycles = since(b->cycles, from->cycles);
    b->instructions = since(b->instructions, from->instructions);
    b->idle_cycles = since(b->idle_cycles, from->idle_cycles);
    b->seen_cycles = since(b->seen_cycles, from->seen_cycles);
    b->own_cycles = since(b->own_cycles, from->own_cycles);
    b->fitted =
        fit_figures(&(struct fit_figures){b->cycles, count, b->figure_counted, b->figure_seen});
}
