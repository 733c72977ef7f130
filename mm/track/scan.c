/*
 * Tracker scan: accessed marks, looked at and cleared every so often. It tells which pages were
 * used in between, not in which order nor how often; where the processor sets no marks (Arm without
 * FEAT_HAFDBS) an access to a page whose mark is clear faults.
 *
 * A thread goes through each watched space's regions, logs the pages with marks, in the order of
 * their addresses, and has the TLBs forget the space, or marks would be missed.
 */
#include "hpm/path/path.h"
#include "kernel/core/printf.h"
#include "mm/space.h"
#include "mm/track/internal.h"
#include "kernel/mem/mem.h"

static struct {
    struct spinlock lock;
    struct wait_queue wait;
    bool wanted; /* [lock] */
    struct thread *thread;
} scan = {.lock = SPINLOCK(LOCK_THREAD, "scan")};

/* Logs and clears the marks of a row, and counts the pages that had one. */
static void scan_row(struct space *s, vaddr_t va, const struct arch_page *page, unsigned n,
                     void *used)
{
    for (unsigned i = 0; i < n; i++) {
        if (page[i].kind != ARCH_PAGE_HERE || !(page[i].marks & ARCH_USED))
            continue;
        arch_space_mark(&s->arch, va + i * PAGE_SIZE, ARCH_USED, 0);
        path_note(s->number, va + i * PAGE_SIZE, page[i].marks & ARCH_WRITTEN);
        ++*(unsigned *)used;
    }
}

static void scan_space(struct space *s, UNUSED void *arg)
{
    unsigned used = 0;

    for (vaddr_t va = 0; va < USER_MAX;) {
        va = track_rows(s, va, scan_row, &used);
        track_deliver();
        sched_point();
    }
    if (used)
        tlb_shootdown(&s->arch, 0, 0);
}

static void scan_for_ever(UNUSED void *arg)
{
    for (;;) {
        bool irq = spin_lock(&scan.lock);
        while (!scan.wanted)
            wait_sleep(&scan.wait, &scan.lock, &irq, UINT64_MAX);
        spin_unlock(&scan.lock, irq);
        sched_sleep_until(arch_clock_ns() + mem_scan_ms * NS_PER_MS);
        track_each_watched(scan_space, NULL);
    }
}

static int probe(void)
{
    const struct thread_params params = {
        .name = "page scan", .entry = scan_for_ever, .prio = PRIO_KERNEL, .group = GROUP_NONE};

    wait_init(&scan.wait);
    if (thread_create(&params, &scan.thread))
        return -ENOMEM;
    thread_start(scan.thread);
    return 0;
}

static void want(bool wanted)
{
    bool irq = spin_lock(&scan.lock);

    scan.wanted = wanted;
    wait_wake(&scan.wait, 1);
    spin_unlock(&scan.lock, irq);
}

static int start(void)
{
    want(true);
    return 0;
}

static void stop(void)
{
    want(false);
}

const struct tracker_ops track_scan = {
    .name = "scan",
    .lacks = "",
    .probe = probe,
    .start = start,
    .stop = stop,
    .watch = track_watch_nothing,
    .hot = track_marked,
    .forget = track_forget_nothing,
};
