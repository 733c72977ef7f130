/* A sample, and the configuration of a machine that takes samples of accesses. */
#pragma once
#include "kernel/lib/base.h"

/* A sample of an access, or of where a thread was. */
struct hpm_sample {
    uint64_t time; /* in ticks of the clock; of an access: cycles */
    vaddr_t pc;
    vaddr_t data;      /* virtual address of the access */
    paddr_t data_phys; /* 0: unknown */
    uint32_t tid, pid; /* of the running thread; 0: idle or the kernel itself */
    uint32_t period;   /* accesses, events, ns or entries that it stands for */
    uint16_t cpu;
    uint16_t latency;  /* cycles */
    uint8_t source;    /* enum hpm_source; SOURCE_COUNT: it is not an access */
    uint8_t criterion; /* number of its criterion in the profile, from 0 */
    bool user, store;
};

#define HPM_SAMPLING_PERIOD_MAX (1u << 20)
struct hpm_sampling {
    uint32_t sources;  /* mask of 1 << enum hpm_source */
    uint32_t period;   /* mean distance of sampled accesses; ..HPM_SAMPLING_PERIOD_MAX */
    uint32_t jitter;   /* largest difference from period, which is uniform; less than period */
    bool user, kernel; /* modes sampled */
};
