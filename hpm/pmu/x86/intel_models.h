/* What Intel's processors record of accesses, and what the fields of a record mean. Data only. The
 * architecture (SDM volume 3) defines that there are records, each model what is in them. */
#pragma once
#include "hpm/events/event.h"

#define INTEL_SOURCES   16   /* values of a record's data source, bits 0 to 3 */
#define INTEL_NO_SOURCE 0xff /* unknown, or not memory */
/* In a record's data source: the second level of the TLB did not have the translation. */
#define INTEL_SOURCE_WALK (1u << 4)

/* A precise event that counts the accesses served by these sources and no others. The record does
 * not tell which. */
struct intel_precise {
    uint32_t sources; /* mask of 1 << enum hpm_source */
    uint16_t event;   /* with its unit mask */
    uint8_t source;   /* source given to its records */
};

struct intel_model {
    uint16_t latency_event; /* counts loads that take longer than a threshold; 0: none */
    const uint8_t *source;  /* [INTEL_SOURCES]: enum hpm_source of the latency event's records */
    /* ended by an entry without sources; the first that fits is used */
    const struct intel_precise *precise;
};

/* Layout of a record: offsets of 64-bit fields; 0: there is no such field. */
struct intel_record {
    uint8_t size, pc, counters, address, source, latency, time;
};

/* Returns what the processor records; NULL: unknown. */
const struct intel_model *intel_model(const struct event_identity *id);
/* Returns the layout of records of this IA32_PERF_CAPABILITIES.PEBS_REC_FMT; NULL: unknown.
 * baseline: PEBS_BASELINE. */
const struct intel_record *intel_record(unsigned format, bool baseline);
