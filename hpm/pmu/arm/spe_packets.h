/*
 * Sample records of Arm's Statistical Profiling Extension (Arm ARM DDI 0487, D18 "Statistical
 * Profiling Extension Sample Record Specification"), format 0: each a row of packets that an end or
 * a timestamp closes, packets being a header and its payload. Pure: any bytes in, records out.
 */
#pragma once
#include "kernel/lib/base.h"

/* What a record says; in spe_record.has. */
enum {
    SPE_HAS_PC = 1,
    SPE_HAS_DATA = 2,
    SPE_HAS_PHYS = 4,
    SPE_HAS_TIME = 8,
    SPE_HAS_LATENCY = 16,
    SPE_HAS_SOURCE = 32,
    SPE_HAS_EVENTS = 64,
    SPE_HAS_ACCESS = 128 /* it was a load, a store or both */
};

/* Events (D18.2.6), as in spe_record.events and in the filters' registers. */
#define SPE_EVENT(n)       ((uint64_t)1 << (n))
#define SPE_EVENT_RETIRED  SPE_EVENT(1)
#define SPE_EVENT_L1       SPE_EVENT(2)  /* it accessed the L1 data cache ... */
#define SPE_EVENT_L1_MISS  SPE_EVENT(3)  /* ... which had to be filled */
#define SPE_EVENT_LLC      SPE_EVENT(8)  /* it accessed the last level ... */
#define SPE_EVENT_LLC_MISS SPE_EVENT(9)  /* ... which had it not */
#define SPE_EVENT_REMOTE   SPE_EVENT(10) /* it went to another socket */

struct spe_record {
    uint32_t has;
    uint8_t level;     /* exception level, of pc */
    bool store;        /* SPE_HAS_ACCESS: it stores, whether it loads or not */
    uint16_t latency;  /* total, cycles; saturates */
    uint16_t source;   /* code of the processor's own */
    uint64_t pc, data; /* virtual, without tags */
    uint64_t phys;
    uint64_t time; /* of the counter that PMSCR_EL1 chose */
    uint64_t events;
};

/* What has been written. */
struct spe_bytes {
    const uint8_t *base; /* its address is a multiple of align, and of 16 */
    size_t size, at;     /* at: what comes next */
    size_t align;        /* PMBIDR_EL1.Align: records begin at multiples */
    size_t record_max;   /* PMSIDR_EL1.MaxSize: no record is longer */
};

enum spe_found {
    SPE_NOTHING, /* all has been taken */
    SPE_RECORD,
    SPE_BROKEN, /* bytes that cannot be a record were passed over */
    SPE_CUT     /* the bytes end in the midst of a record */
};

/* The next record into *out. Unless it says SPE_NOTHING, some bytes have been taken. */
enum spe_found spe_next(struct spe_bytes *b, struct spe_record *out);
