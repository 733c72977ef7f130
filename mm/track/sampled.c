/*
 * Tracker sampled: takes data addresses that the PMU records (hpm.h) as accesses to their pages. It
 * records one access in mem.sample_period of those that the first-level cache does not serve. This
 * tells which pages are used most, and about in which order; a page used seldom may never be seen.
 *
 * A thread takes the records of all CPUs every millisecond and logs those of watched spaces in
 * order of time. The detector and sampling sessions can record accesses beside it.
 */
#include "hpm/hpm.h"
#include "hpm/policy/breakdown.h"
#include "hpm/policy/sample.h"
#include "hpm/sampling.h"
#include "hpm/path/path.h"
#include "kernel/core/printf.h"
#include "mm/space.h"
#include "mm/track/internal.h"

#define TAKE_NS NS_PER_MS
#define BATCH   64 /* records taken at once */

static struct hpm_access *records; /* NULL: none has been opened yet */
static struct track_thread sampler = {.lock = SPINLOCK(LOCK_THREAD, "page samples")};
static struct {
    struct hpm_sample sample[BATCH];
    size_t count;
} batch; /* used by the thread only */

static void note_space(struct space *s, UNUSED void *arg)
{
    for (size_t i = 0; i < batch.count; i++) {
        const struct hpm_sample *r = &batch.sample[i];
        if (r->pid && r->pid == s->pid && r->user && r->data >= USER_MIN && r->data < USER_MAX)
            path_note(s->number, r->data, r->store);
    }
}

/* Sorts records by time. Those of one CPU come in order, one CPU after the other. */
static void sort_by_time(struct hpm_sample *r, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct hpm_sample it = r[i];
        size_t j = i;
        for (; j > 0 && r[j - 1].time > it.time; j--)
            r[j] = r[j - 1];
        r[j] = it;
    }
}

static void take_samples(void)
{
    do {
        batch.count = hpm_access_take(records, batch.sample, BATCH);
        sort_by_time(batch.sample, batch.count);
        if (batch.count)
            track_each_watched(note_space, NULL);
        sched_point();
    } while (batch.count == BATCH);
    track_deliver();
}

static void take_for_ever(UNUSED void *arg)
{
    for (;;) {
        track_thread_wait(&sampler);
        sched_sleep_until(arch_clock_ns() + TAKE_NS);
        take_samples();
    }
}

static int probe_sampled(void)
{
    if (!hpm_caps()->can_sample || !hpm_caps()->sampled)
        return -ENODEV;
    return track_thread_make(&sampler, "page samples", take_for_ever);
}

static int start_sampled(void)
{
    uint32_t all = hpm_caps()->sampled, beyond_l1 = all & ~(1u << SOURCE_L1);
    uint32_t period = (uint32_t)MAX(mem_sample_period, (uint64_t)hpm_caps()->sample_period_min);
    struct hpm_sampling config = {.sources = beyond_l1 ? beyond_l1 : all,
                                  .period = period,
                                  .jitter = period / 2,
                                  .user = true};
    int err = records ? 0 : hpm_access_open("pages", &records);

    err = err ? err : hpm_access_start(records, &config);
    if (err)
        kprintf("tracker: event=refused name=sampled reason=busy: %s: nothing is tracked\n",
                err == -ENOSPC ? "others have all of the PMU's records" : "the PMU refuses");
    else
        track_thread_run(&sampler, true);
    return err;
}

static void stop_sampled(void)
{
    track_thread_run(&sampler, false);
    hpm_access_stop(records);
}

const struct tracker_ops track_sampled = {
    .name = "sampled",
    .lacks = "there is no PMU that records data addresses",
    .probe = probe_sampled,
    .start = start_sampled,
    .stop = stop_sampled,
    .watch = track_watch_nothing,
    .hot = track_marked,
    .forget = track_forget_nothing,
};
