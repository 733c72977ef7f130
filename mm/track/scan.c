/*
 * Tracker scan: looks at accessed marks, and clears them, every mem.scan_ms. It tells which pages
 * were used in between, not their order or how often. Where the processor sets no marks (Arm
 * without FEAT_HAFDBS), an access to a page with a clear mark faults.
 *
 * A thread goes through the regions of each watched space, logs the pages with marks in order of
 * address, and has the TLBs forget the space, because the processor sets no mark for a page that a
 * TLB knows as accessed.
 */
#include "hpm/path/path.h"
#include "kernel/core/printf.h"
#include "mm/space.h"
#include "mm/track/internal.h"
#include "kernel/mem/mem.h"

#define STRETCH 2048 /* pages looked at in one hold of the space's lock */

static struct track_thread scan = {.lock = SPINLOCK(LOCK_THREAD, "scan")};

/* Returns whether there was a page. */
static bool look_at_row_locked(struct space *s, vaddr_t va, unsigned n, track_row *f, void *arg)
{
    struct arch_page page[TRACK_ROW];

    if (!arch_space_look(&s->arch, va, n, page))
        return false;
    f(s, va, page, n, arg);
    return true;
}

vaddr_t track_rows(struct space *s, vaddr_t va, track_row *f, void *arg)
{
    bool irq = spin_lock(&s->lock);
    const struct region *r = regions_above(&s->regions, va);
    unsigned pages = 0;

    for (; r && pages < STRETCH; r = region_next(r)) {
        va = MAX(va, r->touched_lo);
        while (va < r->touched_hi && pages < STRETCH) {
            vaddr_t end =
                MIN(ALIGN_DOWN(va, TRACK_ROW * PAGE_SIZE) + TRACK_ROW * PAGE_SIZE, r->touched_hi);
            bool some = look_at_row_locked(s, va, (unsigned)((end - va) >> PAGE_SHIFT), f, arg);
            pages += TRACK_ROW;
            va = some ? end : arch_space_skip(&s->arch, end, r->touched_hi);
        }
    }
    spin_unlock(&s->lock, irq);
    return pages < STRETCH ? USER_MAX : va;
}

/* Logs and clears the marks of a row, and adds the pages that had one to *used. */
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
        track_thread_wait(&scan);
        sched_sleep_until(arch_clock_ns() + mem_scan_ms * NS_PER_MS);
        track_each_watched(scan_space, NULL);
    }
}

static int probe_scan(void)
{
    return track_thread_make(&scan, "page scan", scan_for_ever);
}

static int start_scan(void)
{
    track_thread_run(&scan, true);
    return 0;
}

static void stop_scan(void)
{
    track_thread_run(&scan, false);
}

const struct tracker_ops track_scan = {
    .name = "scan",
    .lacks = "",
    .probe = probe_scan,
    .start = start_scan,
    .stop = stop_scan,
    .watch = track_watch_nothing,
    .hot = track_marked,
    .forget = track_forget_nothing,
};
