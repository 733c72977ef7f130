/* A sample, and what is asked of a machine that takes samples of accesses. */
#pragma once
#include "kernel/lib/base.h"

/* One sample: of an access, or of where somebody was. */
struct hpm_sample {
    uint64_t time; /* ticks of the clock; of an access: cycles */
    vaddr_t pc;
    vaddr_t data;      /* virtual address of the access */
    paddr_t data_phys; /* 0: unknown */
    uint32_t tid, pid; /* who was running, 0: idle or the kernel itself */
    uint32_t period;   /* so many accesses, events, ns, entries it stands for */
    uint16_t cpu;
    uint16_t latency;  /* cycles */
    uint8_t source;    /* enum hpm_source; SOURCE_COUNT: it is no access */
    uint8_t criterion; /* of its session's, from 0 */
    bool user, store;
};

#define HPM_SAMPLING_PERIOD_MAX (1u << 20)
struct hpm_sampling {
    uint32_t sources;  /* mask of 1 << enum hpm_source */
    uint32_t period;   /* one access in this many, on average; ..2^20 */
    uint32_t jitter;   /* uniform +-, less than period */
    bool user, kernel; /* modes sampled */
};
