/* See spe_sources.h. "Remote" is another chip, that is, a socket. Caches of other clusters and
 * cores of the same chip count as local L3: the access had to go that far, and firmware's
 * description of the machine, by which threads are placed, has no smaller chips. */
#include "hpm/pmu/arm/spe_sources.h"

/* MIDR_EL1. */
#define IMPLEMENTER(midr) ((midr) >> 24)
#define PART(midr)        ((midr) >> 4 & 0xfff)
#define ARM               0x41

/* Neoverse N1 TRM (100616), "Statistical Profiling Extension", data source packet; the same in
 * those of the others. */
static const struct spe_codes arm_codes = {{
    [0x0] = SOURCE_L1,
    [0x1 ... 0x7] = SPE_NOT_KNOWN,
    [0x8] = SOURCE_LOCAL_L2,
    [0x9] = SOURCE_LOCAL_L3,  /* another core of the cluster, level unknown */
    [0xa] = SOURCE_LOCAL_L3,  /* the cluster's own L3 */
    [0xb] = SOURCE_LOCAL_L3,  /* the system cache */
    [0xc] = SOURCE_LOCAL_L3,  /* another cluster of this chip */
    [0xd] = SOURCE_REMOTE_L3, /* a cache of another chip, level unknown */
    [0xe] = SOURCE_LOCAL_MEMORY,
    [0xf] = SPE_NOT_KNOWN,
}};

static const struct {
    uint16_t implementer, part;
    const struct spe_codes *codes;
} processors[] = {
    {ARM, 0xd0c, &arm_codes}, /* Neoverse N1 */
    {ARM, 0xd40, &arm_codes}, /* Neoverse V1 */
    {ARM, 0xd49, &arm_codes}, /* Neoverse N2 */
    {ARM, 0xd4f, &arm_codes}, /* Neoverse V2 */
    {ARM, 0xd4c, &arm_codes}, /* Cortex-X1C */
    {ARM, 0xd4e, &arm_codes}, /* Cortex-X3 */
    {ARM, 0xd81, &arm_codes}, /* Cortex-A720 */
    {ARM, 0xd85, &arm_codes}, /* Cortex-X925 */
    {ARM, 0xd87, &arm_codes}, /* Cortex-A725 */
};

const struct spe_codes *spe_codes_of(uint32_t midr)
{
    for (size_t i = 0; i < ARRAY_SIZE(processors); i++)
        if (processors[i].implementer == IMPLEMENTER(midr) && processors[i].part == PART(midr))
            return processors[i].codes;
    return NULL;
}

/* The two remote caches stand for each other: no record tells them apart. */
uint32_t spe_sources(const struct spe_codes *codes)
{
    uint32_t all =
        1u << SOURCE_L1 | 1u << SOURCE_LOCAL_L3 | SOURCES_REMOTE_CACHE | 1u << SOURCE_LOCAL_MEMORY;

    return all | (codes ? 1u << SOURCE_LOCAL_L2 | 1u << SOURCE_REMOTE_MEMORY : 0);
}

/* Returns the farthest source that the events tell. Between the L1 and the last level there may be
 * caches that no event mentions, so an access that missed the L1 and is not known to have gone
 * further has no source. Memory and caches of another chip cannot be told apart. */
static unsigned by_events(uint64_t events)
{
    static const struct {
        uint64_t event;
        unsigned source;
    } farthest_first[] = {
        {SPE_EVENT_REMOTE, SOURCE_REMOTE_L3},
        {SPE_EVENT_LLC_MISS, SOURCE_LOCAL_MEMORY},
        {SPE_EVENT_LLC, SOURCE_LOCAL_L3},
        {SPE_EVENT_L1_MISS, SPE_NOT_SERVED},
        {SPE_EVENT_L1, SOURCE_L1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(farthest_first); i++)
        if (events & farthest_first[i].event)
            return farthest_first[i].source;
    return SPE_NOT_SERVED;
}

/* Stores have no code. */
unsigned spe_source(const struct spe_codes *codes, const struct spe_record *r)
{
    if (!(r->has & SPE_HAS_ACCESS))
        return SPE_NOT_SERVED;
    if (!codes || !(r->has & SPE_HAS_SOURCE))
        return by_events(r->events);
    unsigned source =
        r->source < ARRAY_SIZE(codes->source) ? codes->source[r->source] : SPE_NOT_KNOWN;
    if (source == SOURCE_LOCAL_MEMORY && (r->events & SPE_EVENT_REMOTE))
        return SOURCE_REMOTE_MEMORY;
    return source;
}
