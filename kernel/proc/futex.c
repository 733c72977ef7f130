/*
 * See futex.h. Sleepers are found by the name of their word, in the bucket of that name. The
 * bucket's lock makes looking at the word and becoming a sleeper one step for futex_wake(). The
 * word is read under that lock without faulting. If its page is not resident, the lock is released,
 * the page is brought in, and all starts again. A sleeper may be moved to another bucket, so it
 * sleeps under a lock of its own, which is taken inside the bucket's.
 */
#include "kernel/proc/futex.h"
#include "kernel/proc/sleepers.h"
#include "mm/mm.h"
#include "kernel/arch/arch.h"
#include "sched/sched.h"
#include <linux/futex.h>

#define BATCH 16 /* threads woken or moved in one stretch with interrupts off */

struct bucket {
    struct spinlock lock;
    struct sleepers sleepers; /* lock */
    uint64_t arrivals;        /* lock: sleepers so far */
    uint32_t coming;          /* atomic: sleepers, and threads that may become one */
} ALIGNED(CACHE_LINE);

/* Lies on the sleeper's stack. */
struct waiter {
    struct sleeper sleeper; /* lock of `bucket` */
    struct bucket *bucket;  /* atomic; written with the locks of the old and the new one held */
    uint64_t arrival;       /* lock of `bucket` */
    uint32_t bits;          /* fixed */
    struct spinlock lock;
    bool woken;              /* lock */
    struct wait_queue queue; /* lock */
};

static struct bucket buckets[FUTEX_BUCKETS];

void futex_init(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(buckets); i++)
        spin_init(&buckets[i].lock, LOCK_FUTEX, "futex");
}

/* Returns the name of the word at va: the same in all processes that share it. No lock held. */
static struct word_name name_of(struct space *space, vaddr_t va)
{
    uint64_t place;
    const void *owner = space_word_owner(space, va, &place);

    return word_name(owner, place);
}

static struct bucket *bucket_of(struct word_name name)
{
    return &buckets[futex_bucket(name)];
}

static int check_address(vaddr_t va)
{
    if (!IS_ALIGNED(va, sizeof(uint32_t)))
        return -EINVAL;
    return va >= USER_MIN && va < USER_MAX ? 0 : -EFAULT;
}

static void lock_two(struct bucket *a, struct bucket *b)
{
    spin_lock_irqoff(&MIN(a, b)->lock);
    if (a != b)
        spin_lock_irqoff(&MAX(a, b)->lock);
}

static void unlock_two(struct bucket *a, struct bucket *b)
{
    spin_unlock_irqoff(&a->lock);
    if (a != b)
        spin_unlock_irqoff(&b->lock);
}

/* Locks both buckets if the word is resident and holds `expected`. Returns 0 with the locks held,
 * or an error without them. */
static int lock_if_equal(struct bucket *a, struct bucket *b, vaddr_t va, uint32_t expected,
                         bool *irq)
{
    for (;;) {
        uint32_t word;
        *irq = arch_irq_save();
        lock_two(a, b);
        int err = arch_peek_user32(va, &word);
        if (!err && word == expected)
            return 0;
        unlock_two(a, b);
        arch_irq_restore(*irq);
        if (!err)
            return -EAGAIN;
        err = arch_copy_from_user(&word, va, sizeof(word));
        if (err)
            return err;
    }
}

/* A thread announces itself before it looks at the word, and one that wakes looks at `coming` after
 * the word was changed: so one of them sees the other, without the lock. */
