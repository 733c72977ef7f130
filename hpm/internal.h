/* What the files of hpm share; nobody else includes this. */
#pragma once
#include "hpm/pmu/user_page.h"
#include "hpm/count.h"
#include "hpm/policy/context.h"
#include "hpm/pmu/pmu.h"
#include "hpm/slot.h"
#include "hpm/sample_ring.h"
#include "kernel/core/cpu.h"

/* A CPU's part in sampling. Written by the CPU itself, interrupts off, but for the ring's tail and
 * delivered. */
struct sampler {
    struct sample_ring ring;
    uint64_t taken, lost_hardware, lost_buffer;
    uint64_t accesses; /* that those taken stand for */
    /* the consumer's; forgotten: left over when sampling started again */
    uint64_t delivered, forgotten;
    uint64_t cycles;  /* spent on it */
    uint32_t period;  /* of the request that the hardware was last told ... */
    uint32_t applied; /* ... and its generation */
    bool on;
};

/* For whom a CPU counts: who is on it, a thread or nobody, or one of two accounts apart
 * (hpm.accounts=on). */
enum row { ROW_HERE, ROW_INTERRUPTS, ROW_MONITORING, ROWS };

/* What ends together with a stretch: nothing, a thread's run, or the group's slice. A thread that
 * runs on is given its counts later. */
enum stretch_end { END_STRETCH, END_RUN, END_SLICE };

/* What a group counted. */
struct piece {
    uint64_t cycles, instructions;
    uint64_t count[HPM_COUNTERS_ALL]; /* as in struct pmu_latch */
} ALIGNED(CACHE_LINE);

/* What every turn needs is in front, in few cache lines. */
struct hpm_cpu {
    struct hpm_thread *current;  /* NULL: idle */
    const struct hpm_plan *plan; /* whose groups are counting; NULL: this CPU has no counters */
    /* cycles or instructions counted when the present group's turn began */
    uint64_t turn_began;
    uint64_t since_check;  /* the same since units were looked at */
    uint64_t own_ticks;    /* of monitoring, beside the profiler's, and ... */
    uint64_t interrupts;   /* ... by the PMU, beside the profiler's */
    unsigned row;          /* enum row: for whom the present stretch is */
    bool user_open;        /* user mode can read the counters */
    uint64_t pieces[ROWS]; /* bit g: there is something in piece[row][g] */
    struct pmu_latch last;
    struct sampler sampler;
    struct profiler profiler;
    struct mux_turns turns;
    /* by group, not yet added to current's counts and the CPU's */
    struct piece piece[ROWS][GROUP_MAX];
    /* of all threads together, and of what is done while there is none to run */
    struct hpm_context busy, idle;
    /* of interrupts and of monitoring, where they are counted apart */
    struct hpm_context apart[ROWS - 1];
    uint64_t records;       /* of monitoring: recorded by the PMU */
    uint32_t current_pid;   /* atomic: its process, 0: none or idle */
    uint32_t idle_sequence; /* odd while the next two are written */
    uint64_t idle_ticks;    /* of finished idle stretches */
    uint64_t idle_since;    /* ticks; 0: not idle */
    uint64_t read_at; /* ticks, at the latest reading at which nothing ran before or afterwards */
    uint64_t began;   /* ticks: idle from then on, until its first thread */
    /* what context_sum works in on this CPU, interrupts off */
    struct mux_sum part[GROUP_EVENTS_MAX];
    struct hpm_sums sums; /* hpm_sums_here */
};

/* A CPU's part, if its counters count; else NULL. Time and entries are sampled without. */
static inline struct hpm_cpu *hpm_counted(const struct cpu *cpu)
{
    return cpu->hpm && cpu->hpm->plan ? cpu->hpm : NULL;
}

