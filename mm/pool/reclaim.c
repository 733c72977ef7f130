/* See reclaim.h. */
#include "mm/pool/reclaim.h"
#include "mm/pool/divide.h"
#include "kernel/mem/frame.h"
#include "mm/pool/args.h"
#include "mm/pool/reclaim_line.h"
#include "mm/pool/page_io.h"
#include "mm/pool/swap.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "mm/track/track.h"

/* Interval at which a thread that waits for a frame looks again, because not all frames that become
 * free wake it */
#define LOOK_NS     (1 * NS_PER_MS)
#define DONATION    16   /* most pages evicted at once for memory as a whole */
#define KERNEL_PART 64   /* the kernel's reserve is 1/64 of all frames ... */
#define KERNEL_MIN  256  /* ... but at least this */
#define KERNEL_MAX  4096 /* ... and at most this */
#define AMPLE_PART  4    /* memory is no longer short when 1/4 of the limit is free */
/* Further looks in vain, after all pages were looked at, before there is no more memory */
#define HOPELESS_LOOKS 3

static uint32_t user_frames;  /* [A] charged to all pools */
static uint32_t user_leaving; /* [A] nodes of all pools that are GOING or WRITING */
/* [A] pages that threads are about to evict for memory as a whole */
static uint32_t user_donated;
static uint32_t kernel_frames; /* [-] the kernel's reserve */
/* [A] further frames that the kernel is about to take */
static uint64_t kernel_wants;
static uint32_t all_frames = UINT32_MAX / 2; /* [-] of the machine */

static struct {
    struct spinlock lock;
    bool asked;             /* [lock] */
    struct wait_queue wait; /* [lock] */
} reclaim = {.lock = SPINLOCK(LOCK_SWAP, "reclaim")};

/* ---- Charging -------------------------------------------------------------------------------- */

