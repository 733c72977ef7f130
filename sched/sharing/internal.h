/*
 * The inside of the sharing detector, for the files sched/sharing*.c only.
 *
 * One kernel thread, the detector, goes through the processes whose policy wants sharing known and
 * moves each through the cycle watch -> detect -> cluster -> place -> watch ([Tam, Azimi, Stumm
 * 2007]). [S] = sharing_lock, [D] = the detector alone, [-] = fixed. The detector works on a
 * process without the lock, with busy set, so the process stays; its threads may go meanwhile, so
 * whoever needs one finds it in the list, under the lock.
 */
#pragma once
#include "sched/sharing/policy/cluster.h"
#include "sched/cpuset.h"
#include "sched/sharing/policy/assign.h"
#include "sched/runqueue.h"
#include "sched/sharing/policy/shmap.h"

struct hpm_sample;

enum sharing_phase { SHARING_WATCH, SHARING_DETECT };

/* Samples of one process during one detection. Row n of the shMaps is the thread with tid[n]. */
struct detection {
    unsigned threads;
    uint32_t *tid; /* ascending */
    struct shmap_table table;
    struct clustering clustering;
    struct cluster_watch watch;
    uint64_t begin_ns;
    uint64_t next_decision; /* samples to have before clustering again */
    uint64_t decisions;
    uint64_t accesses; /* that the samples stand for */
    /* When most of it was placed for the first time, 0: not yet; and for the last. */
    uint64_t early_ns, early_accesses;
    uint64_t placed_ns, placed_accesses;
    unsigned placed_members;            /* threads in clusters then */
    int16_t *placed_of;                 /* [threads] and in which */
    uint64_t looked_ns, looked_samples; /* at the last look after that */
    uint64_t foreign;                   /* samples of threads that came later */
    void *memory[5];                    /* for all of the above */
};

/* What detection costs, over all CPUs: time, and samples lost. */
struct sharing_cost {
    uint64_t taking_ns;     /* the hardware's records and taking them over, where they arise */
    uint64_t recording_ns;  /* entering the samples in the shMaps */
    uint64_t clustering_ns; /* and making clusters of them */
    uint64_t lost;          /* samples */
};

static inline uint64_t sharing_cost_sum(const struct sharing_cost *c)
{
    return c->taking_ns + c->recording_ns + c->clustering_ns;
}

/* What detection has cost and done; printed when the process ends. */
struct sharing_account {
    uint64_t detections, samples, migrations;
    struct sharing_cost cost;
    uint64_t all_ns;    /* the CPUs' time while they went on */
    uint64_t worst_ppm; /* the most one of them cost: cost / all */
};

struct sharing_process {
    struct list all;                /* [S] */
    uint32_t pid;                   /* [-] */
    enum sharing_source source;     /* [-] */
    struct list members;            /* [S] sharing_member.link */
    unsigned count;                 /* [S] */
    bool busy;                      /* [S] */
    uint64_t changed_ns;            /* [S] a thread came, or stated another group */
    bool unplaced;                  /* [S] and nothing was decided since */
    struct sharing_account account; /* [S] */

    /* [D] */
    enum sharing_phase phase;
    uint64_t next_ns;     /* nothing to do before; [S] too */
    uint64_t looked_ns;   /* the last look */
    uint64_t measured_ns; /* the threads' loads, the last time */
    /* of its cycles: waiting for other chips' caches, at that look */
    unsigned remote_permille;
    uint64_t remote_per_ms;    /* accesses that did */
    unsigned settling;         /* looks to come until settled_permille is known */
    unsigned settled_permille; /* what was left after the last decision */
    uint64_t decided_ns;       /* the last decision to detect */
    uint64_t backoff_ns;       /* the next pause */
    uint64_t not_before_ns;    /* of the next detection */
    /* so that clusters of different detections have different numbers */
    int cluster_base;
    struct detection *detection;    /* not NULL while detecting */
    struct sharing_cost begin_cost; /* of the whole machine, when it began */
};

extern struct spinlock sharing_lock;

/* Returns the process the detector knows by this pid, or NULL. sharing_lock held. */
struct sharing_process *sharing_find_locked(uint32_t pid);

/* Boot arguments, args.c. */
extern uint64_t sched_watch_ms, sched_remote_pct, sched_sample_period, sched_cost_permille,
    sched_samples_max, sched_detect_ms, sched_filter, sched_cluster, sched_threshold,
    sched_slack_permille, sched_seed, sched_picture;

unsigned sharing_entries(unsigned threads);

/* ---- detection.c: the samples of one process ------------------------------------------------- */
/* Starts with the threads the process has now. 0, -ENOMEM. */
int detection_create(struct sharing_process *p, struct detection **out);
void detection_free(struct detection *d);
/* Enters a sample of the process in its thread's shMap. */
void detection_record(struct detection *d, const struct hpm_sample *sample);
/* Clusters anew when enough samples have come since the last time, or when asked to; CLUSTER_WAIT
 * otherwise. */
enum cluster_verdict detection_decide(struct detection *d, bool now);
/* How many threads are in clusters, and how many have samples on lines that should tell but do
 * not. */
unsigned detection_members(const struct detection *d);
unsigned detection_doubtful(const struct detection *d);
/* The clusters have agreed for a while; a longer one unless most of the threads that share are in
 * them. */
bool detection_mostly_clear(const struct detection *d);

/* ---- sampling.c: the sampling that all detections share; for the detector's thread ------------ */
/* Starts sampling, unless it is on, with the period at which about `accesses_per_ms` accesses in a
 * millisecond cost no more than the budget. Returns 0 or hpm_sampling_start's error. */
int sharing_sampling_start(uint64_t now_ns, uint64_t accesses_per_ms);
void sharing_sampling_stop(void);
bool sharing_sampling_is_on(void);
/* Records waiting samples of processes in detection. Leaves some where they come faster than they
 * are recorded: the period has to be lengthened first. Takes sharing_lock. */
void sharing_sampling_take(void);
/* Changes the period to what samples and clustering cost, unless a boot argument fixes it. settling:
 * a lower rate of samples is hoped for just now, and shortens no period. */
void sharing_sampling_adapt(uint64_t now_ns, bool settling);
uint32_t sharing_sampling_period(void);
bool sharing_sampling_over_budget(uint64_t now_ns);
/* Returns the cost since boot. */
struct sharing_cost sharing_sampling_cost(void);
void sharing_sampling_add_clustering(uint64_t ns);

/* ---- apply.c --------------------------------------------------------------------------------- */
struct sharing_placement {
    enum assign_verdict verdict;
    unsigned threads, moved, crossed;         /* moved to another CPU; those that changed chips */
    unsigned together_before, together_after; /* thousandths of the sharing that stays on a chip */
};
/* A thread's load from now on is the part of a CPU it has wanted since the last time this was done,
 * a while ago. */
void sharing_measure_loads(struct sharing_process *p, uint64_t now_ns);
/* Moves the threads of a process: by the clusters of the detection, or, with d NULL, by the groups
 * they have stated. -ENOMEM. */
int sharing_place(struct sharing_process *p, const struct detection *d,
                  struct sharing_placement *out);

/* ---- report.c -------------------------------------------------------------------------------- */
/* One telemetry line: "sharing: t=... pid=... phase=... reason=..." and what fmt adds. */
void sharing_say(const struct sharing_process *p, const char *phase, const char *reason,
                 const char *fmt, ...) PRINTF(4, 5);
void sharing_report_clusters(struct sharing_process *p);
void sharing_report_account(uint32_t pid, const struct sharing_account *a);