/* Chosen at boot, then fixed, but for the plan. */
struct hpm_state {
    const struct pmu_ops *ops;   /* NULL: there is no PMU */
    const struct hpm_plan *plan; /* atomic: what every CPU is to count; see session.c */
    bool by_instructions;        /* slices are measured in, not by cycles */
    unsigned fixed;              /* how many counters there are of pmu.events.fixed */
    uint32_t sampling;           /* atomic: generation of what is to be sampled, see sampling.c */
    struct pmu_caps pmu;
    struct event event[HPM_EVENTS]; /* the figures'; no counters: cannot be counted */
    struct event always[2];         /* cycles and instructions; no modes: not counted */
    struct context_figures figures; /* their logical counts */
} ALIGNED(CACHE_LINE);
extern struct hpm_state hpm_state;
extern uint64_t hpm_slice_cycles;         /* boot argument: what a group counts at a time */
extern uint64_t hpm_records, hpm_samples; /* boot arguments: sizes of a CPU's two rings */
/* boot argument: distances of samples are random primes */
extern uint64_t hpm_primes;
/* boot argument: interrupts and monitoring are counted apart */
extern uint64_t hpm_accounts;

/* What the PMU does not count of the figures a breakdown has, in words; empty: nothing is
 * missing. */
void report_missing(char *buf, size_t size);

/* breakdown_events.c: writes the event of figure number figure (EVENT_*) on pmu to out. Returns
 * false if programmable counters count none. */
bool figure_event(const struct event_pmu *pmu, unsigned figure, struct event *out);

/* remote_latency.c: cycles a read takes of what another chip's cache has modified, the chips'
 * average; 0: there is one chip, or no memory. Thread context. */
uint32_t remote_latency(void);
/* init.c: remote stalls are accesses times so many cycles from now on. */
void remote_estimate(uint32_t latency);

/* session.c: the figures' events as the first plan, for that PMU. 0, or an error of plan_make. */
int plans_init(const struct pmu_ops *ops);
/* As hpm_session_open, where slots are given for events alone that are to be sampled: slots[i] is
 * that of name i. */
int session_open(const char *names, const uint8_t *slots, struct hpm_session **out, char *err,
                 size_t err_size);
/* The logical count of its event number i, as a set. */
uint64_t session_count(const struct hpm_session *s, unsigned i);
/* Returns when every CPU has followed what was asked for until now. */
void follow_everywhere(void);
/* estimate_spread of a logical count, the largest of all CPUs' accounts. Any context. */
uint64_t hpm_spread(unsigned count);
/* account.c: this CPU, interrupts off, is to count what the plan says, from its next reading on. */
void counting_start(struct hpm_cpu *hpm, unsigned seed);
/* account.c: what was counted until the latest reading, to those whose it is. */
void hand_out(struct hpm_cpu *hpm, const struct mux_plan *plan);
/* account.c: a stretch ends, and one for the account row begins. */
void account_row(struct hpm_cpu *hpm, enum stretch_end end, enum row row);
/* account.c: the present group's slice ends. */
void account_slice(struct hpm_cpu *hpm);
/* user.c: after a reading, or when somebody else is current: what current may read by itself. */
void user_follow(struct hpm_cpu *hpm);
/* session.c: the session's events as counts of the page. How many. */
unsigned session_user(const struct hpm_session *s, struct hpm_user_page *page);
/* account.c: follows a new plan at once. For call_cpu. */
void counting_follow(void *unused);
/* account.c: ticks of the clock in cycles of a CPU that runs; of the clock, where none are
 * counted. */
uint64_t hpm_cycles_of(uint64_t ticks);
/* account.c: how long it has been idle until now, by the clock. Any CPU. */
uint64_t hpm_idle_ticks(const struct hpm_cpu *hpm, uint64_t now);

/* This CPU, interrupts off: takes what the hardware recorded, for the thread that ran until now,
 * then tells the hardware what has been requested since. */
void sampler_attend(struct hpm_cpu *hpm);
static inline void sampler_poll(struct hpm_cpu *hpm)
{
    if (hpm->sampler.on ||
        hpm->sampler.applied != __atomic_load_n(&hpm_state.sampling, __ATOMIC_ACQUIRE))
        sampler_attend(hpm);
}
/* Memory for records and samples. 0 or -ENOMEM. */
int sampler_init(struct hpm_cpu *hpm, struct pmu_setup *setup);
/* Gives it back, where the CPU turns out to have no counters. */
void sampler_free(struct hpm_cpu *hpm, struct pmu_setup *setup);
