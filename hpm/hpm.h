/*
 * Hardware performance monitoring, as the other folders see it: who ran which counts up, where cycles go, and which
 * accesses were served from where.  One PMU backend (hpm/pmu/) is chosen at boot; without one every call below still
 * works and says -ENODEV or zero counts with hpm_caps()->present == false; time and entries into the kernel are sampled.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/core/cmdline.h"
#include "hpm/policy/estimate.h"
#include "hpm/policy/fit.h"
#include "hpm/events/list.h"
#include "hpm/events/metric.h"
#include "hpm/user_page.h"

struct cpu;
struct arch_frame;

extern const struct arg hpm_args[]; /* boot arguments hpm.* */
extern uint64_t hpm_print_ms;       /* the machine's breakdown is to be printed this often; 0: never */

/* What a load or a read-for-ownership was served by. */
enum hpm_source {
    SOURCE_L1,
    SOURCE_LOCAL_L2,
    SOURCE_LOCAL_L3,
    SOURCE_REMOTE_L2,
    SOURCE_REMOTE_L3,
    SOURCE_LOCAL_MEMORY,
    SOURCE_REMOTE_MEMORY,
    SOURCE_COUNT
};
#define SOURCES_REMOTE_CACHE ((1u << SOURCE_REMOTE_L2) | (1u << SOURCE_REMOTE_L3))

/* Why no instruction completed.  Completion cycles are the rest ([A] 2.5).  Behind the causes: a PMU that does not know
 * them may know in which half of the pipeline it was, for want of instructions or for want of room to execute them. */
enum hpm_stall {
    STALL_ICACHE,
    STALL_BRANCH,
    STALL_DCACHE,
    STALL_TLB,
    STALL_OTHER,
    STALL_CAUSES,
    STALL_FRONTEND = STALL_CAUSES,
    STALL_BACKEND,
    STALL_COUNT
};

/* What costs time and is known by its number only. */
enum hpm_miss {
    MISS_BRANCH, /* mispredicted */
    MISS_L1I,
    MISS_L1D,
    MISS_L2,
    MISS_LAST_LEVEL,
    MISS_ITLB, /* page-table walks */
    MISS_DTLB,
    MISS_CHIP, /* accesses to other chips */
    MISS_COUNT
};

/* Where cycles went, cumulative; subtract two readings.  Cycles and instructions are exact; what shared a counter with
 * others is scaled from the part of the cycles it was counted in ("seen") to all of them, and fitted (hpm/policy/fit.h): no part is larger
 * than its whole.  What the PMU does not count is 0: hpm_caps() says what that is. */
struct hpm_breakdown {
    uint64_t cycles;       /* not idle                      */
    uint64_t instructions; /* not idle                      */
    uint64_t idle_cycles;
    uint64_t stall[STALL_COUNT];
    uint64_t dcache[SOURCE_COUNT]; /* stall[STALL_DCACHE] by source: measured */
    uint64_t served[SOURCE_COUNT]; /* accesses by source                      */
    uint64_t missed[MISS_COUNT];
    uint64_t seen_cycles;   /* during which the least seen figure was counted */
    uint32_t seen_permille; /* of the cycles: seen_cycles / cycles     */
    /* Of each figure from stall on: what was counted, and the cycles in which it was; 0: it is worked out, not counted. */
    uint64_t figure_counted[FIT_FIGURES], figure_seen[FIT_FIGURES];
    uint64_t fitted; /* bit f: figure f was scaled to something else    */
};
_Static_assert(offsetof(struct hpm_breakdown, seen_cycles) - offsetof(struct hpm_breakdown, stall) ==
                   FIT_FIGURES * sizeof(uint64_t),
               "the figures are one array");

/* The events behind the figures above that need programmable counters, in one row: stalls, data-cache stalls by source,
 * accesses by source, loads and stores, misses. */
#define HPM_EVENTS       (STALL_COUNT + 2 * SOURCE_COUNT + 2 + MISS_COUNT)
#define HPM_COUNTERS_MAX 8
/* Counters that count one event each, but for those of cycles and instructions; all places where something is counted. */
#define HPM_FIXED_MAX 6
#define HPM_PLACES    (HPM_COUNTERS_MAX + HPM_FIXED_MAX)

