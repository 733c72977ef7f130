/* Counts of a session's events as they are, without estimates; see count.h. */
#include "hpm/count.h"
#include "hpm/events/lookup.h"
#include "hpm/internal.h"
#include "hpm/wanted.h"
#include "kernel/core/cpu.h"

static void add_context(const struct hpm_context *c, unsigned count, struct hpm_raw *out)
{
    struct mux_sum sum;
    bool irq = arch_irq_save();

    context_count(c, &__atomic_load_n(&hpm_state.plan, __ATOMIC_ACQUIRE)->mux, count, &sum);
    arch_irq_restore(irq);
    out->counted += sum.counted;
    out->seen += sum.seen;
    out->length += sum.length;
}

/* Returns the logical count of name i. */
static unsigned count_of(const struct hpm_session *s, unsigned i)
{
    return s->count[s->request.wish[i].event[0]];
}

void hpm_session_raw_thread(const struct hpm_session *s, unsigned i, const struct hpm_thread *t,
                            struct hpm_raw *out)
{
    *out = (struct hpm_raw){0};
    account_if_running(t);
    add_context(&t->counts, count_of(s, i), out);
}

void hpm_session_raw_cpu(const struct hpm_session *s, unsigned i, const struct cpu *cpu,
                         struct hpm_raw *out)
{
    *out = (struct hpm_raw){0};
    if (!hpm_counted(cpu))
        return;
    account_here();
    add_context(&cpu->hpm->busy, count_of(s, i), out);
    add_context(&cpu->hpm->idle, count_of(s, i), out);
    for (unsigned a = 0; hpm_accounts && a < ARRAY_SIZE(cpu->hpm->apart); a++)
        add_context(&cpu->hpm->apart[a], count_of(s, i), out);
}

bool hpm_codes_differ(void)
{
    return hpm_state.codes != NULL;
}

bool hpm_code_is(const char *name, uint64_t code)
{
    return hpm_state.codes && event_is(hpm_state.codes, name, code);
}

const char *hpm_code_name(uint64_t code)
{
    for (const struct event_generic *g = event_generics; g->name; g++)
        if (hpm_code_is(g->name, code))
            return g->name;
    return NULL;
}

int hpm_event_check(const char *text)
{
    const struct event_pmu *pmu = &hpm_state.pmu.events;
    struct event event;
    char why[1]; /* not used */

    if (!hpm_state.ops || !pmu->table)
        return -ENODEV;
    if (event_parse(pmu, text, &event, why, sizeof why) ||
        (event_is_raw(word_of(text)) && !event_is_known(pmu, event.config)))
        return -ENOENT;
    bool has_counter = event.counters & (uint32_t)(((uint64_t)1 << pmu->counters) - 1);
    bool has_fixed = event.fixed != EVENT_NO_FIXED && event.fixed < 32;
    return has_counter || has_fixed ? 0 : -ENOENT;
}

void hpm_update_here(void)
{
    account_here();
}
