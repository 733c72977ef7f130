/*
 * What Intel's processors record of accesses, and what the fields of a record mean. Data only; the
 * architecture (SDM volume 3) says that there are records, each model what they say.
 */
#pragma once
#include "hpm/events/event.h"

#define INTEL_SOURCES   16   /* values of a record's data source, bits 0 to 3 */
#define INTEL_NO_SOURCE 0xff /* unknown, or no memory at all */

/* A precise event that counts the accesses served by some sources and no others. The record does
 * not say by which. */
struct intel_precise {
    uint32_t sources; /* mask of 1 << enum hpm_source */
    uint16_t event;   /* and unit mask */
    uint8_t source;   /* what its records are said to be of */
};

struct intel_model {
    uint16_t latency_event;              /* loads that take longer than a threshold; 0: none */
    const uint8_t *source;               /* [INTEL_SOURCES]: enum hpm_source, for that event */
    const struct intel_precise *precise; /* ended by no sources; the first that will do is taken */
};

/* How a record looks: offsets of 64-bit fields, 0: it has none of that. */
struct intel_record {
    uint8_t size, pc, counters, address, source, latency, time;
};

/* NULL: it is not known what this processor records. */
const struct intel_model *intel_model(const struct event_identity *who);
/* IA32_PERF_CAPABILITIES.PEBS_REC_FMT; NULL: none is known. baseline: PEBS_BASELINE. */
const struct intel_record *intel_record(unsigned format, bool baseline);
