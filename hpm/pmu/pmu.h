/*
 * What a PMU backend does for hpm. A backend knows one kind of hardware and nothing of threads.
 *
 * Events are those that caps name (hpm/events/event.h); hpm packs them into groups. Cycles always
 * have a counter of their own, instructions too where the PMU counts them. Members are called on
 * the CPU concerned with interrupts off, unless they say otherwise.
 */
#pragma once
#include "hpm/pmu/user_page.h"
#include "hpm/policy/context.h"
#include "hpm/events/event.h"
#include "hpm/policy/sample.h"

struct cpu;

#define PMU_RATE_ONE ((uint64_t)1 << 32)

/* What a PMU can do. Members that every turn needs are in front. */
struct pmu_caps {
    unsigned counters;           /* programmable ones, at most HPM_COUNTERS_MAX */
    bool instructions;           /* are counted */
    bool slices_by_instructions; /* a slice can be a number of instructions */
    /* User mode can read the counters: `user` and `open` may be called. */
    bool user_reads;
    /* Programmable counters can interrupt: `arm` may be called. */
    bool arms;
    /* cycles in a tick of arch_ticks while a CPU runs, times PMU_RATE_ONE */
    uint64_t cycles_per_tick;
    unsigned interrupt_cycles; /* cost of entering and leaving an interrupt */
    /* Version and width for the boot line; may be empty. */
    char about[48];
    /* What can be counted besides cycles and instructions, which have their own counters. */
    struct event_pmu events;
    uint32_t latency[SOURCE_COUNT]; /* cycles, 0: unknown */
    unsigned line_bytes;
    unsigned samplers; /* that take records, each by itself; up to PMU_SAMPLERS_MAX; 0: none */
    /* Mask of 1 << enum hpm_source: sources of which records can be taken; 0: none. */
    uint32_t sample_sources;
    /* Of these, records do not tell one from the other: wanting one is wanting all. */
    uint32_t sample_alike;
    bool sample_walks, sample_fetches; /* records tell page walks for data; for instructions */
    bool sample_latency;               /* records tell latencies */
    uint32_t sample_period_min;        /* shortest period; 0: any */
    uint32_t sample_records_max;       /* largest number of records in a CPU's memory */
    unsigned record_bytes;             /* 0: records need no memory */
    unsigned record_cycles;            /* what the hardware spends on a record */
    /* Where user mode reads them in memory: physical address of the first CPU's page, a struct
     * hpm_user_latch, with those of the others behind it; 0: by instructions. */
    paddr_t user_latches;
};

/* Everything counted since the CPU was set up. A count goes on growing when its counter gets
 * another event. The n-th fixed counter of caps is counter HPM_COUNTERS_MAX + n. */
struct pmu_latch {
    uint64_t cycles, instructions;
    uint64_t count[HPM_COUNTERS_ALL];
};

struct pmu_setup {
    /* Cycles from a change of events to the interrupt that ends it; 0: none. Where there is none,
     * the scheduler's tick ends a slice. */
    uint64_t slice;
    bool by_instructions; /* the slice is in instructions, where caps allow it */
    uint8_t modes;        /* of cycles and instructions: mask of enum event_modes */
    const struct event
        *events; /* [event_count] that will be programmed; those without counters do not matter */
    unsigned event_count;
    void *records;         /* whole pages for records, in the direct map; NULL: not needed */
    uint32_t record_count; /* power of two */
};

/* Numbers of the counters that are not in struct pmu_latch's array. */
enum { PMU_CYCLES = HPM_COUNTERS_ALL, PMU_INSTRUCTIONS, PMU_COUNTERS_ALL };

/* Reasons of an interrupt. PMU_COUNTER << c: programmable counter c has reached the count it was
 * armed for. */
enum { PMU_SLICE = 1, PMU_RECORDS = 2, PMU_COUNTER = 1 << 8 };

/* Returns which processor this CPU says it is: by CPUID, or MIDR_EL1. x86_regs.c and
 * armv8_regs.c. */
