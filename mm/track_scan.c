/*
 * Tracker scan: accessed marks, looked at and cleared every so often.  It tells which pages were used in between, not in which order nor
 * how often; where the processor sets no marks (Arm without FEAT_HAFDBS) an access to a page whose mark is clear faults.
 *
 * A thread goes through each watched space's regions, logs the pages with marks, in the order of their addresses, and has the TLBs
 * forget the space, or marks would be missed.
 */
#include "hpm/path/path.h"
#include "kernel/printf.h"
#include "mm/space.h"
#include "mm/track_args.h"

#define ROW     32   /* pages looked at in one go: an aligned block of them    */
#define STRETCH 2048 /* pages in one stretch under the space's lock            */

static struct {
    struct spinlock lock;
    struct wait_queue wait;
    bool wanted; /* [lock] */
    struct thread *thread;
} scan = {.lock = SPINLOCK(LOCK_THREAD, "scan")};

/* Logs and clears the marks of a row; how many pages had one. */
static unsigned scan_row_locked(struct space *s, vaddr_t va, unsigned n)
{
    struct arch_page page[ROW];
    unsigned used = 0;

    if (!arch_space_look(&s->arch, va, n, page))
        return 0;
    for (unsigned i = 0; i < n; i++) {
        if (page[i].kind != ARCH_PAGE_HERE || !(page[i].marks & ARCH_USED))
            continue;
        arch_space_mark(&s->arch, va + i * PAGE_SIZE, ARCH_USED, 0);
        path_note(s->number, va + i * PAGE_SIZE, page[i].marks & ARCH_WRITTEN);
        used++;
    }
    return used;
}

/* From va on, as far as a stretch goes; how far it came, USER_MAX at the end. */
static vaddr_t scan_stretch(struct space *s, vaddr_t va, unsigned *used)
{
    bool irq = spin_lock(&s->lock);
    const struct regions *r = &s->regions;
    unsigned pages = 0;

    for (uint32_t i = regions_index(r, va); i < r->count && pages < STRETCH; i++) {
        va = MAX(va, r->items[i].touched_lo);
        while (va < r->items[i].touched_hi && pages < STRETCH) {
            vaddr_t end = MIN(ALIGN_DOWN(va, ROW * PAGE_SIZE) + ROW * PAGE_SIZE, r->items[i].touched_hi);
            *used += scan_row_locked(s, va, (unsigned)((end - va) >> PAGE_SHIFT));
            pages += ROW;
            va = end;
        }
    }
    spin_unlock(&s->lock, irq);
    return pages < STRETCH ? USER_MAX : va;
}

static void scan_space(struct space *s, UNUSED void *arg)
{
    unsigned used = 0;

    for (vaddr_t va = 0; va < USER_MAX;) {
        va = scan_stretch(s, va, &used);
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
        sched_sleep_until(arch_clock_ns() + track_scan_ms * NS_PER_MS);
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
    .probe = probe,
    .start = start,
    .stop = stop,
};
