/*
 * See futex.h. Sleepers are found by the name of their word, in the bucket of that name. The
 * bucket's lock makes looking at the word and going to sleep one step for futex_wake(). The word is
 * read under that lock without faulting. If its page is not resident, the lock is released, the
 * page is brought in, and all starts again.
 */
#include "kernel/proc/futex.h"
#include "kernel/proc/sleepers.h"
#include "kernel/arch/arch.h"
#include "sched/sched.h"

#define BATCH 16 /* threads woken in one stretch with interrupts off */

struct bucket {
    struct spinlock lock;
    struct sleepers sleepers; /* lock */
    uint64_t arrivals;        /* lock: sleepers so far */
} ALIGNED(CACHE_LINE);

/* Lies on the sleeper's stack. */
struct waiter {
    struct sleeper sleeper;
    uint64_t arrival;
    struct wait_queue queue;
};

static struct bucket buckets[FUTEX_BUCKETS];

void futex_init(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(buckets); i++)
        spin_init(&buckets[i].lock, LOCK_FUTEX, "futex");
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

/* Locks the bucket if the word is resident and holds `expected`. Returns 0 with the lock held, or
 * an error without it. */
static int lock_if_equal(struct bucket *b, vaddr_t va, uint32_t expected, bool *irq)
{
    for (;;) {
        uint32_t word;
        *irq = spin_lock(&b->lock);
        int err = arch_peek_user32(va, &word);
        if (!err && word == expected)
            return 0;
        spin_unlock(&b->lock, *irq);
        if (!err)
            return -EAGAIN;
        err = arch_copy_from_user(&word, va, sizeof(word));
        if (err)
            return err;
    }
}

int futex_wait(struct space *space, vaddr_t va, uint32_t expected, uint64_t deadline_ns)
{
    struct waiter w = {.sleeper.name = word_name(space, va)};
    struct bucket *b = bucket_of(w.sleeper.name);
    bool irq;
    int err = check_address(va);

    if (!err)
        err = lock_if_equal(b, va, expected, &irq);
    if (err)
        return err;
    wait_init(&w.queue);
    w.arrival = b->arrivals++;
    sleepers_add(&b->sleepers, &w.sleeper);
    err = wait_sleep(&w.queue, &b->lock, &irq, deadline_ns);
    bool woken = !w.sleeper.asleep;
    if (!woken)
        sleepers_remove(&b->sleepers, &w.sleeper);
    spin_unlock(&b->lock, irq);
    return woken ? 0 : err ? err : -EAGAIN;
}

/* Wakes up to `max` sleepers that arrived before `before`. Returns their number. */
static uint32_t wake_some_locked(struct bucket *b, struct word_name name, uint32_t max,
                                 uint64_t before)
{
    uint32_t woken = 0;

    while (woken < max) {
        struct sleeper *s = sleepers_first(&b->sleepers, name);
        struct waiter *w = s ? container_of(s, struct waiter, sleeper) : NULL;
        if (!w || w->arrival >= before)
            break;
        sleepers_remove(&b->sleepers, s);
        wait_wake(&w->queue, 1);
        woken++;
    }
    return woken;
}

int futex_wake(struct space *space, vaddr_t va, uint32_t max)
{
    struct word_name name = word_name(space, va);
    struct bucket *b = bucket_of(name);
    uint32_t woken = 0, some, want;
    uint64_t before = UINT64_MAX;
    int err = check_address(va);

    if (err)
        return err;
    max = MIN(max, (uint32_t)INT32_MAX);
    do {
        bool irq = spin_lock(&b->lock);
        before = MIN(before, b->arrivals);
        want = MIN(max - woken, (uint32_t)BATCH);
        some = wake_some_locked(b, name, want, before);
        spin_unlock(&b->lock, irq);
        woken += some;
    } while (some && some == want && woken < max);
    return (int)woken;
}
