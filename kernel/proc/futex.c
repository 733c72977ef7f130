/*
 * See futex.h.  Sleepers hang in hash buckets; a bucket's lock makes "look at the word, then sleep" one step
 * as seen by futex_wake.  The word is read under that lock without faulting; if its page is not there, the
 * lock is let go, the page fetched, and everything starts again.
 */
#include "kernel/proc/futex.h"
#include "kernel/arch/arch.h"
#include "sched/sched.h"

#define BUCKETS_LOG2 8

struct bucket {
    struct spinlock lock;
    struct list sleepers; /* lock: struct sleeper, in order of arrival */
} ALIGNED(CACHE_LINE);

/* Lives on the sleeper's stack. */
struct sleeper {
    struct list link;
    const struct space *space;
    vaddr_t va;
    struct wait_queue queue;
};

static struct bucket buckets[1 << BUCKETS_LOG2];

void futex_init(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(buckets); i++) {
        spin_init(&buckets[i].lock, LOCK_FUTEX, "futex");
        list_init(&buckets[i].sleepers);
    }
}

/* Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4). */
static struct bucket *bucket_of(const struct space *space, vaddr_t va)
{
    uint64_t key = (vaddr_t)space ^ va >> 2;

    return &buckets[key * 0x9e3779b97f4a7c15 >> (64 - BUCKETS_LOG2)];
}

static int check_address(vaddr_t va)
{
    if (!IS_ALIGNED(va, sizeof(uint32_t)))
        return -EINVAL;
    return va >= USER_MIN && va < USER_MAX ? 0 : -EFAULT;
}

/* With the bucket's lock held, the word is resident and holds expected: 0.  Without it: why not. */
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
    struct bucket *b = bucket_of(space, va);
    struct sleeper s = {.space = space, .va = va};
    bool irq;
    int err = check_address(va);

    if (!err)
        err = lock_if_equal(b, va, expected, &irq);
    if (err)
        return err;
    wait_init(&s.queue);
    list_push_back(&b->sleepers, &s.link);
    err = wait_sleep(&s.queue, &b->lock, &irq, deadline_ns);
    bool woken = list_empty(&s.link);
    list_remove(&s.link);
    spin_unlock(&b->lock, irq);
    return woken ? 0 : err ? err : -EAGAIN;
}

int futex_wake(struct space *space, vaddr_t va, uint32_t max)
{
    struct bucket *b = bucket_of(space, va);
    uint32_t woken = 0;
    int err = check_address(va);

    if (err)
        return err;
    bool irq = spin_lock(&b->lock);
    list_for_each_safe (it, next, &b->sleepers) {
        struct sleeper *s = container_of(it, struct sleeper, link);
        if (woken == max)
            break;
        if (s->space != space || s->va != va)
            continue;
        list_remove(&s->link);
        wait_wake(&s->queue, 1);
        woken++;
    }
    spin_unlock(&b->lock, irq);
    return (int)MIN(woken, (uint32_t)INT32_MAX);
}
