/*
 * Placement: which thread runs on which chip and CPU, given which threads share data ([Tam 2007]).
 *
 * Policies, by name:
 *   cluster  threads of a detected cluster share a chip, as far as the chips stay balanced
 *   hand     the same with the groups that the application states
 * They choose chips first, and change nothing unless that brings threads that share together.
 * Within a chip, threads are spread over cores and then CPUs, those of a cluster over as few cores
 * as that allows.
 *
 * Pure and deterministic: memory comes from the caller; one caller at a time per struct.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    ASSIGN_NONE = -1, /* no cluster; no single chip */
    ASSIGN_CPUS_MAX = 1024,
    ASSIGN_CHIPS_MAX = 64,
    ASSIGN_THREADS_MAX = 1024,
    ASSIGN_LOAD_FULL = 1000, /* load of a thread that never sleeps */
    /* Default slack: load a chip may have above its fair part, if it is more than one thread. */
    ASSIGN_SLACK_PERMILLE = 125,
    /* Default gain: sharing brought together that justifies moving threads. */
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
    unsigned cpu; /* on which it runs or is queued now */
    int cluster;  /* detected now, or ASSIGN_NONE */
    /* Of the detection before, or ASSIGN_NONE; its numbers are independent of `cluster`. */
    int last_cluster;
    int stated; /* group the application states, or ASSIGN_NONE */
    /* In no cluster, and without samples that show it shares with no other: its partners, if any,
     * are on its own chip. */
    bool silent;
    uint32_t load;           /* thousandths of a CPU it wants, 1 to ASSIGN_LOAD_FULL */
    const uint64_t *allowed; /* mask of CPUs it may use, not empty; NULL: all */
};

struct assign_input {
    const struct assign_topology *topology;
    const struct assign_thread *thread; /* [threads] in order of creation */
    unsigned threads;
    unsigned clusters;      /* number of clusters detected or groups stated */
    const uint64_t *weight; /* [clusters] samples each shares; NULL: by size */
    unsigned slack_permille, min_gain_permille;
};

/* Why a thread is assigned to its CPU. */
enum assign_why {
    ASSIGN_STAYS,     /* no reason to move */
    ASSIGN_JOINS,     /* moves to the chip of its cluster */
    ASSIGN_SPREADS,   /* moves for balance: its cluster fits on no chip */
    ASSIGN_BALANCES,  /* moves for balance: it is in no cluster */
    ASSIGN_FORBIDDEN, /* may not run on its cluster's chip */
    ASSIGN_WHY_COUNT
};

/* The result as a whole. Only ASSIGN_MOVE moves threads. */
enum assign_verdict {
    ASSIGN_MOVE,
    ASSIGN_RIGHT,       /* what shares is as much together as possible */
    ASSIGN_NO_GAIN,     /* too little sharing would come together */
    ASSIGN_NO_CLUSTERS, /* no thread is known to share */
    ASSIGN_ONE_CHIP,    /* the machine has one chip */
    ASSIGN_VERDICT_COUNT
};
extern const char *const assign_verdict_names[]; /* by enum assign_verdict */

struct assign_choice {
    unsigned cpu, chip;
    enum assign_why why;
};

struct placement {
    unsigned threads, clusters_max, cpus, chips; /* capacities */
    /* The result of the last run: the members up to cluster_chip. */
    enum assign_verdict verdict;
    unsigned migrations; /* threads assigned to another chip */
    /* Thousandths of all sharing that is within chips; after: if the verdict had been
     * ASSIGN_MOVE. */
    unsigned together_before, together_after;
    struct assign_choice *choice; /* [threads] */
    int *cluster_chip;            /* [clusters] or ASSIGN_NONE: spread over chips */
    /* Scratch. */
    struct assign_unit *unit;
    unsigned *unit_of;                /* [threads] */
    unsigned *order;                  /* [units] in order of placement */
    unsigned *chip_of;                /* [threads] chosen chip */
    uint64_t *chips_allowed;          /* [threads] mask of chips */
    uint64_t *stay;                   /* [units][chips] load of the unit that is on the chip now */
    uint64_t *chip_load, *chip_limit; /* [chips] */
    unsigned *chip_cpus, *count;      /* [chips] */
    /* [chips] threads that its cores may get beyond their parts. */
    unsigned *extra;
    unsigned *core_chip, *core_cpus, *core_threads, *mates; /* [cores], at most as many as CPUs */
    unsigned *cpu_threads;                                  /* [cpus] */
    unsigned *core_of;                                      /* [threads] chosen core */
};

struct assign_policy {
    const char *name;
    void (*place)(struct placement *p, const struct assign_input *in);
};
extern const struct assign_policy assign_cluster, assign_hand;

/* Returns the bytes of memory for these capacities, aligned to 8; 0 if they are out of range. There
 * are never more clusters than threads. */
size_t assign_bytes(unsigned threads, unsigned cpus, unsigned chips);
/* Returns 0, -EINVAL (bad numbers or alignment) or -ENOMEM (too few bytes). */
int assign_init(struct placement *p, unsigned threads, unsigned cpus, unsigned chips, void *memory,
                size_t bytes);
/* For the policies: returns the chip thread t is on; whether it may use a CPU; leaves all threads
 * where they are. */
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
/* Returns the invariant that the result of the last run breaks, or NULL. */
const char *assign_check(const struct placement *p, const struct assign_input *in);

/* ---- Between assign.c, which chooses chips, and assign_cores.c, which chooses CPUs ----------- */
enum assign_unit_kind { UNIT_CLUSTER, UNIT_SILENT, UNIT_SINGLE };

/* Threads that move together. */
struct assign_unit {
    enum assign_unit_kind kind;
    int key;       /* the cluster, or the last cluster of silent threads */
    int chip;      /* chosen for the whole unit, or ASSIGN_NONE */
    unsigned from; /* UNIT_SILENT: the chip of its threads */
    unsigned size;
    uint64_t load;
};

/* Chooses a CPU for every thread, on the chip p->chip_of says, serving the units in the order of
 * p->order[units]. */
void assign_on_cpus(struct placement *p, const struct assign_input *in, unsigned units);
