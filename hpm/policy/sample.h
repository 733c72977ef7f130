/* A sample, and the configuration of a machine that takes samples of accesses. */
#pragma once
#include "kernel/lib/base.h"

/* A sample of an access, or of where a thread was. */
struct hpm_sample {
    uint64_t time; /* in ticks of the clock; of an access: cycles */
    vaddr_t pc;
    vaddr_t data;      /* virtual address of the access; of no access: its dump (hpm/dump.h) */
    paddr_t data_phys; /* 0: unknown */
    uint32_t tid, pid; /* of the running thread; 0: idle or the kernel itself */
    uint32_t period;   /* accesses, events, ns or entries that it stands for */
    uint16_t cpu;
    uint16_t latency;  /* cycles */
    uint8_t source;    /* enum hpm_source; SOURCE_COUNT: it is not an access */
    uint8_t criterion; /* number of its criterion in the profile, from 0 */
    bool user, store;
    uint16_t walk;    /* cycles of the page walk before an access; 0: none, or unknown */
    uint8_t samplers; /* bit n: hardware sampler n took it; PMU drivers to hpm/access.c only */
    bool fetch;       /* the access is the translation of an instruction, which had to walk */
    /* It read and wrote in one; the cache that served it had modified the line. False: no, or the
     * machine does not tell. */
    bool atomic, modified;
    uint16_t bytes; /* of the access, of those in the line of `data`; 0: unknown */
    uint32_t chain; /* of calls, see hpm/chain.h; 0: none */
};

#define HPM_SAMPLING_PERIOD_MAX (1u << 20)
/* Which accesses are sampled: one in `period` of those that have one of sources, walks and fetches,
 * the latency, and the mode. */
struct hpm_sampling {
    uint32_t sources;     /* mask of 1 << enum hpm_source: data accesses that these served */
    uint32_t period;      /* mean distance of sampled accesses; ..HPM_SAMPLING_PERIOD_MAX */
    uint32_t jitter;      /* largest difference from period, which is uniform; less than period */
    uint32_t min_latency; /* cycles of an access at least, its page walk included */
    bool walks;           /* data accesses behind a page walk, whatever served them */
    bool fetches;         /* translations of instructions behind a page walk */
    /* Several users share the records: each must tell which source served it. */
    bool apart;
    bool user, kernel; /* modes sampled */
};

/* Returns whether the record is one of those that `c` samples. */
static inline bool sample_wanted(const struct hpm_sampling *c, const struct hpm_sample *s)
{
    bool kind = s->fetch ? c->fetches : c->sources >> s->source & 1 || (c->walks && s->walk);

    return kind && (uint32_t)s->latency + s->walk >= c->min_latency &&
           (s->user ? c->user : c->kernel);
}

/* The samplers that a CPU has at most, each of which takes records by itself. */
#define PMU_SAMPLERS_MAX 4
