/*
 * The inside of the sharing detector, for the files of sched/sharing only.
 *
 * One kernel thread, the detector, moves each process with a policy that uses sharing through the
 * cycle watch, detect, cluster, place, watch ([Tam, Azimi, Stumm 2007]).
 *
 * Locking of members:
 *   [S]  sharing_lock
 *   [D]  the detector's thread alone
 *   [-]  fixed
 * The detector works on a process without the lock and with `busy` set, which keeps the process.
 * Its threads may go meanwhile, so a thread is looked up in the list, under the lock.
 */
#pragma once
#include "sched/sharing/policy/cluster.h"
#include "sched/cpuset.h"
#include "sched/sharing/policy/assign.h"
#include "sched/sharing/policy/assign_trial.h"
#include "sched/runqueue.h"
#include "sched/sharing/policy/shmap.h"
#include "sched/sharing/policy/stalls.h"

struct hpm_sample;

enum sharing_phase { SHARING_WATCH, SHARING_DETECT };

/* Samples of one process during one detection. Row n of the shMaps is the thread with tid[n]. */
struct detection {
    uint32_t pid; /* of the first process */
    unsigned threads;
    uint32_t *tid; /* ascending */
    struct shmap_table table;
    struct clustering clustering;
    struct cluster_watch watch;
    unsigned begin_permille; /* the process's remote_permille when it began */
    unsigned low_looks;      /* successive looks at which it was below the threshold */
    uint64_t begin_ns;
    uint64_t next_decision; /* number of samples at which to cluster again */
    uint64_t decisions;
    uint64_t accesses; /* that the samples stand for */
    /* Time and accesses at the first early placement (0: none yet), and at the last one. */
    uint64_t early_ns, early_accesses;
    uint64_t placed_ns, placed_accesses;
    unsigned placed_members;            /* threads in clusters at the last one */
    int16_t *placed_of;                 /* [threads] and the cluster of each */
    uint16_t *placed_chip;              /* [threads] and where it was placed */
    uint64_t looked_ns, looked_samples; /* when it was last clustered again */
    uint64_t foreign;                   /* samples of threads that were created later */
    void *memory[6];                    /* of the arrays above */
};

/* The cost of detection over all CPUs: time, and samples lost. */
struct sharing_cost {
    uint64_t taking_ns;     /* interrupts and draining, on the CPU that took the samples */
    uint64_t recording_ns;  /* entering the samples in the shMaps */
    uint64_t clustering_ns; /* clustering the shMaps */
    uint64_t lost;          /* samples */
};

static inline uint64_t sharing_cost_sum(const struct sharing_cost *c)
{
    return c->taking_ns + c->recording_ns + c->clustering_ns;
}

/* The detections of a process; printed when the process ends. */
struct sharing_account {
    uint64_t detections, samples, migrations;
    uint64_t taken_back; /* placements */
    struct sharing_cost cost;
    uint64_t all_ns;    /* CPU time that passed while detections lasted */
    uint64_t worst_ppm; /* cost / CPU time of the costliest one, millionths */
};

/* Processes that are watched as one, for they are connected: by a socket, data that one of them
 * writes is read by the other. */
#define SHARING_CONNECTED_MAX 32

struct sharing_process {
    struct list all;                      /* [S] */
    uint32_t pid;                         /* [-] of the first of the connected processes */
    uint32_t with[SHARING_CONNECTED_MAX]; /* [S] the others */
    unsigned withs;                       /* [S] */
    bool crowded;                         /* [S] some could not be added */
    bool said_crowded;                    /* [D] */
    enum sharing_source source;           /* [-] */
    struct list members;                  /* [S] by sharing_member.link */
    unsigned count;                       /* [S] */
    bool busy;                            /* [S] */
    uint64_t changed_ns;                  /* [S] when a thread was added, or stated another group */
    bool unplaced;                        /* [S] ... and nothing has been decided since */
    struct sharing_account account;       /* [S] */
    struct sharing_picture *picture;      /* [S] the latest, or NULL */
    uint64_t asked_ns;                    /* [S] when a program last asked for it; 0: never */

    /* The members below are [D]. */
    enum sharing_phase phase;
    uint64_t next_ns;     /* time of its next step; [S] too */
    uint64_t looked_ns;   /* time of the last look */
    uint64_t measured_ns; /* time when the threads' loads were last measured */
    /* At the last look: thousandths of its cycles in which it waited for other chips' caches. */
    unsigned remote_permille;
    uint64_t remote_per_ms;    /* accesses to them in a millisecond */
    unsigned settling;         /* looks until settled_permille is known */
    unsigned settled_permille; /* remote_permille after the last decision */
    unsigned grown;            /* successive looks at which it was much more than that */
    uint64_t decided_ns;       /* time of the last decision to detect */
    uint64_t backoff_ns;       /* length of the next pause */
    uint64_t not_before_ns;    /* earliest time of the next detection */
    /* Added to cluster numbers, so that those of different detections differ. */
    int cluster_base;
    struct detection *detection; /* not NULL while detecting */
    struct assign_trial trial;   /* of the last placement by detection, or of taking it back: */
    bool taken_back;
    uint64_t placed_ns;    /* time of that */
    unsigned placed_count; /* threads at that time */
    /* When the detection began, in whichever phase of the program; the cost of all till then. */
    uint64_t begin_ns;
    struct sharing_cost begin_cost;
};

extern struct spinlock sharing_lock;
extern bool sharing_runs; /* [-] the detector's thread exists */
/* Makes the detector look. sharing_lock held. */
void sharing_wake_detector(void);

