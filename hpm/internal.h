/* What the files of hpm share; nobody else includes this. */
#pragma once
#include "hpm/hpm.h"
#include "hpm/mux.h"
#include "hpm/pmu/pmu.h"
#include "hpm/ring.h"

/* A CPU's part in sampling.  Written by the CPU itself, interrupts off, but for the ring's tail and delivered. */
struct sampler {
    uint32_t applied; /* generation of the request that the hardware was last told */
    bool on;
    struct sample_ring ring;
    uint64_t taken, lost_hardware, lost_buffer;
    uint64_t delivered, forgotten; /* the consumer's; forgotten: left over when sampling started again */
    uint64_t cycles;               /* spent on it     */
};

struct hpm_cpu {
    struct hpm_thread *current; /* NULL: idle */
    struct pmu_latch last;
    struct mux_turns turns;
    uint64_t turn_began;     /* cycles counted when the present group's turn began */
    struct hpm_context busy; /* of all threads together */
    uint32_t idle_sequence;  /* odd while the next two are written */
    uint64_t idle_ticks;     /* of finished idle stretches */
    uint64_t idle_since;     /* ticks; 0: not idle         */
    uint64_t own_cycles;     /* of monitoring              */
    uint64_t interrupts;     /* by the PMU                 */
    struct sampler sampler;
};

/* Chosen at boot, then fixed. */
struct hpm_state {
    const struct pmu_ops *ops; /* NULL: there is no PMU */
    struct pmu_caps pmu;
    struct context_plan plan;
    struct event event[HPM_EVENTS]; /* the figures'; no counters: cannot be counted */
    const struct event *programme[HPM_GROUPS_MAX][HPM_COUNTERS_MAX]; /* the plan's groups */
    struct mux_rounds rounds;                                        /* of the plan's groups */
};
extern struct hpm_state hpm_state;
extern uint64_t hpm_records, hpm_samples; /* boot arguments: sizes of a CPU's two rings */

/* What the PMU does not count of the figures a breakdown has, in words; empty: nothing is missing. */
void report_missing(char *buf, size_t size);

/* This CPU, interrupts off: takes what the hardware recorded, for the thread that ran until now, then tells the hardware
 * what has been requested since.  Cheap when there is nothing to do. */
void sampler_poll(struct hpm_cpu *hpm);
/* Memory for records and samples.  0 or -ENOMEM. */
int sampler_init(struct hpm_cpu *hpm, struct pmu_setup *setup);
