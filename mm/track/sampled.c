/*
 * Tracker sampled: data addresses that the PMU records (hpm.h), one access in mem.sample_period of
 * those that the first-level cache does not serve, taken as accesses to their pages. It tells
 * which pages are used most, and about in which order; a page used seldom may never be seen.
 *
 * A thread takes the records of all CPUs every millisecond and logs those of watched spaces in the
 * order of their times. There is one sampling session on a machine: while somebody else has it
 * nothing is tracked, and while this has it others are refused.
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
#define BATCH   64 /* records taken together */

static struct {
    struct spinlock lock;
    struct wait_queue wait;
    bool wanted; /* [lock] */
    struct thread *thread;
    struct hpm_sample batch[BATCH]; /* the thread's own */
    size_t count;
} sampled = {.lock = SPINLOCK(LOCK_THREAD, "page samples")};

static void note_space(struct space *s, UNUSED void *arg)
{
    for (size_t i = 0; i < sampled.count; i++) {
        const struct hpm_sample *r = &sampled.batch[i];
        if (r->pid && r->pid == s->pid && r->user && r->data >= USER_MIN && r->data < USER_MAX)
            path_note(s->number, r->data, r->store);
    }
}

/* Records of one CPU come in order, those of several one CPU after the other. */
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

static void take_all(void)
{
    do {
        sampled.count = hpm_sampling_take(sampled.batch, BATCH);
        sort_by_time(sampled.batch, sampled.count);
        if (sampled.count)
            track_each_watched(note_space, NULL);
        sched_point();
    } while (sampled.count == BATCH);
    track_deliver();
}

static void take_for_ever(UNUSED void *arg)
{
    for (;;) {
        bool irq = spin_lock(&sampled.lock);
        while (!sampled.wanted)
            wait_sleep(&sampled.wait, &sampled.lock, &irq, UINT64_MAX);
        spin_unlock(&sampled.lock, irq);
        sched_sleep_until(arch_clock_ns() + TAKE_NS);
        take_all();
    }
}

static int probe(void)
{
    const struct thread_params params = {
        .name = "page samples", .entry = take_for_ever, .prio = PRIO_KERNEL, .group = GROUP_NONE};

    if (!hpm_caps()->can_sample || !hpm_caps()->sampled)
        return -ENODEV;
    wait_init(&sampled.wait);
    if (thread_create(&params, &sampled.thread))
        return -ENOMEM;
    thread_start(sampled.thread);
    return 0;
}

static void want(bool wanted)
{
    bool irq = spin_lock(&sampled.lock);

    sampled.wanted = wanted;
    wait_wake(&sampled.wait, 1);
    spin_unlock(&sampled.lock, irq);
}

static int start(void)
{
    uint32_t all = hpm_caps()->sampled, beyond_l1 = all & ~(1u << SOURCE_L1);
    uint32_t period = (uint32_t)MAX(mem_sample_period, (uint64_t)hpm_caps()->sample_period_min);
    int err = hpm_sampling_start(&(struct hpm_sampling){.sources = beyond_l1 ? beyond_l1 : all,
                                                        .period = period,
                                                        .jitter = period / 2,
                                                        .user = true});

    if (err)
        kprintf("tracker: sampled: %s: nothing is tracked\n",
                err == -EBUSY ? "another sampling session has the PMU's records"
                              : "the PMU refuses");
    else
        want(true);
    return err;
}

static void stop(void)
{
    want(false);
    hpm_sampling_stop();
}

const struct tracker_ops track_sampled = {
    .name = "sampled",
    .lacks = "there is no PMU that records data addresses",
    .probe = probe,
    .start = start,
    .stop = stop,
    .watch = track_watch_nothing,
    .hot = track_marked,
    .forget = track_forget_nothing,
};