/* Counts of one thread, or of one CPU; see hpm/policy/context.h. */
struct hpm_context {
    uint32_t sequence; /* odd while it is being written */
    uint64_t cycles;
    struct mux_counts counts;
};

/* Whose counts they are: together these are all that CPUs do while they are not halted, each of it once.  Idle: what the idle thread does
 * between halts.  Interrupts of devices, timers and other CPUs, and those of monitoring itself, each from its handler's first reading
 * of the counters to its last, are counted to whom they interrupt unless the boot says hpm.accounts=on. */
enum hpm_account { HPM_THREADS, HPM_IDLE, HPM_INTERRUPTS, HPM_MONITORING, HPM_ACCOUNTS };

/* What several of them come to, threads that are no more included; zeroed at first, as far as held. */
struct hpm_sums {
    uint32_t generation; /* of the plan it was last added to under */
    uint64_t cycles;
    uint64_t fitted;                        /* bit i: hpm_session_fit has changed count[i]                  */
    uint64_t held;                          /* bit i: there is a count[i]; what the others have is nothing */
    struct mux_sum count[GROUP_EVENTS_MAX]; /* logical counts, see hpm/policy/plan.h */
};

static inline void hpm_sums_clear(struct hpm_sums *s)
{
    s->generation = 0;
    s->cycles = s->fitted = s->held = 0;
}

/* Settled. */
static inline struct mux_sum hpm_sums_count(const struct hpm_sums *s, unsigned i)
{
    struct mux_sum sum = s->held >> i & 1 ? s->count[i] : (struct mux_sum){0};

    mux_sum_settle(&sum);
    return sum;
}

/* Estimated: accesses x latency, an upper bound, for accesses that overlap are counted as if they did not. */
enum hpm_known { HPM_UNKNOWN, HPM_ESTIMATED, HPM_MEASURED };

struct hpm_caps {
    bool present;                           /* is there a PMU at all?                       */
    bool can_sample;                        /* precise records with data source             */
    bool instructions;                      /* are counted                                  */
    bool user, kernel;                      /* modes that are counted                       */
    bool apart;                             /* interrupts and monitoring have accounts of their own */
    const char *name;                       /* backend                                      */
    unsigned counters;                      /* programmable ones                            */
    uint32_t sampled;                       /* mask of 1 << enum hpm_source: records can be had of  */
    uint32_t stall, dcache, served, missed; /* bit i: entry i of the breakdown's array is counted */
    enum hpm_known remote;                  /* the stalls of hpm_read_remote                */
    uint32_t sample_period_min;             /* the shortest there is                        */
    unsigned line_bytes;                    /* coherence line                               */
    uint32_t latency[SOURCE_COUNT]; /* cycles, documented by the machine or measured at boot; 0 unknown */
};

/* One sample: of an access, or of where somebody was. */
struct hpm_sample {
    uint64_t time; /* ticks of the clock; of an access: cycles        */
    vaddr_t pc;
    vaddr_t data;      /* virtual address of the access                   */
    paddr_t data_phys; /* 0: unknown                                      */
    uint32_t tid, pid; /* who was running, 0: idle or the kernel itself   */
    uint32_t period;   /* so many accesses, events, ns, entries it stands for */
    uint16_t cpu;
    uint16_t latency;  /* cycles                                          */
    uint8_t source;    /* enum hpm_source; SOURCE_COUNT: it is no access  */
    uint8_t criterion; /* of its session's, from 0                        */
    bool user, store;
};

/* Part of struct thread; only hpm touches it. */
struct hpm_thread {
    struct hpm_context counts;
    uint32_t tid, pid;
    uint64_t samples;
    struct hpm_user_page *user; /* its own, written by the CPU it runs on; NULL: none */
    uint64_t told_cycles;       /* hpm_read_news: when it was read the last time */
    bool told_stopped;          /* ... it had stopped since the time before       */
};

/* Boot CPU, before the other CPUs start; cpus: all there will be. Probes the backends in order, prints one line,
 * and limits hpm.records and hpm.samples to what memory has room for. */
void hpm_init(unsigned cpus);
/* Each CPU, interrupts off, before its first thread. */
void hpm_cpu_init(struct cpu *cpu);
/* Thread context, once, when all CPUs run: finds out what waiting for other chips' caches costs, if it takes an estimate. */
void hpm_cpus_started(void);
const struct hpm_caps *hpm_caps(void);

