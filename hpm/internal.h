/* What the files of hpm share; not included from elsewhere. */
#pragma once
#include "hpm/pmu/user_page.h"
#include "hpm/count.h"
#include "hpm/frequency.h"
#include "hpm/policy/access_share.h"
#include "hpm/policy/context.h"
#include "hpm/pmu/pmu.h"
#include "hpm/slot.h"
#include "hpm/sample_ring.h"
#include "kernel/core/cpu.h"

/* A CPU's part in sampling accesses. Written by the CPU itself, interrupts off. */
struct sampler {
    uint32_t applied; /* generation of the plan that the hardware has been told of */
    /* Of the latest look: samples of all handles together, and of each. */
    uint32_t samples, samples_of[ACCESS_HANDLES];
    uint64_t owed;             /* cycles not yet charged: of the hardware, of interrupts */
    bool on;                   /* a handle is on */
    struct access_share share; /* that plan */
    struct access_deal deal;
    struct sampler_account {
        uint64_t taken, lost_hardware, lost_buffer;
        uint64_t accesses;       /* sum of the periods of the samples taken */
        uint64_t cycles;         /* cost of sampling */
        uint64_t looking;        /* of that: looks that found no record */
    } of[ACCESS_HANDLES];        /* by handle, since boot */
    uint64_t for_profiles;       /* `cycles` of the handles of profiles, since boot */
    struct hpm_sample batch[16]; /* work space */
};

/* What a CPU counts for: the thread on it or its idle time, or one of the separate accounts
 * (hpm.accounts=on). */
enum row { ROW_HERE, ROW_INTERRUPTS, ROW_MONITORING, ROWS };

/* What ends together with a stretch: nothing, a thread's run, or the group's slice. A thread that
 * runs on is given its counts later. */
enum stretch_end { END_STRETCH, END_RUN, END_SLICE };

/* Counts of a group that have not been handed out. */
struct piece {
    uint64_t cycles, instructions;
    uint64_t count[HPM_COUNTERS_ALL]; /* as in struct pmu_latch */
} ALIGNED(CACHE_LINE);

/* Members that every turn needs are in front, in few cache lines. */
struct hpm_cpu {
    struct hpm_thread *current;  /* NULL: idle */
    const struct hpm_plan *plan; /* the plan that is counting; NULL: this CPU has no counters */
    /* Cycles or instructions counted when the present group's turn began. */
    uint64_t turn_began;
    uint64_t since_check;  /* cycles or instructions since units were last checked */
    uint64_t own_ticks;    /* cost of monitoring, without the profiler's */
    uint64_t interrupts;   /* by the PMU, without the profiler's */
    unsigned row;          /* enum row of the present stretch */
    bool user_open;        /* user mode can read the counters */
    uint64_t pieces[ROWS]; /* bit g: piece[row][g] is not empty */
    struct pmu_latch last;
    struct sampler sampler;
    struct profiler profiler;
    struct mux_turns turns;
    struct hpm_frequency frequency;
    /* By group: not yet added to the thread's counts and the CPU's. */
    struct piece piece[ROWS][GROUP_MAX];
    /* Counts of all threads together, and those without a thread. */
    struct hpm_context busy, idle;
    /* Counts of interrupts and of monitoring, where they are separate. */
    struct hpm_context apart[ROWS - 1];
    uint64_t records;       /* written by the PMU */
    uint32_t current_pid;   /* atomic: process of current; 0: none or idle */
    uint32_t idle_sequence; /* odd while idle_ticks and idle_since are written */
    uint64_t idle_ticks;    /* ticks of finished idle stretches */
    uint64_t idle_since;    /* ticks; 0: not idle */
    uint64_t read_at;       /* ticks at the latest reading with idle time before or behind it */
    uint64_t began;         /* ticks when idle time began, before the first thread */
    /* Work space of context_sum on this CPU, interrupts off. */
    struct mux_sum part[GROUP_EVENTS_MAX];
    struct hpm_sums sums; /* see hpm_sums_here */
};