/* Returns an [A] counter, as of some moment. */
static uint32_t count_now(const uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static uint32_t user_limit(void)
{
    return (uint32_t)MIN(mem_user / PAGE_SIZE, (uint64_t)all_frames);
}

/* Returns the frames that are kept free of those that all pools may have. */
static uint32_t user_reserve(void)
{
    return pool_reserve_of(user_limit());
}

uint32_t pools_memory(void)
{
    struct frame_stats stats;

    frame_stats(&stats);
    uint64_t most = MIN(user_limit(), stats.total_pages - MIN(stats.total_pages, kernel_frames));
    return (uint32_t)(most - MIN(most, user_reserve()));
}

static uint64_t kernel_keeps(void)
{
    return kernel_frames + __atomic_load_n(&kernel_wants, __ATOMIC_RELAXED);
}

static uint64_t saturating_sub(uint64_t n, uint64_t part)
{
    return n - MIN(n, part);
}

/* A page that is leaving has its slot, and will give its frame; one of a file that is elsewhere
 * gives its own for a process's. */
uint64_t pool_room_pages(const struct pool *p)
{
    const struct pool *files = p->files ? NULL : pool_of_files();
    uint64_t leaving = count_now(&user_leaving) + (files ? count_now(&files->elsewhere) : 0),
             frames = saturating_sub(frame_free_about() + leaving, kernel_keeps());
    struct swap_stats swap;

    swap_stats(&swap);
    frames = MIN(frames, saturating_sub(user_limit() + leaving, count_now(&user_frames)));
    frames = MIN(frames, saturating_sub((uint64_t)p->limit + p->leaving, p->frames));
    return frames + (swap_present() && !swap_failed() ? swap.free_slots : 0);
}

/* Tells whether memory as a whole has no `more` frames for pools. */
static bool memory_short(uint32_t more)
{
    return count_now(&user_frames) + more > user_limit() ||
           frame_free_about() < kernel_keeps() + more;
}

/* Tells the same for when all pages that are leaving have left: then further pages must be
 * evicted. */
static bool memory_stays_short(uint32_t more)
{
    uint64_t leaving = (uint64_t)count_now(&user_leaving) + count_now(&user_donated);

    return count_now(&user_frames) + (uint64_t)more > user_limit() + leaving ||
           frame_free_about() + leaving < kernel_keeps() + more;
}

void pool_leaving_locked(struct pool *p, int more)
{
    p->leaving += (uint32_t)more;
    __atomic_add_fetch(&user_leaving, (uint32_t)more, __ATOMIC_RELAXED);
}

/* Charges p for a frame, if one is left besides those for the threads in line before w. */
static bool charge_locked(struct pool *p, const struct line_ticket *w)
{
    if (p->frames >= pool_cap_locked(p) || memory_short(line_before(w) + 1))
        return false;
    p->frames++;
    p->vain = 0;
    __atomic_add_fetch(&user_frames, 1, __ATOMIC_RELAXED);
    return true;
}

void pool_uncharge_locked(struct pool *p, uint32_t frames)
{
    ASSERT(p->frames >= frames);
    p->frames -= frames;
    __atomic_sub_fetch(&user_frames, frames, __ATOMIC_RELAXED);
    wait_wake(&p->room, UINT32_MAX);
    line_call(frames);
}

void pool_uncharge(struct pool *p, uint32_t frames)
{
    bool irq = spin_lock(&p->lock);

    pool_uncharge_locked(p, frames);
    spin_unlock(&p->lock, irq);
}

/* Returns the pages to evict, besides those that are leaving, until `free` frames of p's cap are
 * free. */
static uint32_t missing_locked(const struct pool *p, uint32_t free)
{
    uint64_t have = (uint64_t)p->frames + free,
             allowed = (uint64_t)pool_cap_locked(p) + p->leaving + p->promised;

    return have > allowed ? (uint32_t)(have - allowed) : 0;
}

static void ask_reclaim(void)
{
    bool irq = spin_lock(&reclaim.lock);

    if (!reclaim.asked) {
        reclaim.asked = true;
        wait_wake(&reclaim.wait, 1);
    }
    spin_unlock(&reclaim.lock, irq);
}

/* ---- Memory as a whole ----------------------------------------------------------------------- */

/* Returns an even part, for each pool, of the frames that pools can keep now. */
static uint32_t even_part(void)
{
    uint64_t have = count_now(&user_frames) + frame_free_about(),
             keep = kernel_frames + (uint64_t)user_reserve();
    uint64_t most = MIN(user_limit() - MIN(user_limit(), user_reserve()), have - MIN(have, keep));

    return (uint32_t)most / MAX(pools_number(), 1u);
}

/* Returns the frames that p keeps when memory is short: its target; or, until there is a plan, the
 * frames it had when memory became short, as in its first plan (mm/policy/divide/plan.h), or an
 * even part if that is more. Until then only present sizes are known, and a pool that has more than
 * an even part and wants still more pays for that itself. */
static uint32_t share_locked(const struct pool *p)
{
    return p->share.target ? p->share.target : MAX(p->share.kept, even_part());
}

/* Returns by how much p exceeds its share, or minus the frames it lacks, counting the frames that
 * its threads in line wait for, and not pages that are leaving. While memory stays short some pool
 * exceeds its share, because the shares together leave some frames free. */
static int64_t excess_locked(const struct pool *p)
{
    return (int64_t)p->frames + p->waiting - p->leaving - p->promised - share_locked(p);
}

struct donor {
    int64_t below, excess; /* the largest excess less than `below` */
    uint32_t given;
    bool found;
};

static void find_donor(struct pool *p, void *arg)
{
    struct donor *d = arg;
    bool irq = spin_lock(&p->lock);
    if (mem_goal && !p->share.kept)
        p->share.kept = p->frames;
    int64_t excess = excess_locked(p);

    spin_unlock(&p->lock, irq);
    if (excess >= d->below)
        return;
    d->excess = d->found ? MAX(d->excess, excess) : excess;
    d->found = true;
}

/* Evicts pages of p if it is the donor that was found: up to its excess, at most a batch. A pool
 * without excess gives a batch: no pool has any. */
static void take_from_donor(struct pool *p, void *arg)
{
    struct donor *d = arg;
    bool irq = spin_lock(&p->lock);
    int64_t excess = excess_locked(p);
    bool gives = !d->given && excess >= d->excess && excess < d->below;
    uint32_t n = excess > 0 ? (uint32_t)MIN(excess, (int64_t)DONATION) : DONATION;

    if (gives)
        p->promised += n;
    spin_unlock(&p->lock, irq);
    if (!gives)
        return;
    __atomic_add_fetch(&user_donated, n, __ATOMIC_RELAXED);
    d->given = evict_batch(p, n, NODE_NONE);
    __atomic_sub_fetch(&user_donated, n, __ATOMIC_RELAXED);
    irq = spin_lock(&p->lock);
    p->promised -= n;
    spin_unlock(&p->lock, irq);
}

/* Evicts from the pool furthest above its share or, if none of its pages can be evicted now, from
 * the next one. Pools within their shares are not asked while pages are leaving elsewhere. Returns
 * the number of pages evicted. */
static unsigned evict_anywhere(void)
{
    struct donor d = {.excess = INT64_MAX};

    do {
        bool first = d.excess == INT64_MAX;
        d.below = d.excess;
        d.found = false;
        pools_each(find_donor, &d);
        if (!d.found || (!first && d.excess <= 0 && count_now(&user_leaving)))
            break;
        pools_each(take_from_donor, &d);
    } while (!d.given);
    return d.given;
}

/* ---- Direct reclaim -------------------------------------------------------------------------- */

/* Tells whether p may get a frame from pages, reads or charges that are under way. */
static bool may_get_frame_locked(const struct pool *p)
{
    return p->leaving || p->promised || p->coming || p->frames > p->held;
}

/* Tells whether p has all frames that it may have. */
static bool at_limit(struct pool *p)
{
    bool irq = spin_lock(&p->lock);
    bool is = p->frames >= pool_cap_locked(p);

    spin_unlock(&p->lock, irq);
    return is;
}

/* Waits until p gives a frame back (`own`) or the thread in line is called, but no longer than
 * LOOK_NS. Returns 0 or -EINTR. */
static int wait_for_room(struct pool *p, bool own, struct line_ticket *w)
{
    int err = 0;
    bool irq = spin_lock(&p->lock);

    p->stats.waits_for_room++;
    if (own && p->frames >= pool_cap_locked(p))
        err = wait_sleep(&p->room, &p->lock, &irq, arch_clock_ns() + LOOK_NS);
    spin_unlock(&p->lock, irq);
    if (!own)
        err = line_wait(w, arch_clock_ns() + LOOK_NS);
    return err == -EINTR ? err : 0;
}

/* Puts the thread in line for memory as a whole, or takes it out. */
static void set_in_line(struct pool *p, struct line_ticket *w, bool in_line)
{
    if (in_line == w->is_in_line)
        return;
    bool irq = spin_lock(&p->lock);
    p->waiting += in_line ? 1 : -1u;
    spin_unlock(&p->lock, irq);
    (in_line ? line_join : line_leave)(w);
}

/* Evicts pages of p until `free` frames of its cap are free. Returns the number of pages
 * evicted. */
static unsigned shrink_pool(struct pool *p, uint32_t incoming, uint32_t free)
{
    bool irq = spin_lock(&p->lock);
    uint32_t n = missing_locked(p, free);

    p->promised += n;
    spin_unlock(&p->lock, irq);
    unsigned left = n ? evict_batch(p, n, incoming) : 0;
    irq = spin_lock(&p->lock);
    p->promised -= n;
    spin_unlock(&p->lock, irq);
    return left;
}

/* Tells whether p may get a frame from what is under way, in p (`own`) or in any pool. */
static bool may_get_frame(struct pool *p, bool own)
{
    bool irq = spin_lock(&p->lock);
    bool is = may_get_frame_locked(p);

    spin_unlock(&p->lock, irq);
    return is || (!own && count_now(&user_leaving));
}

static void find_untried(struct pool *p, void *found)
{
    bool irq = spin_lock(&p->lock);

    if (!evict_tried_all_locked(p))
        *(bool *)found = true;
    spin_unlock(&p->lock, irq);
}

static void retry_all(struct pool *p, UNUSED void *arg)
{
    bool irq = spin_lock(&p->lock);

    p->vain = 0;
    spin_unlock(&p->lock, irq);
}

/* Calls f for p (`own`) or for all pools. */
static void each_concerned(struct pool *p, bool own, void (*f)(struct pool *p, void *arg),
                           void *arg)
{
    if (own)
        f(p, arg);
    else
        pools_each(f, arg);
}

/* Decides what to do after a look in vain while nothing is under way. *looks counts looks in vain
 * beyond those at all pages. After HOPELESS all pages are to be looked at again. */
static enum outlook { WAIT, LOOK_ON, HOPELESS } outlook(struct pool *p, bool own, unsigned *looks)
{
    bool untried = false;

    each_concerned(p, own, find_untried, &untried);
    if (untried)
        return LOOK_ON;
    if (++*looks <= HOPELESS_LOOKS)
        return WAIT;
    each_concerned(p, own, retry_all, NULL);
    return HOPELESS;
}

static void set_short_locked(struct pool *p, bool is_short)
{
    __atomic_store_n(&p->is_short, is_short, __ATOMIC_RELAXED);
}

/* Tries to charge p for a frame for the thread w. Asks the reclaim thread for more if few are left,
 * and keeps p->is_short up to date. Returns whether a frame was charged. */
static bool try_charge(struct pool *p, const struct line_ticket *w)
{
    bool irq = spin_lock(&p->lock);
    bool done = charge_locked(p, w),
         few = missing_locked(p, p->reserve / 2) || memory_short(user_reserve() / 2);

    if (few)
        set_short_locked(p, true);
    else if (p->is_short && missing_locked(p, p->limit / AMPLE_PART) == 0 &&
             !memory_short(user_limit() / AMPLE_PART))
        set_short_locked(p, false);
    spin_unlock(&p->lock, irq);
    if (few)
        ask_reclaim();
    return done;
}

/* Makes room for a frame, once, or waits. Returns 0: try again; 1: a frame was charged; or an error
 * as pool_charge. */
static int make_room(struct pool *p, uint32_t incoming, struct line_ticket *w, unsigned *hopeless)
{
    bool own = at_limit(p);

    set_in_line(p, w, !own);
    /* enough pages are leaving for all threads in line */
    if (!own && !memory_stays_short(line_length()))
        return wait_for_room(p, own, w);
    if (own ? shrink_pool(p, incoming, 1) : evict_anywhere()) {
        *hopeless = 0;
        return try_charge(p, w) ? 1 : wait_for_room(p, own, w);
    }
    switch (may_get_frame(p, own) ? WAIT : outlook(p, own, hopeless)) {
    case WAIT:
        return wait_for_room(p, own, w);
    case LOOK_ON:
        sched_point();
        return 0;
    default: /* at the pool's own limit, frames of other pools are of no use */
        return own && !p->global ? -EDQUOT : -ENOMEM;
    }
}

int pool_charge(struct pool *p, uint32_t incoming)
{
    struct line_ticket w = {0};
    unsigned hopeless = 0;

    may_wait("wait for a frame");
    int done = try_charge(p, &w);

    while (!done)
        done = make_room(p, incoming, &w, &hopeless) ?: try_charge(p, &w);
    set_in_line(p, &w, false);
    return MIN(done, 0);
}

bool pool_charge_now(struct pool *p)
{
    static const struct line_ticket none;

    return try_charge(p, &none) ||
           (at_limit(p) && shrink_pool(p, NODE_NONE, p->reserve / 2) && try_charge(p, &none));
}

/* ---- For the kernel -------------------------------------------------------------------------- */

static int wait_briefly(struct pool *p)
{
    bool irq = spin_lock(&p->lock);
    int err = wait_sleep(&p->room, &p->lock, &irq, arch_clock_ns() + LOOK_NS);

    spin_unlock(&p->lock, irq);
    return err == -EINTR ? err : 0;
}

/* As make_room, for the kernel. Frames that threads have in hand are no hope: these threads may
 * wait for the caller. */
static int make_room_for_kernel(struct pool *p, unsigned *hopeless)
{
    if (!memory_stays_short(0))
        return wait_briefly(p);
    bool left = evict_anywhere();
    if (left)
        *hopeless = 0;
    switch (left ? LOOK_ON : count_now(&user_leaving) ? WAIT : outlook(p, false, hopeless)) {
    case WAIT:
        return wait_briefly(p);
    case LOOK_ON:
        sched_point();
        return 0;
    default:
        return -ENOMEM;
    }
}

int reclaim_for_kernel(struct pool *p, uint64_t frames)
{
    unsigned hopeless = 0;
    int err = 0;

    may_wait("wait for frames");
    __atomic_add_fetch(&kernel_wants, frames, __ATOMIC_RELAXED);
    while (!err && frame_free_about() < kernel_keeps())
        err = make_room_for_kernel(p, &hopeless);
    return err;
}

void reclaim_taken(uint64_t frames)
{
    __atomic_sub_fetch(&kernel_wants, frames, __ATOMIC_RELAXED);
    line_call((uint32_t)frames); /* threads that looked in vain meanwhile look again */
}

/* ---- The reclaim thread ---------------------------------------------------------------------- */

static void fill_reserve(struct pool *p, UNUSED void *arg)
{
    while (shrink_pool(p, NODE_NONE, p->reserve))
        sched_point();
}

static void reclaim_for_ever(UNUSED void *arg)
{
    for (;;) {
        bool irq = spin_lock(&reclaim.lock);
        while (!reclaim.asked)
            wait_sleep(&reclaim.wait, &reclaim.lock, &irq, UINT64_MAX);
        reclaim.asked = false;
        spin_unlock(&reclaim.lock, irq);
        pools_each(fill_reserve, NULL);
        while (memory_stays_short(user_reserve() + line_length()) && evict_anywhere())
            sched_point();
    }
}

void paging_start(void)
{
    struct frame_stats stats;

    page_io_init();
    swap_init();
    track_attach(pool_sink);
    frame_stats(&stats);
    all_frames = (uint32_t)MIN(stats.total_pages, (uint64_t)UINT32_MAX / 2);
    kernel_frames = (uint32_t)MIN(MAX(stats.total_pages / KERNEL_PART, (uint64_t)KERNEL_MIN),
                                  (uint64_t)KERNEL_MAX);
    wait_init(&reclaim.wait);
    if (thread_create_kernel("reclaim", reclaim_for_ever, NULL, NULL))
        panic("no memory for the thread that reclaims memory");
    divide_start();
}
