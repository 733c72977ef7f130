/* Processors and their tables. Which processor has which table is data: choices_*.c. */
#include "hpm/events/table.h"
#include "kernel/lib/text.h"

/* Intel SDM volume 2, CPUID leaf 1; AMD APM volume 3, E.3.2: the extended family is added if the
 * family is 15, the extended model if the family is 6 or 15. */
struct event_identity event_identity_x86(uint32_t leaf0_ebx, uint32_t leaf1_eax)
{
    uint32_t family = leaf1_eax >> 8 & 15, model = leaf1_eax >> 4 & 15;

    if (family == 6 || family == 15)
        model |= leaf1_eax >> 12 & 0xf0;
    if (family == 15)
        family += leaf1_eax >> 20 & 0xff;
    return (struct event_identity){leaf0_ebx, family, model, leaf1_eax & 15};
}

/* MIDR_EL1 (DDI 0487, D19.2.90). */
struct event_identity event_identity_arm(uint32_t midr)
{
    return (struct event_identity){
        .vendor = midr >> 24,
        .family = midr >> 16 & 15,
        .model = midr >> 4 & 0xfff,
        .stepping = (midr >> 16 & 0xf0) | (midr & 15),
    };
}

const struct event_table *event_table_named(const char *name)
{
    for (const struct event_table *const *t = event_tables; *t; t++)
        if (text_same((*t)->name, name, text_length(name)))
            return *t;
    return NULL;
}

static bool fits_choice(const struct event_choice *c, const struct event_identity *id)
{
    return (c->vendor == id->vendor || c->vendor == EVENT_ANY) &&
           (c->family == id->family || c->family == EVENT_ANY) && id->model >= c->model_first &&
           id->model <= c->model_last && id->stepping >= c->stepping_first &&
           id->stepping <= c->stepping_last;
}

const struct event_table *event_table_for(const struct event_identity *id)
{
    for (const struct event_choice *c = event_choices; c->table; c++) {
        const struct event_table *t = fits_choice(c, id) ? event_table_named(c->table) : NULL;
        if (t)
            return t;
    }
    return NULL;
}
