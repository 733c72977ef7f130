/* See reclaim.h. */
#include "mm/pool/reclaim.h"
#include "mm/pool/divide.h"
#include "kernel/mem/frame.h"
#include "mm/pool/args.h"
#include "mm/pool/reclaim_line.h"
#include "mm/pool/swap.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "mm/track/track.h"

/* who waits for frames that nobody announces looks this often */
#define LOOK_NS     (1 * NS_PER_MS)
#define DONATION    16   /* pages that leave at once where memory as a whole is short, at most */
#define KERNEL_PART 64   /* of all frames: one in so many stays the kernel's ... */
#define KERNEL_MIN  256  /* ... from these ... */
#define KERNEL_MAX  4096 /* ... to these */
#define AMPLE_PART  4    /* free of the limit: memory is not short any more */
/* without a page that could leave, behind those at all there are: there is no more memory */
#define HOPELESS_LOOKS 3

static uint32_t user_frames;  /* [A] of all pools */
static uint32_t user_leaving; /* [A] of those, on their way out */
/* [A] that somebody is looking for, so that they leave */
static uint32_t user_donated;
static uint32_t kernel_frames; /* [-] which pools leave alone */
/* [A] ... and so many more that the kernel is about to take */
static uint64_t kernel_wants;
static uint32_t all_frames = UINT32_MAX / 2; /* [-] that there are */

static struct {
    struct spinlock lock;
    bool asked;             /* [lock] */
    struct wait_queue wait; /* [lock] */
} reclaim = {.lock = SPINLOCK(LOCK_SWAP, "reclaim")};

/* ---- Charging -------------------------------------------------------------------------------- */

/* Of those that are [A]: as it is at some moment. */
static uint32_t count_now(const uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static uint32_t user_limit(void)
{
    return (uint32_t)MIN(mem_user / PAGE_SIZE, (uint64_t)all_frames);
}

/* Of all pools together, too, a few are kept free. */
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

static uint64_t less_down_to_0(uint64_t n, uint64_t part)
{
    return n - MIN(n, part);
}

uint64_t pool_room_pages(const struct pool *p)
{
    uint64_t frames = less_down_to_0(frame_free_about(), kernel_keeps());
    struct swap_stats swap;

    if (!p)
        return frames;
    swap_stats(&swap);
    frames = MIN(frames, less_down_to_0(user_limit(), count_now(&user_frames)));
    frames = MIN(frames, less_down_to_0(p->limit, p->frames));
    return frames + (swap_present() && !swap_failed() ? swap.free_slots : 0);
}

/* Is memory as a whole so short that not `more` frames may be given to pools? */
static bool memory_short(uint32_t more)
{
    return count_now(&user_frames) + more > user_limit() ||
           frame_free_about() < kernel_keeps() + more;
}

/* Will it be, when all that is to leave has left? Then further pages must. */
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

/* Others have come before the caller. */
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

/* So many pages should leave, besides those that do, until `free` of the pool's frames are free. */
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

/* What each pool has that nobody has planned for: of what pools keep now, with the frames that
 * kernel and others leave them. */
static uint32_t even_part(void)
{
    uint64_t have = count_now(&user_frames) + frame_free_about(),
             keep = kernel_frames + (uint64_t)user_reserve();
    uint64_t most = MIN(user_limit() - MIN(user_limit(), user_reserve()), have - MIN(have, keep));

    return (uint32_t)most / MAX(pools_number(), 1u);
}

/* One that a plan is still to be made for keeps what it had when memory became short, as in its
 * first plan (mm/policy/divide/plan.h): until then all that is known is who holds what, and who has
 * more than an even part and wants still more pays for that itself. */
static uint32_t share_locked(const struct pool *p)
{
    return p->share.target ? p->share.target : MAX(p->share.kept, even_part());
}

/* What it has beyond its part, or less than none, when its threads that wait have what they wait
 * for and all that is to leave has left. While memory stays short some pool has more than its part:
 * where each keeps to it frames are left over. */
static int64_t excess_locked(const struct pool *p)
{
    return (int64_t)p->frames + p->waiting - p->leaving - p->promised - share_locked(p);
}

struct donor {
    int64_t below, excess; /* of those that have less than the one, the most */
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

/* A pool gives its excess, up to a batch; one that has none gives a batch: nobody has. */
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

/* Pages leave the pool that has most beyond its part, or where none of its pages can leave now the
 * next one; how many. Who has no more than his part is not asked as long as something is leaving
 * otherwise. */
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

/* Is something on its way that may give the pool a frame? */
static bool may_get_frame_locked(const struct pool *p)
{
    return p->leaving || p->promised || p->coming || p->frames > p->held;
}

/* Has the pool all it may have? */
static bool at_limit(struct pool *p)
{
    bool irq = spin_lock(&p->lock);
    bool is = p->frames >= pool_cap_locked(p);

    spin_unlock(&p->lock, irq);
    return is;
}

/* Until p has given frames back, or where memory as a whole is short anybody has; no longer than a
 * moment: not all is announced. */
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

/* Who waits for memory as a whole does so in line. */
static void set_in_line(struct pool *p, struct line_ticket *w, bool in_line)
{
    if (in_line == w->is_in_line)
        return;
    bool irq = spin_lock(&p->lock);
    p->waiting += in_line ? 1 : -1u;
    spin_unlock(&p->lock, irq);
    (in_line ? line_join : line_leave)(w);
}

/* Pages of p's own leave until so many frames are free, if too few do already: how many have. */
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

/* Is something on its way that may give the pool a frame, one of its own or, where others have all
 * of them, anybody's? */
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

/* Calls f for p or, where others have all frames, for all pools. */
static void each_concerned(struct pool *p, bool own, void (*f)(struct pool *p, void *arg),
                           void *arg)
{
    if (own)
        f(p, arg);
    else
        pools_each(f, arg);
}

/* What is left to do when a look has been in vain and nothing is on its way; looks: so many were,
 * behind those at all pages. Who has been told that nothing can leave looks at all of them again
 * the next time. */
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

/* True: the caller has the right to a frame. Whoever finds few left asks for more to be made. */
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

/* 0: it may be worth to try again; 1: the caller has the right to a frame. Errors as of
 * pool_charge. */
static int make_room(struct pool *p, uint32_t incoming, struct line_ticket *w, unsigned *hopeless)
{
    bool own = at_limit(p);

    set_in_line(p, w, !own);
    if (!own && !memory_stays_short(line_length())) /* others look, or enough is leaving */
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
    default: /* what others have would be of no use at a limit of its own */
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

/* Frames in hand are no hope: who has them may wait for the caller. */
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
    line_call((uint32_t)frames); /* who has looked in vain meanwhile looks again */
}

/* ---- Ahead ----------------------------------------------------------------------------------- */

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
    struct thread_params params = {
        .name = "reclaim", .entry = reclaim_for_ever, .prio = PRIO_KERNEL, .group = GROUP_NONE};
    struct frame_stats stats;
    struct thread *t;

    swap_init();
    track_attach(pool_sink);
    frame_stats(&stats);
    all_frames = (uint32_t)MIN(stats.total_pages, (uint64_t)UINT32_MAX / 2);
    kernel_frames = (uint32_t)MIN(MAX(stats.total_pages / KERNEL_PART, (uint64_t)KERNEL_MIN),
                                  (uint64_t)KERNEL_MAX);
    wait_init(&reclaim.wait);
    if (thread_create(&params, &t))
        panic("no memory for the thread that reclaims memory");
    thread_start(t);
    thread_put(t);
    divide_start();
}