/* ---- members.c: processes and their threads -------------------------------------------------- */
extern struct list sharing_processes; /* [S] by sharing_process.all */
/* Unites processes that were connected lately. sharing_lock held, no process busy. */
void sharing_unite_locked(void);
void sharing_free_locked(struct sharing_process *p);

/* Returns the process with this pid among those watched, or that it is watched with; or NULL.
 * sharing_lock held. */
struct sharing_process *sharing_find_locked(uint32_t pid);

struct sharing_crowd {
    unsigned threads;
    uint64_t changed_ns; /* when one was added, or stated another group */
};
/* Takes sharing_lock. */
struct sharing_crowd sharing_crowd(const struct sharing_process *p);

/* Boot arguments, args.c. */
extern uint64_t sched_watch_ms, sched_remote_pct, sched_sample_period, sched_cost_permille,
    sched_samples_max, sched_detect_ms, sched_filter, sched_cluster, sched_threshold,
    sched_slack_permille, sched_seed, sched_picture;

unsigned sharing_entries(unsigned threads);

/* ---- detection.c: the samples of one process ------------------------------------------------- */
/* Starts a detection with the threads the process has now. Returns 0, -EINVAL, -ENOMEM, or -ESRCH
 * if there are fewer than two. */
int detection_create(struct sharing_process *p, struct detection **out);
void detection_free(struct detection *d);
/* Notes the clusters by which threads were placed, and their chips. Thread context, no lock. */
void detection_placed(struct detection *d, const struct sharing_process *p);
/* Enters a sample of the process in its thread's shMap. */
void detection_record(struct detection *d, const struct hpm_sample *sample);
/* Clusters again if enough samples have come since the last time, or if `now`, and decides. Returns
 * CLUSTER_WAIT while the clusters are not final. */
enum cluster_verdict detection_decide(struct detection *d, bool now);
/* Return the number of threads in clusters, and of threads in doubt: sampled on lines that should
 * tell their cluster but do not. */
unsigned detection_members(const struct detection *d);
unsigned detection_doubtful(const struct detection *d);
/* Returns whether the last clusterings agreed: two in a row if most threads are in clusters and few
 * in doubt, else three. */
bool detection_mostly_clear(const struct detection *d);

/* ---- sampling.c: the sampling that all detections share; for the detector's thread ----------- */
/* Opens the detector's handle, which it keeps. Returns an error of hpm_access_open. */
int sharing_sampling_open(void);
/* Opens the handle if need be, and starts sampling, unless it is on, with the period at which about
 * `accesses_per_ms` accesses in a millisecond cost no more than the budget. kernel: accesses of the
 * kernel, too. Returns 0 or an error of hpm_access_open or hpm_access_start. */
int sharing_sampling_start(uint64_t now_ns, uint64_t accesses_per_ms, bool kernel);
void sharing_sampling_stop(void);
bool sharing_sampling_is_on(void);
/* Records waiting samples of processes in detection. Leaves some where they come faster than they
 * are recorded: the period has to be lengthened first. Takes sharing_lock. */
void sharing_sampling_take(void);
/* Adapts the period to the cost of samples and clustering, unless a boot argument fixes it.
 * settling: a low rate of samples is the aim now, and does not shorten the period. */
void sharing_sampling_adapt(uint64_t now_ns, bool settling);
uint32_t sharing_sampling_period(void);
bool sharing_sampling_over_budget(uint64_t now_ns);
/* Returns the cost since boot, of all detections. */
struct sharing_cost sharing_sampling_cost(void);
void sharing_sampling_add_clustering(uint64_t ns);

/* ---- apply.c --------------------------------------------------------------------------------- */
struct sharing_placement {
    enum assign_verdict verdict;
    unsigned threads, moved, crossed;         /* moved: to another CPU; crossed: to another chip */
    unsigned together_before, together_after; /* thousandths of the sharing that is within chips */
};
/* Sets each thread's load to the part of a CPU it has wanted since the last call. A call within a
 * millisecond of it changes nothing. */
void sharing_measure_loads(struct sharing_process *p, uint64_t now_ns);
/* Moves the threads of a process: by the clusters of detection d, or, if d is NULL, by the groups
 * they have stated. Returns 0 or -ENOMEM. */
int sharing_place(struct sharing_process *p, const struct detection *d,
                  struct sharing_placement *out);

/* ---- trial.c: placements that are taken back ------------------------------------------------- */
/* Places the threads by the detection at hand, as sharing_place() does, and puts that on trial if
 * any was moved. Takes sharing_lock. */
int sharing_place_on_trial(struct sharing_process *p, struct sharing_placement *out);
/* Looks at the stalls of the process's threads since the last look and judges what is on trial, the
 * placement or its taking back. Returns whether a placement was taken back now. Takes
 * sharing_lock. */
bool sharing_look_and_judge(struct sharing_process *p, uint64_t now_ns);

/* ---- report.c -------------------------------------------------------------------------------- */
/* Prints and records one decision: "sharing: t=... pid=... phase=... reason=..." and the text of
 * fmt. */
void sharing_say(const struct sharing_process *p, const char *phase, const char *reason,
                 const char *fmt, ...) PRINTF(4, 5);
void sharing_report_clusters(struct sharing_process *p);

/* ---- shown.c: what programs can read --------------------------------------------------------- */
/* Keeps the shMaps and clusters of p's detection for sharing_read(). `asked`: only if a program has
 * asked lately. Takes sharing_lock. */
void sharing_show(struct sharing_process *p, bool asked);
void sharing_decision_keep(const struct sharing_decision *d);
void sharing_report_account(uint32_t pid, const struct sharing_account *a);
