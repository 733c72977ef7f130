/*
 * The samples of one process during one detection: its threads' shMaps and their clustering. The
 * pure policies do the work (shmap.c, cluster*.c); this file has their memory and the rows of the
 * threads.
 */
#include "kernel/mem/mem.h"
#include "sched/sharing/internal.h"
#include "hpm/policy/sample.h"

/* mostly clear: at most one doubtful thread for each of this many members */
#define CLEAR_PART       3
#define CLEAR_CHECKS     2 /* checks in a row in which the clusters agreed, to be mostly clear */
#define CLEAR_CHECKS_FEW 3 /* the same while less than half of the threads are in clusters */
/* Samples for each thread before the first clustering, which costs as much as about 1,000
 * samples. */
#define DECIDE_PER_THREAD     48
#define DECIDE_GROWTH_PERCENT 140 /* growth of the samples before each further one */

void detection_free(struct detection *d)
{
    if (!d)
        return;
    for (unsigned i = 0; i < ARRAY_SIZE(d->memory); i++)
        kfree(d->memory[i]);
    kfree(d);
}

/* Lists up to `max` threads by ascending id. Threads that come later wait for the next detection.
 * Returns the number listed. */
static unsigned list_threads(struct sharing_process *p, uint32_t *tid, unsigned max)
{
    unsigned n = 0;
    bool irq = spin_lock(&sharing_lock);

    list_for_each (it, &p->members) {
        const struct thread *t = container_of(it, struct thread, sharing.link);
        if (n == max)
            break;
        unsigned at = n++;
        uint32_t id = t->tid;
        for (; at && tid[at - 1] > id; at--)
            tid[at] = tid[at - 1];
        tid[at] = id;
    }
    spin_unlock(&sharing_lock, irq);
    return n;
}

static int allocate(struct detection *d, unsigned threads, size_t table_bytes, size_t cluster_size)
{
    size_t sizes[] = {threads * sizeof(*d->tid),
                      table_bytes,
                      cluster_size,
                      threads * sizeof(*d->watch.of),
                      threads * sizeof(*d->placed_of),
                      threads * sizeof(*d->placed_chip)};

    _Static_assert(ARRAY_SIZE(sizes) == ARRAY_SIZE(d->memory), "each has its place");

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        d->memory[i] = kmalloc(sizes[i]);
        if (!d->memory[i])
            return -ENOMEM;
    }
    return 0;
}

static int set_up(struct sharing_process *p, struct detection *d)
{
    bool irq = spin_lock(&sharing_lock);
    unsigned count = p->count;

    spin_unlock(&sharing_lock, irq);
    struct shmap_config config = {.threads = MIN(count, (unsigned)SHMAP_THREADS_MAX),
                                  .entries = sharing_entries(count),
                                  .line_bytes = hpm_caps()->line_bytes,
                                  .grant = (enum shmap_grant)sched_filter,
                                  .seed = sched_seed + arch_clock_ns()};
    size_t table_bytes = shmap_bytes(&config),
           cluster_size = cluster_bytes(config.threads, config.entries);

    if (!table_bytes || !cluster_size)
        return -EINVAL;
    if (allocate(d, config.threads, table_bytes, cluster_size))
        return -ENOMEM;
    d->pid = p->pid;
    d->tid = d->memory[0];
    d->placed_of = d->memory[4];
    d->placed_chip = d->memory[5];
    config.threads = d->threads = list_threads(p, d->tid, config.threads);
    if (d->threads < 2)
        return -ESRCH;
    int err = shmap_init(&d->table, &config, d->memory[1], table_bytes);
    if (!err)
        err = cluster_init(&d->clustering, d->threads, config.entries, d->memory[2], cluster_size);
    if (!err)
        cluster_watch_start(&d->watch, d->threads, sched_samples_max * d->threads, d->memory[3]);
    d->begin_ns = arch_clock_ns();
    d->next_decision = DECIDE_PER_THREAD * d->threads;
    return err;
}

int detection_create(struct sharing_process *p, struct detection **out)
{
    struct detection *d = kmalloc(sizeof(*d));
    int err = d ? set_up(p, d) : -ENOMEM;

    if (err) {
        detection_free(d);
        return err;
    }
    *out = d;
    return 0;
}

/* Returns the side of a sample. What the kernel has for a process, all its threads use: of the
 * kernel's lines only those count that lie between processes, as a connection's do. */
static unsigned side_of(const struct hpm_sample *sample, unsigned row)
{
    return sample->user ? row : SHMAP_THREADS_MAX + sample->pid;
}

/* Returns the address by which shMaps know the line of a sample. The kernel's lines have one for
 * all processes. User lines of connected processes differ in bits that no user address has. */
static uint64_t line_of(const struct detection *d, const struct hpm_sample *sample)
{
    return sample->user ? sample->data ^ (uint64_t)(sample->pid - d->pid) << 48 : sample->data;
}

/* Returns the thread's row, or d->threads: it began later. */
static unsigned row_of(const struct detection *d, uint32_t tid)
{
    unsigned low = 0, high = d->threads;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (d->tid[middle] < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->threads && d->tid[low] == tid ? low : d->threads;
}

void detection_record(struct detection *d, const struct hpm_sample *sample)
{
    unsigned row = row_of(d, sample->tid);

    if (row < d->threads)
        shmap_record(&d->table, row, side_of(sample, row), line_of(d, sample));
    else
        d->foreign++;
    d->accesses += sample->period;
}

void detection_placed(struct detection *d, const struct sharing_process *p)
{
    memcpy(d->placed_of, d->clustering.of, d->threads * sizeof(*d->placed_of));
    bool irq = spin_lock(&sharing_lock);

    list_for_each (it, &p->members) {
        const struct thread *t = container_of(it, struct thread, sharing.link);
        unsigned row = row_of(d, t->tid);
        if (row < d->threads)
            d->placed_chip[row] = (uint16_t)t->sharing.chip;
    }
    spin_unlock(&sharing_lock, irq);
}

enum cluster_verdict detection_decide(struct detection *d, bool now)
{
    const struct cluster_policy *policy = cluster_policies[sched_cluster];
    uint64_t samples = shmap_samples(&d->table);

    if (!now && (samples < d->watch.next_check || samples < d->next_decision))
        return CLUSTER_WAIT;
    d->decisions++;
    d->next_decision = samples * DECIDE_GROWTH_PERCENT / 100;
    cluster_run(&d->clustering, policy, d->table.count,
                sched_threshold ? (uint32_t)sched_threshold : policy->threshold);
    if (d->early_ns)
        cluster_keep(&d->clustering, d->placed_of, d->placed_chip);
    return cluster_is_final(&d->watch, &d->clustering, samples) ? d->watch.verdict : CLUSTER_WAIT;
}

static unsigned threads_that_are(const struct detection *d, enum cluster_why why)
{
    unsigned n = 0;

    for (unsigned t = 0; t < d->threads; t++)
        n += d->clustering.why[t] == why;
    return n;
}

unsigned detection_members(const struct detection *d)
{
    return threads_that_are(d, CLUSTER_MEMBER);
}

unsigned detection_doubtful(const struct detection *d)
{
    return threads_that_are(d, CLUSTER_UNSURE) + threads_that_are(d, CLUSTER_ALONE);
}

bool detection_mostly_clear(const struct detection *d)
{
    unsigned members = detection_members(d), agreed = d->watch.agreed;
    bool most = 2 * members >= d->threads && CLEAR_PART * detection_doubtful(d) <= members;

    return agreed >= (most ? CLEAR_CHECKS : CLEAR_CHECKS_FEW);
}