/* Returns the part of `cpu`, or NULL if it has no counters. Sampling by time and by entries works
 * without counters. */
static inline struct hpm_cpu *hpm_counted(const struct cpu *cpu)
{
    return cpu->hpm && cpu->hpm->plan ? cpu->hpm : NULL;
}

/* Chosen at boot, then fixed, except the plan. */
struct hpm_state {
    const struct pmu_ops *ops;   /* NULL: there is no PMU */
    const struct hpm_plan *plan; /* atomic: what every CPU is to count; see session.c */
    bool by_instructions;        /* the unit of slices is instructions, not cycles */
    /* Effective frequencies are wanted, and there are counters for them. */
    bool frequency;
    unsigned fixed;    /* number of counters in pmu.events.fixed */
    uint32_t sampling; /* atomic: generation of the request for samples, see sampling.c */
    struct pmu_caps pmu;
    /* Events of the processor that the CPUs say they are, where the PMU is another's, as a
     * simulated machine's is; else NULL. */
    const struct event_table *codes;
    struct event event[HPM_EVENTS]; /* by figure; no counters: it cannot be counted */
    struct event always[2];         /* cycles and instructions; no modes: not counted */
    struct context_figures figures; /* logical counts of the figures */
} ALIGNED(CACHE_LINE);
extern struct hpm_state hpm_state;
extern uint64_t hpm_slice_cycles;         /* boot argument: length of a group's turn */
extern uint64_t hpm_records, hpm_samples; /* boot arguments: sizes of a CPU's two rings */
/* Boot argument: distances of samples are random primes. */
extern uint64_t hpm_primes;
/* Boot argument: interrupts and monitoring are counted separately. */
extern uint64_t hpm_accounts;

/* Writes in words which figures of a breakdown the PMU does not count; empty: none is missing. */
void report_missing(char *buf, size_t size);

/* breakdown_events.c: writes the event of figure number `figure` (EVENT_*) on `pmu` to `out`.
 * Returns false if programmable counters count none. */
bool figure_event(const struct event_pmu *pmu, unsigned figure, struct event *out);

/* exact.c: whether counts of quanta take counters from the breakdown; gives them, if so, those
 * figures in hpm_state.event for which `can_take` returns true; how many they took. */
bool exact_wanted(void);
void exact_take(bool (*can_take)(unsigned figure));
unsigned exact_taken(void);

/* remote_latency.c: returns the cycles of a read that a modified line in another chip's cache
 * serves, on average over the chips; 0: there is one chip, or no memory. Thread context. */
uint32_t remote_latency(void);
/* init.c: from now on, remote stalls are estimated as accesses times `latency` cycles. */
void remote_estimate(uint32_t latency);

/* wanted.c: makes the first plan, of the figures' events on this PMU. Returns 0, or an error of
 * plan_make. */
int plans_init(const struct pmu_ops *ops);
/* As hpm_session_open. slots: the profile slots of names that are events to be sampled, by name;
 * NULL: nothing is sampled. */
int session_open(const char *names, const uint8_t *slots, struct hpm_session **out, char *err,
                 size_t err_size);
/* Returns the logical count of event number i of the session, as a set. */
uint64_t session_count(const struct hpm_session *s, unsigned i);
/* Returns when every CPU has called `what`, with NULL, interrupts off. Thread context. */
void ask_everywhere(void (*what)(void *));
/* Returns when every CPU has followed the present plan and requests. */
void follow_everywhere(void);
/* Returns the largest estimate_spread of logical count `count` in all CPUs' accounts. Any
 * context. */
uint64_t hpm_spread(unsigned count);
/* account.c: makes this CPU count as the plan says, from its next reading on. Interrupts off. */
void counting_start(struct hpm_cpu *hpm, unsigned seed);
/* account.c: adds what was counted until the latest reading to the thread and the accounts it
 * belongs to. */