static void announce(struct bucket *b)
{
    __atomic_fetch_add(&b->coming, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void withdraw(struct bucket *b)
{
    __atomic_fetch_sub(&b->coming, 1, __ATOMIC_RELAXED);
}

static bool is_empty(const struct bucket *b)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return !__atomic_load_n(&b->coming, __ATOMIC_RELAXED);
}

static void add_locked(struct bucket *b, struct waiter *w, struct word_name name)
{
    w->sleeper.name = name;
    w->arrival = b->arrivals++;
    __atomic_store_n(&w->bucket, b, __ATOMIC_RELAXED);
    sleepers_add(&b->sleepers, &w->sleeper);
}

/* Takes out a waiter that was not woken so far. Returns false if it has been woken meanwhile. */
static bool take_back(struct waiter *w)
{
    for (;;) {
        struct bucket *b = __atomic_load_n(&w->bucket, __ATOMIC_RELAXED);
        bool irq = spin_lock(&b->lock), here = w->bucket == b, asleep = w->sleeper.asleep;
        if (here && asleep) {
            sleepers_remove(&b->sleepers, &w->sleeper);
            withdraw(b);
        }
        spin_unlock(&b->lock, irq);
        if (here)
            return asleep;
    }
}

int futex_wait(struct space *space, vaddr_t va, uint32_t expected, uint32_t bits,
               uint64_t deadline_ns)
{
    struct word_name name = name_of(space, va);
    struct bucket *b = bucket_of(name);
    struct waiter w = {.bits = bits};
    bool irq;
    int err = check_address(va);

    if (err)
        return err;
    announce(b);
    err = lock_if_equal(b, b, va, expected, &irq);
    if (err) {
        withdraw(b);
        return err;
    }
    spin_init(&w.lock, LOCK_WAITER, "futex waiter");
    wait_init(&w.queue);
    add_locked(b, &w, name);
    spin_lock_irqoff(&w.lock);
    spin_unlock_irqoff(&b->lock);
    while (!w.woken && !err)
        err = wait_sleep_interruptible(&w.queue, &w.lock, &irq, deadline_ns);
    bool woken = w.woken;
    spin_unlock(&w.lock, irq);
    return woken || !take_back(&w) ? 0 : err;
}

/* Wakes the thread of w, after which w is gone. */
static void wake_locked(struct bucket *b, struct waiter *w)
{
    sleepers_remove(&b->sleepers, &w->sleeper);
    withdraw(b);
    spin_lock_irqoff(&w->lock);
    w->woken = true;
    wait_wake(&w->queue, 1);
    spin_unlock_irqoff(&w->lock);
}

/* Returns the sleeper on the word that arrived first of those that arrived before `before` and
 * sleep for one of `bits`, or NULL. */
static struct waiter *find_locked(struct bucket *b, struct word_name name, uint32_t bits,
                                  uint64_t before)
{
    struct sleeper *first = sleepers_first(&b->sleepers, name);
    struct waiter *w = first ? container_of(first, struct waiter, sleeper) : NULL;

    while (w && w->arrival < before && !(w->bits & bits)) {
        w = container_of(w->sleeper.same.next, struct waiter, sleeper.same);
        if (&w->sleeper == first)
            w = NULL;
    }
    return w && w->arrival < before ? w : NULL;
}

int futex_wake(struct space *space, vaddr_t va, uint32_t max, uint32_t bits)
{
    struct word_name name = name_of(space, va);
    struct bucket *b = bucket_of(name);
    uint32_t woken = 0, some, want;
    uint64_t before = UINT64_MAX;
    struct waiter *w;
    int err = check_address(va);

    if (err || is_empty(b))
        return err;
    max = MIN(max, (uint32_t)INT32_MAX);
    do {
        bool irq = spin_lock(&b->lock);
        before = MIN(before, b->arrivals);
        want = MIN(max - woken, (uint32_t)BATCH);
        for (some = 0; some < want && (w = find_locked(b, name, bits, before)); some++)
            wake_locked(b, w);
        spin_unlock(&b->lock, irq);
        woken += some;
    } while (some && some == want && woken < max);
    return (int)woken;
}

/* ---- Requeuing ------------------------------------------------------------------------------- */

/* Handles up to BATCH sleepers: the first `wake` of all are woken, `done` were handled before.
 * Returns their number. */
static uint32_t requeue_locked(struct word_name from, struct word_name to,
                               const struct futex_requeue *what, uint32_t done, uint64_t before)
{
    struct bucket *b = bucket_of(from);
    uint64_t max = (uint64_t)what->wake + what->move;
    struct waiter *w;
    uint32_t n = 0;

    while (n < BATCH && done + n < max && (w = find_locked(b, from, FUTEX_ANY, before))) {
        if (done + n < what->wake) {
            wake_locked(b, w);
        } else {
            sleepers_remove(&b->sleepers, &w->sleeper);
            announce(bucket_of(to));
            add_locked(bucket_of(to), w, to);
            withdraw(b);
        }
        n++;
    }
    return n;
}

int futex_requeue(struct space *space, const struct futex_requeue *what)
{
    struct word_name from = name_of(space, what->from), to = name_of(space, what->to);
    struct bucket *a = bucket_of(from), *b = bucket_of(to);
    uint32_t done = 0, some;
    uint64_t before = UINT64_MAX;
    int err = check_address(what->from) ?: check_address(what->to);

    do {
        bool irq;
        if (!err && what->compares && !done) {
            err = lock_if_equal(a, b, what->from, what->expected, &irq);
        } else if (!err) {
            irq = arch_irq_save();
            lock_two(a, b);
        }
        if (err)
            return err;
        before = MIN(before, a->arrivals);
        some = requeue_locked(from, to, what, done, before);
        unlock_two(a, b);
        arch_irq_restore(irq);
        done += some;
    } while (some == BATCH);
    return (int)done;
}

/* ---- Robust futexes -------------------------------------------------------------------------- */

#define ROBUST_MAX 2048 /* entries followed: the list may be a circle that does not end */
#define PI_ENTRY   1    /* bit of an entry's address: its futex inherits priorities */

/* Marks the word at va as without an owner, if `tid` is its owner. */
static void release_word(struct space *space, vaddr_t va, uint32_t tid)
{
    uint32_t word, new;

    if (check_address(va) || arch_copy_from_user(&word, va, sizeof(word)))
        return;
    for (uint32_t seen; (word & FUTEX_TID_MASK) == tid; word = seen) {
        new = (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
        if (arch_swap_user32(va, word, new, &seen))
            return;
        if (seen == word) {
            if (word & FUTEX_WAITERS)
                futex_wake(space, va, 1, FUTEX_ANY);
            return;
        }
    }
}

void futex_release_robust(struct thread *self, struct space *space)
{
    struct robust_list_head head;
    vaddr_t at, first = self->robust_list;

    if (!first || arch_copy_from_user(&head, first, sizeof(head)))
        return;
    vaddr_t pending = (vaddr_t)head.list_op_pending & ~(vaddr_t)PI_ENTRY;
    uint64_t offset = (uint64_t)head.futex_offset;
    at = (vaddr_t)head.list.next & ~(vaddr_t)PI_ENTRY;
    for (unsigned i = 0; i < ROBUST_MAX && at != first; i++) {
        vaddr_t next;
        int err = arch_copy_from_user(&next, at, sizeof(next));
        if (at != pending)
            release_word(space, at + offset, self->tid);
        if (err)
            break;
        at = next & ~(vaddr_t)PI_ENTRY;
        sched_point();
    }
    if (pending)
        release_word(space, pending + offset, self->tid);
}
