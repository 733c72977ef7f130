/* Boot arguments of the sharing detector. The thresholds are the same for all programs. */
#include "kernel/core/cmdline.h"
#include "sched/sharing/internal.h"

static uint64_t sched_shmap_entries;
uint64_t sched_watch_ms = 5, sched_remote_pct = 5, sched_sample_period, sched_cost_permille = 12,
         sched_samples_max = 256, sched_detect_ms = 500, sched_filter = SHMAP_SECOND, sched_cluster,
         sched_threshold, sched_slack_permille = ASSIGN_SLACK_PERMILLE, sched_seed = 1,
         sched_picture = 1;

/* Powers of two, as shMaps require. */
static const char *const entries_names[] = {"auto", "16",   "32",   "64",   "128", "256",
                                            "512",  "1024", "2048", "4096", NULL};
_Static_assert(16 << 8 == SHMAP_ENTRIES_MAX, "the largest choice");

/*
 * Returns a quarter of the number that is best for planted sharing without hot lines. Programs
 * share mostly few lines: a filter that holds only those shows the groups sooner, and clustering
 * costs time for each line.
 */
unsigned sharing_entries(unsigned threads)
{
    return sched_shmap_entries ? 8u << sched_shmap_entries : shmap_entries_for(threads) / 4;
}

const struct arg sharing_args[] = {
    {"sched.watch_ms", ARG_U64, &sched_watch_ms, 1, 10000, NULL, ARG_LIVE,
     "policy cluster looks at the stall breakdown this often, milliseconds"},
    {"sched.remote_pct", ARG_U64, &sched_remote_pct, 1, 100, NULL, ARG_LIVE,
     "part of its cycles a process may wait for other chips' caches before sharing is looked for, "
     "percent"},
    {"sched.sample_period", ARG_U64, &sched_sample_period, 0, 1 << 20, NULL, ARG_LIVE,
     "one access of N is sampled; 0: as sched.cost_permille allows"},
    {"sched.cost_permille", ARG_U64, &sched_cost_permille, 1, 1000, NULL, ARG_LIVE,
     "part of the CPUs' time that samples and clustering may cost while detection lasts, "
     "thousandths"},
    {"sched.samples_max", ARG_U64, &sched_samples_max, 10, 1000000, NULL, ARG_LIVE,
     "samples for each thread after which detection ends with the clusters at hand"},
    {"sched.detect_ms", ARG_U64, &sched_detect_ms, 1, 100000, NULL, ARG_LIVE,
     "detection is given up after so long, milliseconds"},
    {"sched.shmap_entries", ARG_CHOICE, &sched_shmap_entries, 0, 0, entries_names, ARG_LIVE,
     "counters in each thread's shMap; auto: by the number of threads"},
    {"sched.filter", ARG_CHOICE, &sched_filter, 0, 0, shmap_grant_names, ARG_LIVE,
     "a shMap entry belongs to the first line that hits it, or to the first that a second thread "
     "hits"},
    {"sched.cluster", ARG_TABLE, &sched_cluster, 0, 0, cluster_policies, ARG_LIVE,
     "how threads are clustered"},
    {"sched.threshold", ARG_U64, &sched_threshold, 0, UINT32_MAX, NULL, ARG_LIVE,
     "similarity from which threads are one cluster, in the clustering's own unit; 0: its default"},
    {"sched.slack_permille", ARG_U64, &sched_slack_permille, 0, 10000, NULL, ARG_LIVE,
     "load beyond its fair part that a chip may get to hold a cluster together, thousandths; one "
     "thread at least"},
    {"sched.seed", ARG_U64, &sched_seed, 0, UINT64_MAX, NULL, ARG_LIVE, "of the shMaps' hash"},
    {"sched.picture", ARG_BOOL, &sched_picture, 0, 1, NULL, ARG_LIVE,
     "print the shMaps after each detection"},
    {0},
};
