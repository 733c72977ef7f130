/*
 * What served a sampled access, by what its record says (spe_packets.h). The code in it means what
 * the processor's maker says; where that is not known, there are the events that mean the same on
 * all processors, and they tell less. Pure.
 */
#pragma once
#include "hpm/policy/breakdown.h"
#include "hpm/pmu/arm/spe_packets.h"

/* Besides enum hpm_source. */
enum {
    SPE_NOT_SERVED = SOURCE_COUNT, /* no access, or none of which it is said how far it went */
    SPE_NOT_KNOWN                  /* the record says it, but nobody knows what it means */
};

/* A processor's codes: what each of the first 16 means. */
struct spe_codes {
    uint8_t source[16];
};

/* Of the processor with this MIDR_EL1; NULL: not known. */
const struct spe_codes *spe_codes_of(uint32_t midr);
/* Mask of 1 << enum hpm_source that can come out below. */
uint32_t spe_sources(const struct spe_codes *codes);
/* codes NULL: by the events alone. */
unsigned spe_source(const struct spe_codes *codes, const struct spe_record *r);