void hpm_thread_init(struct hpm_thread *t, uint32_t tid, uint32_t pid);
/* Scheduler, interrupts off: out stops, in starts; NULL is the idle thread.  One hardware read serves both sides. */
void hpm_switch(struct hpm_thread *out, struct hpm_thread *in);
/* Around the handlers of all other interrupts, interrupts off: what is done between them is counted apart, if anything is.  end gets
 * what begin returned. */
unsigned hpm_interrupt_begin(void);
void hpm_interrupt_end(unsigned begin);
/* PMU interrupt, interrupts off. */
void hpm_interrupt(struct arch_frame *frame);
/* Timer tick, interrupts off: brings the running thread's counts up to date, rotates the groups if that is due. */
void hpm_tick(void);

/* One CPU, until its last switch or tick; the caller's own until now. */
void hpm_read_cpu(const struct cpu *cpu, struct hpm_breakdown *out);
/* Whole machine, all CPUs, until now.  Thread context. */
void hpm_read_machine(struct hpm_breakdown *out);
/* What monitoring itself took since boot, all CPUs: cycles of clock and of instruction-less hardware work. */
uint64_t hpm_own_cycles(void);
/* What waiting for other chips' caches comes to, cumulative: of all cycles those stalled for it (hpm_caps()->remote: measured or
 * estimated), and how many accesses they served. */
struct hpm_remote {
    uint64_t cycles, stall, served;
};
/* One thread, up to its CPU's last switch or tick.  A tenth of the work of hpm_read_thread, for who looks often.  Any context. */
void hpm_read_remote(const struct hpm_thread *t, struct hpm_remote *out);
/* One thread, including its present stretch up to its CPU's last switch or tick. */
void hpm_read_thread(const struct hpm_thread *t, struct hpm_breakdown *out);
/* The same for one reader who looks again and again.  False: nothing is new since, nor was when it was read the last time, so that a
 * thread that stops is read once more; out is then left as it is. */
bool hpm_read_news(struct hpm_thread *t, struct hpm_breakdown *out);
/* Brings the counts up to date that other CPUs have of the process's threads, or, pid 0, of everything: what is read afterwards has
 * all that happened before.  Interrupts those CPUs.  Thread context, no spinlock held. */
void hpm_update(uint32_t pid);
/* Adds logical counts (bit i of counts; those that there are not are left out) of the thread, as hpm_read_thread reads them, or of
 * the machine, what its CPUs did while they had no thread included.  Any context. */
void hpm_sum_thread(const struct hpm_thread *t, uint64_t counts, struct hpm_sums *sums);
/* The same of a thread that will never run again, for a sum that is kept; or of one that may, for a reading that no other
 * one is subtracted from.  What threads that were too short to be scaled by themselves have come to is
 * closed as a unit whenever it is long enough.  Any context. */
void hpm_sum_ended(const struct hpm_thread *t, uint64_t counts, struct hpm_sums *sums);
/* Adds a sum that has been kept, but for logical counts that have another event by now. Any context. */
void hpm_sum_past(const struct hpm_sums *past, struct hpm_sums *sums);
/* The same for a sum that is kept, or for such a reading: closes units as hpm_sum_ended does.
 * Any context. */
void hpm_sum_kept(const struct hpm_sums *past, struct hpm_sums *sums);
void hpm_sum_machine(uint64_t counts, struct hpm_sums *sums);
/* The same by account, which all together are the machine. */
void hpm_sum_accounts(uint64_t counts, struct hpm_sums sums[HPM_ACCOUNTS]);
/* Sums of this CPU's own, cleared, for the reader to work in.  Interrupts off until they are not needed any more. */
struct hpm_sums *hpm_sums_here(void);
/* The logical counts that are the figures of a breakdown. */
uint64_t hpm_figures(void);
/* The figures among sums of threads. */
void hpm_sums_breakdown(const struct hpm_sums *sums, struct hpm_breakdown *out);
void hpm_breakdown_add(struct hpm_breakdown *sum, const struct hpm_breakdown *part);
/* What is new since the earlier reading, by what was seen of it (fit_since), and fitted. */
void hpm_breakdown_sub(struct hpm_breakdown *from, const struct hpm_breakdown *earlier);
/* Table on the console: cause, source, estimate (latency x accesses) beside measurement, error ([A] Table 2.7); what is
 * not counted is named, not shown. */
