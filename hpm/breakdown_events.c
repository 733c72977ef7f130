/* The breakdown's figures as events. The simulated machine counts stalls by cause and source. Real
 * PMUs, as far as generic names cover them, tell in which half of the pipeline instructions waited,
 * how often costly things happened, and how often another chip's cache had the data. */
#include "hpm/internal.h"

struct figure {
    uint8_t number;
    const char *text;
};

static const struct figure of_model[] = {
    {EVENT_STALL(STALL_ICACHE), "STALL:ICACHE"},
    {EVENT_STALL(STALL_BRANCH), "STALL:BRANCH"},
    {EVENT_STALL(STALL_DCACHE), "STALL:DCACHE"},
    {EVENT_STALL(STALL_TLB), "STALL:TLB"},
    {EVENT_STALL(STALL_OTHER), "STALL:OTHER"},
    {EVENT_DCACHE(SOURCE_LOCAL_L2), "DCACHE:LOCAL_L2"},
    {EVENT_DCACHE(SOURCE_LOCAL_L3), "DCACHE:LOCAL_L3"},
    {EVENT_DCACHE(SOURCE_REMOTE_L2), "DCACHE:REMOTE_L2"},
    {EVENT_DCACHE(SOURCE_REMOTE_L3), "DCACHE:REMOTE_L3"},
    {EVENT_DCACHE(SOURCE_LOCAL_MEMORY), "DCACHE:LOCAL_MEMORY"},
    {EVENT_DCACHE(SOURCE_REMOTE_MEMORY), "DCACHE:REMOTE_MEMORY"},
    {EVENT_SERVED(SOURCE_LOCAL_L2), "SERVED:LOCAL_L2"},
    {EVENT_SERVED(SOURCE_LOCAL_L3), "SERVED:LOCAL_L3"},
    {EVENT_SERVED(SOURCE_REMOTE_L2), "SERVED:REMOTE_L2"},
    {EVENT_SERVED(SOURCE_REMOTE_L3), "SERVED:REMOTE_L3"},
    {EVENT_SERVED(SOURCE_LOCAL_MEMORY), "SERVED:LOCAL_MEMORY"},
    {EVENT_SERVED(SOURCE_REMOTE_MEMORY), "SERVED:REMOTE_MEMORY"},
    {EVENT_LOADS, "LOADS"},
    {EVENT_STORES, "STORES"},
};

/* Accesses that some cache of another chip served count as remote L3. On Arm they include those
 * that its memory served. Of several rows for one figure, the first that the PMU has is used. */
static const struct figure of_others[] = {
    {EVENT_SERVED(SOURCE_REMOTE_L3), "mem.remote_cache"},
    {EVENT_SERVED(SOURCE_REMOTE_L3), "mem.remote"},
    {EVENT_STALL(STALL_FRONTEND), "stall.frontend"},
    {EVENT_STALL(STALL_BACKEND), "stall.backend"},
    {EVENT_MISS(MISS_BRANCH), "branch.miss"},
    {EVENT_MISS(MISS_L1I), "l1i.miss"},
    {EVENT_MISS(MISS_L1D), "l1d.miss"},
    {EVENT_MISS(MISS_L2), "l2.miss"},
    {EVENT_MISS(MISS_LAST_LEVEL), "llc.miss"},
    {EVENT_MISS(MISS_ITLB), "itlb.miss"},
    {EVENT_MISS(MISS_DTLB), "tlb.miss"},
    {EVENT_MISS(MISS_CHIP), "mem.remote"},
};

bool figure_event(const struct event_pmu *pmu, unsigned figure, struct event *out)
{
    bool model = pmu->table == event_table_named("model");
    const struct figure *rows = model ? of_model : of_others;
    size_t n = model ? ARRAY_SIZE(of_model) : ARRAY_SIZE(of_others);
    char why[1]; /* unused: hpm_init lists the missing figures */

    for (const struct figure *f = rows; f < rows + n; f++)
        if (f->number == figure && !event_parse(pmu, f->text, out, why, sizeof why) &&
            out->counters)
            return true;
    return false;
}
