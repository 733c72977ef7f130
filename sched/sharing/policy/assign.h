/*
 * Placement: which thread runs on which chip and CPU, given which threads share data ([Tam 2007]).
 *
 * Policies, by name:
 *   cluster     threads of a detected cluster share a chip, as far as the chips stay balanced
 *   hand        the same with the groups that the application states
 * They decide about chips first and change nothing at all unless that brings threads that share
 * together; within a chip threads are spread over cores and then CPUs, those of a cluster on as few
 * cores as that allows.
 *
 * Pure and deterministic: memory comes from the caller; one caller at a time per struct.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    ASSIGN_NONE = -1, /* no cluster, no single chip */
    ASSIGN_CPUS_MAX = 1024,
    ASSIGN_CHIPS_MAX = 64,
    ASSIGN_THREADS_MAX = 1024,
    ASSIGN_LOAD_FULL = 1000, /* of a thread that never sleeps */
    /* default: so much, or one thread, may a chip have above its fair part */
    ASSIGN_SLACK_PERMILLE = 125,
    /* default: sharing brought together that is worth moving threads for */
    ASSIGN_MIN_GAIN_PERMILLE = 20,
};

struct assign_cpu {
    uint16_t chip; /* dense */
    uint16_t core; /* dense over the whole machine */
};

struct assign_topology {
    unsigned cpus, chips, cores; /* every chip and core has a CPU */
    const struct assign_cpu *cpu;
};

struct assign_thread {
    unsigned cpu; /* where it runs or is queued now */
    int cluster;  /* detected now, or ASSIGN_NONE */
    /* of the detection before, or ASSIGN_NONE; numbered independently of cluster */
    int last_cluster;
    int stated; /* group the application states, or ASSIGN_NONE */
    /* in no cluster, and no samples that say it shares with nobody: what it shares with, if
     * anything, is on its own chip */
    bool silent;
    uint32_t load;           /* thousandths of a CPU it wants, 1..ASSIGN_LOAD_FULL */
    const uint64_t *allowed; /* mask of CPUs it may use, not empty; NULL: all */
};

struct assign_input {
    const struct assign_topology *topology;
    const struct assign_thread *thread; /* [threads] in order of creation */
    unsigned threads;
    unsigned clusters;      /* detected or stated: above every number used */
    const uint64_t *weight; /* [clusters] how much each shares (samples); NULL: by size */
    unsigned slack_permille, min_gain_permille;
};

/* Why a thread is where it is told to be. */
enum assign_why {
    ASSIGN_STAYS,     /* nothing calls for a move */
    ASSIGN_JOINS,     /* to the chip of its cluster */
    ASSIGN_SPREADS,   /* its cluster fits on no chip: it moves for balance */
    ASSIGN_BALANCES,  /* in no cluster: it moves for balance */
    ASSIGN_FORBIDDEN, /* may not run on its cluster's chip */
    ASSIGN_WHY_COUNT
};

/* What the whole decision came to. Only ASSIGN_MOVE moves threads. */
enum assign_verdict {
    ASSIGN_MOVE,
    ASSIGN_RIGHT,       /* what shares is together as far as it can be */
    ASSIGN_NO_GAIN,     /* too little would come together */
    ASSIGN_NO_CLUSTERS, /* nobody is known to share */
    ASSIGN_ONE_CHIP,    /* the machine has only one */
    ASSIGN_VERDICT_COUNT
};
extern const char *const assign_verdict_names[]; /* by enum assign_verdict */

struct assign_choice {
    unsigned cpu, chip;
    enum assign_why why;
};

struct placement {
    unsigned threads, clusters_max, cpus, chips; /* room for so many */
    /* The result of the last run. */
    enum assign_verdict verdict;
    unsigned migrations; /* threads told to change their chip */
    /* thousandths of all sharing that is within chips; after: had the verdict been to move */
    unsigned together_before, together_after;
    struct assign_choice *choice; /* [threads] */
    int *cluster_chip;            /* [clusters] or ASSIGN_NONE: spread */
    /* Scratch. */
    struct assign_unit *unit;
    unsigned *unit_of;                /* [threads] */
    unsigned *order;                  /* [units] in which they are placed */
    unsigned *chip_of;                /* [threads] chip to be */
    uint64_t *chips_allowed;          /* [threads] mask */
    uint64_t *stay;                   /* [units][chips] load that is there already */
    uint64_t *chip_load, *chip_limit; /* [chips] */
    unsigned *chip_cpus, *count;      /* [chips] */
    /* [chips] threads that cores may still get beyond their parts */
    unsigned *extra;
    unsigned *core_chip, *core_cpus, *core_threads, *mates; /* [cores] at most as many as CPUs */
    unsigned *cpu_threads;                                  /* [cpus] */
    unsigned *core_of;                                      /* [threads] core to be */
};

struct assign_policy {
    const char *name;
    void (*place)(struct placement *p, const struct assign_input *in);
};
extern const struct assign_policy assign_cluster, assign_hand;

/* Bytes of memory for so much, aligned to 8; 0 when out of range. There are never more clusters
 * than threads. */
size_t assign_bytes(unsigned threads, unsigned cpus, unsigned chips);
/* -EINVAL: bad numbers or alignment, -ENOMEM: bytes too few. */
int assign_init(struct placement *p, unsigned threads, unsigned cpus, unsigned chips, void *memory,
                size_t bytes);
/* For the policies: where thread t is, whether it may be on a CPU, and the decision that it stays,
 * with all others. */
static inline unsigned assign_chip_now(const struct assign_input *in, unsigned t)
{
    return in->topology->cpu[in->thread[t].cpu].chip;
}
static inline bool assign_may_use(const struct assign_thread *t, unsigned cpu)
{
    return !t->allowed || (t->allowed[cpu / 64] >> (cpu % 64) & 1);
}
static inline void assign_leave_all(struct placement *p, const struct assign_input *in,
                                    enum assign_verdict verdict)
{
    p->verdict = verdict;
    p->migrations = 0;
    for (unsigned t = 0; t < in->threads; t++)
        p->choice[t] =
            (struct assign_choice){in->thread[t].cpu, assign_chip_now(in, t), ASSIGN_STAYS};
}
/* NULL, or the invariant that the result of the last run breaks. */
const char *assign_check(const struct placement *p, const struct assign_input *in);

/* ---- Between assign.c, which chooses chips, and assign_cores.c, which chooses CPUs ------------- */
enum assign_unit_kind { UNIT_CLUSTER, UNIT_SILENT, UNIT_SINGLE };

/* Threads that move together. */
struct assign_unit {
    enum assign_unit_kind kind;
    int key;       /* cluster, or last cluster of silent threads */
    int chip;      /* chosen for all of it, or ASSIGN_NONE */
    unsigned from; /* silent: the chip its threads are on */
    unsigned size;
    uint64_t load;
};

/* A CPU for every thread on the chip chosen for it, in p->chip_of; the units of p->order[units] in
 * that order. */
void assign_on_cpus(struct placement *p, const struct assign_input *in, unsigned units);