struct event_identity pmu_identity(void);

struct pmu_ops {
    const char *name;
    /* Looks for the hardware and fills in `caps`. Returns 0, or -ENODEV if it is absent. Boot CPU,
     * thread context, once. */
    int (*probe)(struct pmu_caps *caps);
    /* Sets up this CPU: counters run, nothing is sampled, interrupts are routed. Returns 0; -EIO;
     * -ENODEV (without sampling only): this CPU lacks something that caps promise, or one of the
     * setup's events, and nothing below is called on it. Each CPU once, before all calls below. */
    int (*cpu_init)(const struct cpu *cpu, const struct pmu_setup *setup);
    /* Returns the image of a programme of these events: what latch needs of them, so that a turn
     * need not look at the events. Any CPU. */
    uint64_t (*image)(const struct event *const *event);
    /* Reads all counters, each at one moment, so that between two readings nothing is lost or
     * counted twice. From that moment on they count the events of `next`, which are among those of
     * caps and stay valid; NULL: the same events as before. */
    void (*latch)(struct pmu_latch *out, const struct hpm_programme *next);
    /* Makes programmable counter c, which counts an event, interrupt once when its count, as latch
     * reads it, reaches `due`; soon, if it is past. A later call replaces an earlier one. A latch
     * with `next` disarms all counters and drops their pending interrupts. Only where caps allow
     * it. */
    void (*arm)(unsigned c, uint64_t due);
    /* Writes how user mode reads a counter (index in struct pmu_latch, or PMU_CYCLES,
     * PMU_INSTRUCTIONS), and its value; index 0: it cannot. The value of a counter that is not
     * armed holds until the next latch. Only where caps allow it. */
    void (*user)(unsigned counter, struct hpm_user_register *out);
    /* Allows user mode to read counters on this CPU, or forbids it. Forbidden at first. */
    void (*open)(bool on);
    /* Has the next latch write to the ground truth, if there is one, which thread runs from then
     * on; 0: idle. */
    void (*tag)(uint32_t tid);
    /* Has a sampler take records as the valid `config` says from now on; NULL: none. Called when
     * records have been drained; those behind are dropped, uncounted, if no sampler is on. Records
     * are of what sample_wanted() wants. Returns the accesses that the sampler had still to pass
     * until its next record; 0 if it was off or the hardware does not tell. */
    uint32_t (*sample)(unsigned sampler, const struct hpm_sampling *config);
    /* Returns the records waiting, or at least 1 if losses are to be reported. Cheap: reads a few
     * registers at most. */
    uint64_t (*waiting)(void);
    /* Moves up to `max` records, oldest first, to `out`, with the samplers that took each; tid and
     * pid stay 0. Adds the records that each sampler dropped to lost[]. Returns the number
     * moved. */
    size_t (*drain)(struct hpm_sample *out, size_t max, uint64_t lost[PMU_SAMPLERS_MAX]);
    /* Returns the reasons of the present PMU interrupt, PMU_*, and acknowledges them; 0: there is
     * none. */
    unsigned (*interrupted)(void);
    /* Writes a label to the ground truth. Any CPU; the caller serialises. */
    void (*mark)(const char *label);
};

/* For PMUs without ground truth. */
static inline void pmu_no_tag(UNUSED uint32_t tid)
{
}

static inline void pmu_no_mark(UNUSED const char *label)
{
}

/* For drivers that look at the events in latch. */
static inline uint64_t pmu_no_image(UNUSED const struct event *const *event)
{
    return 0;
}

/* Returns how many cycles pass in a tick of arch_ticks, times PMU_RATE_ONE, measured for a
 * millisecond; 0: no cycle is counted. counter returns one that counts in all modes and wraps
 * behind mask. Interrupts off. */
uint64_t pmu_cycle_rate(uint64_t (*counter)(void), uint64_t mask);

extern const struct pmu_ops *const pmu_backends[]; /* in probe order, NULL-terminated */
extern const struct pmu_ops pmu_model, pmu_intel, pmu_amd, pmu_armv8;
