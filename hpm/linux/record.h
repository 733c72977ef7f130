/*
 * Records that perf events write: their layout, by what the attr asks for (linux/perf_event.h).
 * Pure.
 */
#pragma once
#include "kernel/lib/base.h"
#include <linux/perf_event.h>

#define PERF_NAME_BYTES   4096 /* of a file's path, its NUL included */
#define PERF_CHAIN_MAX    127
#define PERF_RECORD_BYTES (PERF_NAME_BYTES + 256) /* a record has at most */

/* What a sample may tell. Of the program's registers it says that there are none, as Linux does of
 * threads without a program: perf asks for some on AArch64. */
#define PERF_SAMPLED                                                                           \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER |   \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER)

/* Who and when. */
struct perf_ident {
    uint32_t pid, tid, cpu;
    uint64_t time; /* ns */
    uint64_t id;   /* of the event */
};

/* Each writes a record to `out`, of PERF_RECORD_BYTES, and returns its length. */

struct perf_taken {
    uint64_t ip, period;
    bool user;             /* ip is a program's */
    const uint64_t *chain; /* its callers, the innermost first */
    unsigned chain_length; /* at most PERF_CHAIN_MAX */
    uint64_t user_end;     /* addresses below are the program's */
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
size_t perf_put_lost(const struct perf_event_attr *a, const struct perf_ident *i, uint64_t lost,
                     void *out);
