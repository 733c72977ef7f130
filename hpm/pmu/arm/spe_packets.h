/* Sample records of Arm's Statistical Profiling Extension (Arm ARM DDI 0487, D18 "Statistical
 * Profiling Extension Sample Record Specification"), format 0. A record is a row of packets, ended
 * by an end packet or a timestamp; a packet is a header and its payload. Pure: any bytes in,
 * records out. */
#pragma once
#include "kernel/lib/base.h"

/* What a record has; in spe_record.has. */
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

/* Events (D18.2.6), as in spe_record.events and in the registers of the filters. */
#define SPE_EVENT(n)       ((uint64_t)1 << (n))
#define SPE_EVENT_RETIRED  SPE_EVENT(1)
#define SPE_EVENT_L1       SPE_EVENT(2)  /* it accessed the L1 data cache */
#define SPE_EVENT_L1_MISS  SPE_EVENT(3)  /* it missed the L1 data cache */
#define SPE_EVENT_WALK     SPE_EVENT(5)  /* its translation needed a page walk */
#define SPE_EVENT_LLC      SPE_EVENT(8)  /* it accessed the last level */
#define SPE_EVENT_LLC_MISS SPE_EVENT(9)  /* it missed the last level */
#define SPE_EVENT_REMOTE   SPE_EVENT(10) /* it went to another socket */

struct spe_record {
    uint32_t has;
    uint8_t level;        /* exception level, of pc */
    bool store;           /* with SPE_HAS_ACCESS: it stores, and may load as well */
    uint16_t latency;     /* total, in cycles; saturates */
    uint16_t translation; /* cycles of that; 0: not recorded */
    uint16_t source;      /* the processor's own code */
    uint64_t pc, data;    /* virtual, without tags */
    uint64_t phys;
    uint64_t time; /* of the counter that PMSCR_EL1 chose */
    uint64_t events;
};

/* The bytes to be read. */
struct spe_bytes {
    const uint8_t *base; /* a multiple of align, and of 16 */
    size_t size, at;     /* at: the next byte */
    size_t align;        /* PMBIDR_EL1.Align: records begin at multiples of it */
    size_t record_max;   /* PMSIDR_EL1.MaxSize: the longest record */
};

enum spe_found {
    SPE_NOTHING, /* all bytes have been read */
    SPE_RECORD,
    SPE_BROKEN, /* bytes that cannot be a record were passed over */
    SPE_CUT     /* the bytes end within a record */
};

/* Reads the next record into *out. Each call that does not return SPE_NOTHING consumes some
 * bytes. */
enum spe_found spe_next(struct spe_bytes *b, struct spe_record *out);
