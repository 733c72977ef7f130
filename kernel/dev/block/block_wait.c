/* Requests that a thread waits for. */
#include "block.h"

/* On the waiting thread's stack. The CPU that wakes the thread accesses it last when it releases
 * the lock. */
struct waiting {
    struct spinlock lock;
    struct wait_queue queue; /* [W] */
    bool done;               /* [W] */
    int status;              /* [W] */
};

static void wake(struct block_request *r, int status)
{
    struct waiting *w = r->owner;
    bool irq = spin_lock(&w->lock);

    w->done = true;
    w->status = status;
    wait_wake(&w->queue, 1);
    spin_unlock(&w->lock, irq);
}

int block_submit_wait(struct block_device *d, struct block_request *r)
{
    int err;

    may_wait("disk request");
    while ((err = block_submit(d, r)) == -EAGAIN) {
        bool irq = spin_lock(&d->lock);
        if (d->busy >= d->depth)
            wait_sleep_through(&d->room, &d->lock, &irq);
        spin_unlock(&d->lock, irq);
    }
    return err;
}

/* Submits a request of up to pages_max pages and waits for it. */
static int transfer(struct block_device *d, struct block_request *r)
{
    struct waiting w;

    spin_init(&w.lock, LOCK_THREAD, "disk transfer");
    may_wait("disk transfer");
    wait_init(&w.queue);
    w.done = false;
    r->done = wake;
    r->owner = &w;
    int err = block_submit_wait(d, r);
    if (err)
        return err;
    bool irq = spin_lock(&w.lock);
    while (!w.done)
        wait_sleep_through(&w.queue, &w.lock, &irq);
    spin_unlock(&w.lock, irq);
    return w.status;
}

int block_transfer(struct block_device *d, uint64_t page, size_t count, bool write,
                   const paddr_t *frames)
{
    struct block_request r = {.write = write};
    int err = count ? 0 : -EINVAL;

    for (size_t at = 0; at < count && !err; at += r.count) {
        r.page = page + at;
        r.count = (uint32_t)MIN(count - at, (size_t)d->pages_max);
        memcpy(r.frame, frames + at, r.count * sizeof(*frames));
        err = transfer(d, &r);
    }
    return err;
}

int block_flush(struct block_device *d)
{
    struct block_request r = {.write = true};

    return transfer(d, &r);
}
