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

/* What a sample may tell. Of an access's address it tells 0, of where the data came from that it is
 * not known. */
#define PERF_SAMPLED                                                                           \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER |   \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |                  \
     PERF_SAMPLE_DATA_SRC)

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
    /* The program's, by their numbers in asm/perf_regs.h; NULL: none, as of a thread without a
     * program. */
    const uint64_t *registers;
    unsigned register_count;
    const void *stack; /* from the stack pointer on */
    uint32_t stack_bytes;
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