void hpm_breakdown_print(const char *title, const struct hpm_breakdown *b);

/*
 * A session: events and metrics that somebody asks for by name (hpm/events/event.h, metric.h), counted for every thread of the
 * machine from its opening to its closing, beside the breakdown's figures and other sessions' events.
 */
struct hpm_session;
/* Memory that a session takes. */
size_t hpm_session_bytes(void);
/*
 * names: separated by commas or blanks; modes as cycles:u.  0; -ENODEV: no PMU; -EINVAL, -ENOENT, -ENOTSUP: as event_parse and
 * metric_find; -ENOSPC: more than can be counted at a time, or beside what is counted already; -ENOMEM.  err says which name
 * and why.  Every CPU counts them when it returns.  Thread context; one call of this or hpm_session_close at a time.
 */
int hpm_session_open(const char *names, struct hpm_session **out, char *err, size_t err_size);
void hpm_session_close(struct hpm_session *s);

/* What can be named: event_list.  0; -ENOENT: no more; -ENODEV: as hpm_session_open.  Thread context. */
int hpm_list(uint32_t *cursor, struct event_listed *out);

struct hpm_value {
    const char *name;         /* as it was asked for                                          */
    const char *unit;         /* of a metric; NULL: it is a count                             */
    struct estimate estimate; /* a count                                                      */
    struct metric_value metric;
    uint32_t seen_permille;         /* of the time: of the event, or the least seen of a metric's     */
    bool fitted;                    /* it was scaled to something else: see hpm_session_fit           */
    uint64_t counted, seen, length; /* of a count: what was really counted, for how much of what length */
};
/* The logical counts it needs, for sums. */
uint64_t hpm_session_counts(const struct hpm_session *s);
/* Names that were asked for. */
unsigned hpm_session_values(const struct hpm_session *s);
/* The sums are complete, a difference is taken: makes what contains what by definition fit (hpm/events/nest.h).  One call for a session
 * at a time. */
void hpm_session_fit(struct hpm_session *s, struct hpm_sums *sums);
/* Number i of them in those sums, which may be a difference. */
void hpm_session_value(const struct hpm_session *s, unsigned i, const struct hpm_sums *sums,
                       struct hpm_value *out);
void hpm_sums_copy(struct hpm_sums *to, const struct hpm_sums *from);
/* Both under the same plan, unless one is empty. */
void hpm_sums_add(struct hpm_sums *sum, const struct hpm_sums *part);
/* earlier: a reading of the same threads and counts. */
void hpm_sums_sub(struct hpm_sums *from, const struct hpm_sums *earlier);

/*
 * The calling thread, which is t, can read the session's events by itself from now on, by what is in the page: events in the order of the
 * names, metrics are none.  page: a whole one, zeroed, which user mode may read and not write, or the one that the thread has already.
 * number: what user mode knows the session by.  0; -ENOTSUP: this machine's counters cannot be read in user mode, or not all CPUs'.
 */
int hpm_user_open(struct hpm_thread *t, const struct hpm_session *s, uint32_t number,
                  struct hpm_user_page *page);
/* No more, by the thread itself.  Its page, or NULL: it has none. */
struct hpm_user_page *hpm_user_close(struct hpm_thread *t);

#define HPM_SAMPLING_PERIOD_MAX (1u << 20)
struct hpm_sampling {
    uint32_t sources;  /* mask of 1 << enum hpm_source                     */
    uint32_t period;   /* one access in this many, on average; ..2^20      */
    uint32_t jitter;   /* uniform +-, less than period                     */
    bool user, kernel; /* modes sampled                                    */
};
struct hpm_sample_account {
    uint64_t taken, delivered, lost_hardware, lost_buffer; /* taken = delivered + lost_* + pending, always */
    uint64_t cycles;                                       /* spent in interrupts and drains */
};
/* All CPUs.  -ENODEV, -EINVAL (names the field on the console), -EBUSY.  Thread context. */
int hpm_sampling_start(const struct hpm_sampling *config);
void hpm_sampling_stop(void);
/* Takes up to max attributed samples of all CPUs, each CPU's in order of time.  Thread context. */
size_t hpm_sampling_take(struct hpm_sample *out, size_t max);
void hpm_sampling_account(struct hpm_sample_account *out);
/* Another period and jitter from now on, while it is on; what was recorded before keeps the period it was recorded with.  The same
 * ones change nothing; others begin a distance anew. */
