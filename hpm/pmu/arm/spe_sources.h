/* What served a sampled access, by its record (spe_packets.h). The processor's maker defines the
 * source codes. Where they are unknown, events that are the same on all processors are used, which
 * tell less. Pure. */
#pragma once
#include "hpm/policy/breakdown.h"
#include "hpm/pmu/arm/spe_packets.h"

/* Results besides enum hpm_source. */
enum {
    SPE_NOT_SERVED = SOURCE_COUNT, /* not an access, or not known how far it went */
    SPE_NOT_KNOWN                  /* the record has a code of unknown meaning */
};

/* A processor's codes: the meaning of each of the first 16. */
struct spe_codes {
    uint8_t source[16];
};

/* Returns the codes of the processor with this MIDR_EL1; NULL: unknown. */
const struct spe_codes *spe_codes_of(uint32_t midr);
/* Returns the mask of 1 << enum hpm_source that spe_source can return. */
uint32_t spe_sources(const struct spe_codes *codes);
/* Returns what served the access. codes NULL: decides by the events alone. */
unsigned spe_source(const struct spe_codes *codes, const struct spe_record *r);
