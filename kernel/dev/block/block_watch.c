/*
 * The thread that watches all block devices: for requests that do not come back, and to end
 * injected delays. It sleeps while nothing is in flight, and is woken for a request only if it
 * would otherwise look too late: once in disk.timeout_ms.
 */
#include "block_core.h"
#include "kernel/core/printf.h"

static struct {
    struct spinlock lock;    /* [W] */
    struct wait_queue queue; /* [W] */
    bool asked;              /* [W] wants another look */
    uint64_t until_ns;       /* [A] time of the next look; written under the lock */
} watch = {.lock = SPINLOCK(LOCK_THREAD, "disk watch")};

static void set_until(uint64_t ns)
{
    __atomic_store_n(&watch.until_ns, ns, __ATOMIC_RELAXED);
}

/* No request is missed: either the thread has yet to look at the device, which the caller has just
 * had locked; or it had set until_ns before it looked, and the new value is read here. */
void block_watch_by(uint64_t due_ns)
{
    if (__atomic_load_n(&watch.until_ns, __ATOMIC_RELAXED) <= due_ns)
        return;
    bool irq = spin_lock(&watch.lock);
    watch.asked = true;
    wait_wake(&watch.queue, 1);
    spin_unlock(&watch.lock, irq);
}

static struct block_request *first(const struct list *l)
{
    return list_empty(l) ? NULL : container_of(l->next, struct block_request, link);
}

static uint64_t answer_by_ns(const struct block_request *r)
{
    return r->since_ns + disk_timeout_ms * NS_PER_MS;
}

static void stop(struct block_device *d, const struct block_request *r)
{
    d->failed = true; /* from now on nothing is submitted, and no answer is accepted */
    kprintf("disk: event=stopped name=%s reason=timeout request=%s pages=%u page=%llu ms=%llu: the "
            "request has not come back: the disk is not used any more\n",
            d->name, r->write ? "write" : "read", r->count, (unsigned long long)r->page,
            (unsigned long long)disk_timeout_ms);
}

/* Looks at one device. Returns when to look again. */
static uint64_t look_at(struct block_device *d)
{
    uint64_t now_ns = arch_clock_ns(), next_ns = UINT64_MAX;
    bool irq = block_lock(d);
    struct block_request *r = first(&d->in_flight);

    if (r && !d->failed && answer_by_ns(r) <= now_ns) {
        stop(d, r);
        spin_unlock(&d->lock, irq);
        d->ops->stop(d);
        irq = block_lock(d);
        block_give_up(d, -ETIMEDOUT);
    }
    while ((r = first(&d->late)) && r->due_ns <= now_ns) {
        list_remove(&r->link);
        list_push_back(&d->back, &r->link);
    }
    if (r)
        next_ns = r->due_ns;
    if ((r = first(&d->in_flight)))
        next_ns = MIN(next_ns, answer_by_ns(r));
    block_unlock(d, irq);
    return next_ns;
}

/* Gives back requests that are due and stops devices that do not answer. Returns when to look
 * again, or UINT64_MAX. Thread context. */
static uint64_t look_at_devices(void)
{
    uint64_t next_ns = UINT64_MAX;

    for (struct block_device *d = block_first(); d; d = d->next)
        next_ns = MIN(next_ns, look_at(d));
    return next_ns;
}

static void watch_for_ever(UNUSED void *arg)
{
    bool irq;

    for (;;) {
        irq = spin_lock(&watch.lock);
        watch.asked = false;
        set_until(UINT64_MAX);
        spin_unlock(&watch.lock, irq);
        uint64_t next_ns = look_at_devices();
        irq = spin_lock(&watch.lock);
        if (!watch.asked) {
            set_until(next_ns);
            wait_sleep(&watch.queue, &watch.lock, &irq, next_ns);
        }
        spin_unlock(&watch.lock, irq);
    }
}

void block_watch_start(void)
{
    wait_init(&watch.queue);
    set_until(UINT64_MAX);
    if (thread_create_kernel("disk-watch", watch_for_ever, NULL, NULL))
        kprintf("disk: no memory for the thread that watches: what does not come back is not "
                "noticed\n");
}