int hpm_sampling_adjust(uint32_t period, uint32_t jitter);

/*
 * A profile: samples of where threads are, by up to 8 criteria at a time: every so many events of a kind, every so often, every so many
 * entries into the kernel, or accesses by what served them (hpm/policy/criteria.h).  Events are counted beside all else, in turns where
 * counters are few; their distances go on through the turns.  The distances are random primes around the period; adaptive
 * periods and the limit of cost are followed at the end of each window (hpm/policy/period.h).
 */
struct hpm_profile;
struct hpm_profiling {
    const char *criteria;
    uint32_t pid;  /* samples of this process only; 0: of all                                            */
    uint32_t rate; /* what adaptive periods aim at: samples a second for each criterion, all CPUs; 1..10^6 */
    uint32_t
        permille; /* of the busy CPUs' cycles it may cost; 1..1000                                      */
};
/* 0; -ENODEV: its counters cannot interrupt; -EINVAL, -ENOENT, -ENOTSUP, -ENOSPC: as criteria_parse and hpm_session_open; -EBUSY: what
 * it takes is in use; -ENOMEM.  err says what is wrong.  Thread context; not beside hpm_session_open, close, or another of these two. */
int hpm_profile_open(const struct hpm_profiling *what, struct hpm_profile **out, char *err, size_t err_size);
void hpm_profile_close(struct hpm_profile *p);
/* Takes up to max samples, each CPU's of a criterion in the order of time.  One caller at a time.  Thread context. */
size_t hpm_profile_take(struct hpm_profile *p, struct hpm_sample *out, size_t max);
/* A window ends: periods follow what it brought.  Thread context, one caller at a time. */
void hpm_profile_window(struct hpm_profile *p);
unsigned hpm_profile_criteria(const struct hpm_profile *p);
const char *hpm_profile_criterion(const struct hpm_profile *p, unsigned criterion);
/* Why a period is longer: sampling would cost more than it may; there were too many interrupts in a burst. */
enum hpm_stretched { HPM_NOT_STRETCHED, HPM_STRETCHED_FOR_COST, HPM_STRETCHED_FOR_STORMS };
struct hpm_profile_account {
    uint64_t taken, delivered,
        lost;              /* taken = delivered + lost: what waits in the CPUs' rings is not in it */
    uint64_t stood_for;    /* the sum of the periods of those taken               */
    uint64_t estimate;     /* the same scaled to all the time, seen or not */
    uint64_t period;       /* mean, at present                                    */
    uint64_t asked;        /* for, or 0: it is adapted                            */
    uint64_t throttled;    /* how many times a storm of interrupts was cut short  */
    uint64_t cycles;       /* that sampling took, of all criteria of all profiles */
    uint64_t passed, idle; /* cycles since boot, by the clock: those of all CPUs, and those idle */
    uint32_t
        seen_permille; /* where it is an event: of the time it had a counter, of what came then storms left; else 1000 */
    enum hpm_stretched stretched; /* the period is longer than asked for, or than it would be adapted to */
};
void hpm_profile_account(struct hpm_profile *p, unsigned criterion, struct hpm_profile_account *out);
/* When this CPU is to call hpm_timer next, at the latest, by arch_clock_ns; UINT64_MAX: never.  Interrupts off. */
uint64_t hpm_timer_ns(void);
/* The timer's interrupt; and before a return to user mode, from an interrupt, a fault or a system call.  Interrupts off. */
void hpm_timer(const struct arch_frame *frame);
void hpm_entered_slots(const struct arch_frame *frame);
extern uint32_t hpm_entries; /* who samples by entries; see hpm/slot.h */
static inline void hpm_entered(const struct arch_frame *frame)
{
    if (__builtin_expect(__atomic_load_n(&hpm_entries, __ATOMIC_RELAXED) != 0, 0))
        hpm_entered_slots(frame);
}
/* Ground-truth label, on a simulated machine; nothing elsewhere. */
void hpm_mark(const char *label);
