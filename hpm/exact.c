/*
 * Counts of threads that are counted all the time, so that they are exact at every switch: cycles,
 * instructions, with trace.counts=topdown where cycles went, and with trace.frequency=on the
 * reference of frequencies. Where cycles went takes the counters from the breakdown, whose other
 * figures pause.
 *
 * By the raw count that a thread's context has of a logical count, in closed units and in the open
 * one: the sum is never scaled, and grows by what each stretch counted.
 */
#include "hpm/internal.h"
#include "hpm/wanted.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"
#include "kernel/lib/format.h"
#include "kernel/trace/telemetry.h"

#define TAKEN_MAX (HPM_EXACT_MAX - 3) /* beside cycles, instructions and the reference */

static struct {
    unsigned n;
    uint8_t choice[TAKEN_MAX]; /* index in `choice` */
    uint8_t count[TAKEN_MAX];  /* its logical count */
} taken;

/* Figures by preference. Of the simulated machine's five causes four fit together. */
static const struct {
    uint8_t figure;
    const char *name;
} choice[] = {
    {EVENT_STALL(STALL_ICACHE), "stall_icache"},
    {EVENT_STALL(STALL_BRANCH), "stall_branch"},
    {EVENT_STALL(STALL_DCACHE), "stall_dcache"},
    {EVENT_STALL(STALL_TLB), "stall_tlb"},
    {EVENT_STALL(STALL_FRONTEND), "stall_frontend"},
    {EVENT_STALL(STALL_BACKEND), "stall_backend"},
    {EVENT_MISS(MISS_BRANCH), "missed_branch"},
    {EVENT_MISS(MISS_LAST_LEVEL), "missed_last_level"},
};

bool exact_wanted(void)
{
    return telemetry_asked(TELEMETRY_QUANTA) && trace_counts;
}

void exact_take(bool (*can_take)(unsigned figure))
{
    taken.n = 0;
    if (!exact_wanted())
        return;
    for (unsigned i = 0; i < ARRAY_SIZE(choice) && taken.n < TAKEN_MAX; i++)
        if (hpm_state.event[choice[i].figure].counters && can_take(choice[i].figure)) {
            taken.count[taken.n] = hpm_state.figures.event[choice[i].figure];
            taken.choice[taken.n++] = (uint8_t)i;
        }
}

unsigned exact_taken(void)
{
    return taken.n;
}

void hpm_exact_names(char *out, size_t size)
{
    bool instructions = hpm_state.figures.instructions != GROUP_NIL;
    size_t n = 0;

    out[0] = '\0';
    if (hpm_state.ops)
        n = ksnprintf(out, size, "cycles%s", instructions ? " instructions" : "");
    for (unsigned i = 0; n && i < taken.n && n < size; i++)
        n += ksnprintf(out + n, size - n, " %s", choice[taken.choice[i]].name);
    if (n && n < size && hpm_reference_hz())
        ksnprintf(out + n, size - n, " reference");
}

uint64_t hpm_reference_hz(void)
{
    return hpm_state.frequency && hpm_state.ops ? frequency_caps.reference_hz : 0;
}

void hpm_exact_read(const struct hpm_thread *t, uint64_t out[HPM_EXACT_MAX])
{
    const struct mux_counts *c = &t->counts.counts;
    uint64_t *at = out;

    if (hpm_state.ops)
        *at++ = t->counts.cycles;
    if (hpm_state.ops && hpm_state.figures.instructions != GROUP_NIL)
        *at++ = mux_raw(c, hpm_state.figures.instructions).counted;
    for (unsigned i = 0; i < taken.n; i++)
        *at++ = mux_raw(c, taken.count[i]).counted;
    if (hpm_reference_hz())
        *at++ = t->reference;
    while (at < out + HPM_EXACT_MAX)
        *at++ = 0;
}