void hand_out(struct hpm_cpu *hpm, const struct mux_plan *plan);
/* account.c: ends the present stretch and begins one for `row`. */
void account_row(struct hpm_cpu *hpm, enum stretch_end end, enum row row);
/* account.c: brings the calling CPU up to date, so that its reading of itself includes the present
 * stretch. */
void account_here(void);
/* account.c: as account_here, if `t` runs on this CPU. A thread on another CPU is as up to date as
 * that CPU's latest switch or tick. */
void account_if_running(const struct hpm_thread *t);
/* account.c: ends the slice of the present group. */
void account_slice(struct hpm_cpu *hpm);
/* user.c: writes the current thread's page, and allows or forbids user mode to read counters. After
 * a reading, or when `current` has changed. */
void user_follow(struct hpm_cpu *hpm);
/* session.c: writes the session's events as counts of the page. Returns their number. */
unsigned session_user(const struct hpm_session *s, struct hpm_user_page *page);
/* log.c: bit k: log k is in use. */
extern uint32_t hpm_logs;
static inline bool logs_open(void)
{
    return __builtin_expect(__atomic_load_n(&hpm_logs, __ATOMIC_RELAXED) != 0, 0);
}
/* log.c: logs `out`, whose counts are up to date, as it leaves this CPU, and begins the periods of
 * `in`. NULL: the idle thread. */
void log_switch(const struct hpm_thread *out, const struct hpm_thread *in);
/* log.c: when `current` is to be logged next; UINT64_MAX: never. Logs it if the time has come; from
 * the timer's interrupt, while a thread runs. */
uint64_t log_due_ns(const struct hpm_thread *current);
void log_timer(struct hpm_cpu *hpm);
/* account.c: follows a new plan at once. For call_cpu. */
void counting_follow(void *unused);
/* account.c: returns ticks of the clock as cycles of a CPU that runs, or as they are, where cycles
 * are not counted. */
uint64_t hpm_cycles_of(uint64_t ticks);
/* account.c: returns the ticks for which the CPU has been idle until `now`. Any CPU. */
uint64_t hpm_idle_ticks(const struct hpm_cpu *hpm, uint64_t now);

/* Takes the records of the thread that ran until now, then passes the latest request to the
 * hardware. This CPU, interrupts off. */
void sampler_attend(struct hpm_cpu *hpm);
static inline void sampler_poll(struct hpm_cpu *hpm)
{
    if (hpm->sampler.on ||
        hpm->sampler.applied != __atomic_load_n(&hpm_state.sampling, __ATOMIC_ACQUIRE))
        sampler_attend(hpm);
}
/* Begins without handles. Before the first CPU's sampler_init; boot CPU. */
void access_init(void);
/* Allocates memory for records. Returns 0 or -ENOMEM. */
int sampler_init(struct hpm_cpu *hpm, struct pmu_setup *setup);
/* Frees the memory of a CPU that turns out to have no counters. */
void sampler_free(struct pmu_setup *setup);
/* Make and free a ring of hpm_samples samples for each CPU, in an array by CPU of empty ones.
 * rings_make returns 0 or -ENOMEM. Thread context. */
int rings_make(struct sample_ring *rings);
void rings_free(struct sample_ring *rings);

/* Where a handle's samples go. */
struct access_sink {
    struct sample_ring *rings;     /* by CPU; the owner takes samples out */
    const char *name;              /* for the trace */
    const struct hpm_watch *watch; /* threads that are sampled; NULL: all */
    uint8_t criterion;             /* that its samples have */
    bool profile;                  /* it belongs to a profile */
};
/* Returns a handle that puts samples into rings of its owner's, or NULL: all are in use. Started,
 * adjusted and stopped as others. Thread context. */
struct hpm_access *access_open(const struct access_sink *to);
/* Makes every CPU follow what has been started, adjusted and stopped. Thread context. */
void access_follow(void);
/* Gives back a handle that every CPU has stopped for. */
void access_release(struct hpm_access *a);
