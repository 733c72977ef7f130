/*
 * Records that perf events write: their layout, by what the attr asks for (linux/perf_event.h).
 * Pure.
 */
#pragma once
#include "kernel/lib/base.h"
#include <linux/perf_event.h>

#define PERF_NAME_BYTES   4096 /* of a file's path, its NUL included */
#define PERF_CHAIN_MAX    127
#define PERF_STACK_BYTES  (16 * KIB)                /* of a dump of the stack, at most */
#define PERF_RECORD_BYTES (PERF_STACK_BYTES + 2048) /* a record has at most */
_Static_assert(PERF_RECORD_BYTES > PERF_NAME_BYTES + 256, "room for a record with a name");

/* What a sample may tell. If it is of no access, addresses and weight are 0, and the source of the
 * data is not known. */
#define PERF_SAMPLED                                                                           \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER |   \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |                  \
     PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |                   \
     PERF_SAMPLE_PHYS_ADDR)

/* Who and when. */
struct perf_ident {
    uint32_t pid, tid, cpu;
    uint64_t time; /* ns */
    uint64_t id;   /* of the event */
};

/* Each writes a record to `out`, of PERF_RECORD_BYTES, and returns its length. */

/* What served an access. */
enum perf_level {
    PERF_LEVEL_L1,
    PERF_LEVEL_L2,
    PERF_LEVEL_L3,
    PERF_LEVEL_OTHER_CACHE, /* of another chip */
    PERF_LEVEL_RAM,
    PERF_LEVEL_OTHER_RAM, /* of another node */
};
struct perf_access {
    uint64_t data, physical; /* addresses; physical 0: it is not known */
    uint32_t latency;        /* cycles, with the page walk before it */
    enum perf_level level;
    bool store;    /* the sample is of a store, or else of a load */
    bool locked;   /* it has read and written in one */
    bool modified; /* the other chip's cache had the line modified */
    bool walked;   /* the TLB had not the translation */
};
/* Returns an access's PERF_SAMPLE_DATA_SRC. A modified line in another chip's cache is perf's HITM.
 * Of a store perf knows only whether the L1 had the line. */
uint64_t perf_data_source(const struct perf_access *a);

struct perf_taken {
    uint64_t ip, period;
    bool user;             /* ip is a program's */
    const uint64_t *chain; /* its callers, the innermost first */
    unsigned chain_length; /* at most PERF_CHAIN_MAX */
    uint64_t user_end;     /* addresses below are the program's */
    /* The program's, by their numbers in asm/perf_regs.h; NULL: none, as of a thread without a
     * program. */
    const uint64_t *registers;
    unsigned register_count;
    const void *stack; /* from the stack pointer on */
    uint32_t stack_bytes;
    const struct perf_access *access; /* NULL: it is of none */
};
size_t perf_put_sample(const struct perf_event_attr *a, const struct perf_ident *i,
                       const struct perf_taken *s, void *out);

struct perf_mapped {
    uint64_t start, bytes, offset, file; /* file: its number */
    uint32_t prot, flags;                /* PROT_*, MAP_* */
    const char *name;
};
size_t perf_put_mapping(const struct perf_event_attr *a, const struct perf_ident *i,
                        const struct perf_mapped *m, void *out);
/* at_exec: the name is that of a new program. */
size_t perf_put_name(const struct perf_event_attr *a, const struct perf_ident *i, const char *name,
                     bool at_exec, void *out);
/* A thread begins or, `ends`, ends. */
size_t perf_put_task(const struct perf_event_attr *a, const struct perf_ident *i, uint32_t ppid,
                     uint32_t ptid, bool ends, void *out);
/* Fewer samples come than were asked for, or, unless `on`, as many again. */
size_t perf_put_throttle(const struct perf_event_attr *a, const struct perf_ident *i, bool on,
                         void *out);
size_t perf_put_lost(const struct perf_event_attr *a, const struct perf_ident *i, uint64_t lost,
                     void *out);
