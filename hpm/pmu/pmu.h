/*
 * What a PMU backend does for hpm. A backend knows one kind of hardware and nothing of threads.
 *
 * Events are those that caps name (hpm/events/event.h); hpm packs them into groups. Cycles always
 * have a counter of their own, instructions too where the PMU counts them.
 * All members are called on the CPU concerned with interrupts off, unless they say otherwise.
 */
#pragma once
#include "hpm/pmu/user_page.h"
#include "hpm/policy/context.h"
#include "hpm/events/event.h"
#include "hpm/policy/sample.h"

struct cpu;

#define PMU_RATE_ONE ((uint64_t)1 << 32)

/* What every turn needs is in front. */
struct pmu_caps {
    unsigned counters;           /* programmable ones, at most HPM_COUNTERS_MAX */
    bool instructions;           /* are counted */
    bool slices_by_instructions; /* can be had, not only by cycles */
    /* counters can be read in user mode: user and open may be called */
    bool user_reads;
    /* programmable counters interrupt by themselves: arm may be called */
    bool arms;
    uint64_t cycles_per_tick;  /* of arch_ticks, while a CPU runs, times PMU_RATE_ONE */
    unsigned interrupt_cycles; /* entry and return of an interrupt */
    /* for the boot line: version, width, ended by ", "; may be empty */
    char about[48];
    /* what it can count, but for cycles and instructions; `fixed` are counters besides those */
    struct event_pmu events;
    uint32_t latency[SOURCE_COUNT]; /* cycles, 0: unknown */
    unsigned line_bytes;
    /* mask of 1 << enum hpm_source that records can be had of; 0: none */
    uint32_t sample_sources;
    uint32_t sample_period_min;  /* shorter periods cannot be had; 0: any */
    uint32_t sample_records_max; /* the memory for records may hold so many, per CPU */
    unsigned record_bytes;       /* 0: it needs no memory */
    unsigned record_cycles;      /* the hardware's own cost of a record */
};

/* Everything counted since the CPU was set up; counts go on growing when a counter gets another
 * event. The n-th fixed counter of caps is counter HPM_COUNTERS_MAX + n. */
struct pmu_latch {
    uint64_t cycles, instructions;
    uint64_t count[HPM_COUNTERS_ALL];
};

struct pmu_setup {
    uint64_t slice;       /* interrupt so many cycles after the latest change of events; 0: never */
    bool by_instructions; /* no cycles: instructions, where caps say that this can be */
    uint8_t modes;        /* of cycles and instructions: enum event_modes */
    const struct event
        *events; /* [event_count] that will be programmed; those without counters do not matter */
    unsigned event_count;
    void *records;         /* whole pages for records, in the direct map; NULL: none is needed */
    uint32_t record_count; /* power of two */
};

/* Counters beside those of struct pmu_latch's array. */
enum { PMU_CYCLES = HPM_COUNTERS_ALL, PMU_INSTRUCTIONS, PMU_COUNTERS_ALL };

/* Why it interrupted; PMU_COUNTER << c: programmable counter c has reached what it was armed
 * for. */
enum { PMU_SLICE = 1, PMU_RECORDS = 2, PMU_COUNTER = 1 << 8 };

struct pmu_ops {
    const char *name;
    /* Boot CPU, thread context, once. 0, or -ENODEV when this hardware is absent. */
    int (*probe)(struct pmu_caps *caps);
    /* Each CPU once, before anything below: counters run, nothing is sampled, interrupts are
     * routed. 0; -EIO; -ENODEV (without sampling only): this CPU lacks what caps promise or one of
     * the setup's events, nothing below is called on it. */
    int (*cpu_init)(const struct cpu *cpu, const struct pmu_setup *setup);
    /* What latch is to find in the image of a programme of these events, so that a turn need not
     * look at them. Any CPU. */
    uint64_t (*image)(const struct event *const *event);
    /* Reads all counters, each at one moment, so that between two readings nothing is lost or
     * counted twice. next: from that moment on, they count its events, of caps, which stay as they
     * are; NULL: as before. */
    void (*latch)(struct pmu_latch *out, const struct hpm_programme *next);
    /* Programmable counter c, which counts an event, interrupts once when its count, as latch gives
     * it, reaches due; if it has, soon. A later call replaces an earlier one. A latch with next
     * disarms all counters and forgets what of them is pending. Only where caps say that it can. */
    void (*arm)(unsigned c, uint64_t due);
    /* How user mode reads that counter (index in struct pmu_latch, or one of the above) and where
     * it stands: index 0, it cannot. Its value is right until the next latch, for a counter that
     * is not armed. Only where caps say that it can. */
    void (*user)(unsigned counter, struct hpm_user_register *out);
    /* Lets user mode read counters on this CPU, or no more. Off at first. */
    void (*open)(bool on);
    /* Ground truth, where there is such a thing: who runs from now on, 0 for idle. */
    void (*tag)(uint32_t tid);
    /* Starts sampling as config says, NULL stops it. Records not drained are forgotten, uncounted.
     * config is valid. */
    void (*sample)(const struct hpm_sampling *config);
    /* Records waiting, or something to say of them. Cheap: a few registers at most. */
    uint64_t (*waiting)(void);
    /* Takes up to max records, oldest first, into out (who ran is left 0); *lost grows by those the
     * hardware dropped. */
    size_t (*drain)(struct hpm_sample *out, size_t max, uint64_t *lost);
    /* In the PMU interrupt: mask of PMU_*, acknowledged; 0: it was no news. */
    unsigned (*interrupted)(void);
    /* Ground truth: a labelled moment. Any CPU, the caller serialises. */
    void (*mark)(const char *label);
};

/* For those that user mode cannot read. */
static inline void pmu_no_user(UNUSED unsigned counter, struct hpm_user_register *out)
{
    *out = (struct hpm_user_register){0};
}

static inline void pmu_no_open(UNUSED bool on)
{
}

/* For drivers that look at the events. */
static inline uint64_t pmu_no_image(UNUSED const struct event *const *event)
{
    return 0;
}

/* Returns how many cycles pass in a tick of arch_ticks, times PMU_RATE_ONE, measured for a
 * millisecond; 0: no cycle is counted. read returns a counter that counts in all modes and wraps
 * behind mask. Interrupts off. */
uint64_t pmu_cycle_rate(uint64_t (*read)(void), uint64_t mask);

extern const struct pmu_ops *const pmu_backends[]; /* in probe order, NULL-terminated */
extern const struct pmu_ops pmu_model, pmu_intel, pmu_amd, pmu_armv8;
