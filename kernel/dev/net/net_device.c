/* Devices: finding, opening, closing and resetting them. See net_device.h. */
#include "net_core.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"

static struct net_device *devices;

struct net_device *net_first(void)
{
    return devices;
}

struct net_device *net_find(const char *name)
{
    struct net_device *d = devices;

    while (d && !text_same(d->name, name, text_length(name)))
        d = d->next;
    return d;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

/* Returns the CPU of a queue of device `index`. Devices begin at different chips. */
static struct cpu *cpu_of(const struct net_device *d, unsigned index, unsigned number)
{
    unsigned chips = sched_topology()->chips, count = cpu_count();
    unsigned first = index % chips * count / chips;

    return &cpus[(first + number * count / d->queues) % count];
}

static void init_queue(struct net_device *d, unsigned index, unsigned number)
{
    struct net_queue *q = &d->queue[number];

    q->device = d;
    q->number = number;
    q->cpu = cpu_of(d, index, number);
    mutex_init(&q->work, d->name);
    spin_init(&q->send, LOCK_NIC, d->name);
    spin_init(&q->pool, LOCK_NIC, d->name);
    spin_init(&q->wake, LOCK_THREAD, d->name);
    list_init(&q->in_flight);
    list_init(&q->done);
    wait_init(&q->sleeping);
}

void net_add(struct net_device *d, const char *what)
{
    struct net_device **end = &devices;
    unsigned same = 0, index = 0;

    ASSERT(d->kind && d->ops && d->queues && d->queues <= NET_QUEUES_MAX && d->mtu >= 68);
    for (; *end; end = &(*end)->next, index++)
        same += (*end)->kind == d->kind;
    ksnprintf(d->name, sizeof(d->name), "%s%u", d->kind, same);
    mutex_init(&d->control, d->name);
    for (unsigned i = 0; i < d->queues; i++)
        init_queue(d, index, i);
    *end = d;
    kprintf("nic: event=found name=%s kind=%s mac=%02x:%02x:%02x:%02x:%02x:%02x mtu=%u queues=%u "
            "sums=%s: %s\n",
            d->name, d->kind, d->mac[0], d->mac[1], d->mac[2], d->mac[3], d->mac[4], d->mac[5],
            d->mtu, d->queues, d->offloads & NET_MAKES_SUMS ? "device" : "none", what);
}

/* ---- Opening, closing, resetting ------------------------------------------------------------- */

/* Takes all of the device's queues away from threads and senders, or returns them. `control`
 * held. */
static void lock_queues(struct net_device *d)
{
    for (unsigned i = 0; i < d->queues; i++)
        mutex_lock(&d->queue[i].work);
}

static void unlock_queues(struct net_device *d)
{
    for (unsigned i = d->queues; i--;)
        mutex_unlock(&d->queue[i].work);
}

/* Lets frames be sent, or no more. */
static void set_running(struct net_device *d, bool running)
{
    __atomic_store_n(&d->running, running, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < d->queues; i++) { /* who saw the old value has left */
        bool irq = spin_lock(&d->queue[i].send);
        spin_unlock(&d->queue[i].send, irq);
    }
}

/* Stops the device; frames in flight wait for net_call_done(). `control` and each `work` held. */
static void stop_device(struct net_device *d)
{
    set_running(d, false);
    d->ops->stop(d);
    __atomic_store_n(&d->up, false, __ATOMIC_RELAXED); /* until the link was looked at */
    for (unsigned i = 0; i < d->queues; i++) {
        bool irq = spin_lock(&d->queue[i].send);
        net_give_up(&d->queue[i]);
        spin_unlock(&d->queue[i].send, irq);
    }
}

static int start_device(struct net_device *d)
{
    __atomic_store_n(&d->failed, false, __ATOMIC_RELAXED);
    int err = d->ops->start(d);
    if (!err)
        set_running(d, true);
    return err;
}

static void look_at_queues(struct net_device *d)
{
    for (unsigned i = 0; i < d->queues; i++) {
        mutex_lock(&d->queue[i].work); /* the thread may be in a done() */
        net_call_done(&d->queue[i]);
        mutex_unlock(&d->queue[i].work);
        net_wake(&d->queue[i]);
    }
}

/* Makes buffers and threads, which a device keeps once it was opened. */
static int prepare_queues(struct net_device *d)
{
    int err = 0;

    for (unsigned i = 0; !err && i < d->queues; i++)
        err = net_make_buffers(&d->queue[i]);
    for (unsigned i = 0; !err && i < d->queues; i++)
        err = net_start_thread(&d->queue[i]);
    return err;
}

int net_open(struct net_device *d, const struct net_handlers *handlers, void *arg)
{
    mutex_lock(&d->control);
    int err = d->handlers ? -EBUSY : prepare_queues(d);
    if (!err) {
        lock_queues(d);
        d->handlers = handlers;
        d->arg = arg;
        err = start_device(d);
        if (err)
            d->handlers = NULL;
        unlock_queues(d);
        look_at_queues(d);
    }
    mutex_unlock(&d->control);
    return err;
}

void net_close(struct net_device *d)
{
    mutex_lock(&d->control);
    lock_queues(d);
    if (d->running)
        stop_device(d);
    d->handlers = NULL;
    unlock_queues(d);
    look_at_queues(d);
    mutex_unlock(&d->control);
}

int net_reset(struct net_device *d)
{
    int err = -ENETDOWN;

    mutex_lock(&d->control);
    if (d->handlers) {
        lock_queues(d);
        if (d->running)
            stop_device(d);
        err = start_device(d);
        __atomic_add_fetch(&d->resets, 1, __ATOMIC_RELAXED);
        unlock_queues(d);
        look_at_queues(d);
    }
    mutex_unlock(&d->control);
    return err;
}

void net_stop_failed(struct net_device *d)
{
    mutex_lock(&d->control);
    if (d->running && __atomic_load_n(&d->failed, __ATOMIC_RELAXED)) {
        lock_queues(d);
        stop_device(d);
        unlock_queues(d);
        look_at_queues(d);
    }
    mutex_unlock(&d->control);
}

void net_broken(struct net_device *d)
{
    __atomic_store_n(&d->failed, true, __ATOMIC_RELAXED);
    net_wake(&d->queue[0]);
}

/* ---- Statistics ------------------------------------------------------------------------------ */

static void add_stats(struct net_stats *sum, const struct net_stats *s)
{
    const uint64_t *from = (const uint64_t *)s;
    uint64_t *to = (uint64_t *)sum;

    for (unsigned i = 0; i < sizeof(*s) / sizeof(*from); i++)
        to[i] += from[i];
}

void net_read_stats(struct net_device *d, struct net_stats *out)
{
    *out = (struct net_stats){.resets = __atomic_load_n(&d->resets, __ATOMIC_RELAXED)};
    for (unsigned i = 0; i < d->queues; i++) {
        struct net_queue *q = &d->queue[i];
        mutex_lock(&q->work);
        add_stats(out, &q->in);
        mutex_unlock(&q->work);
        bool irq = spin_lock(&q->send);
        add_stats(out, &q->out);
        spin_unlock(&q->send, irq);
        irq = spin_lock(&q->wake);
        out->interrupts += q->interrupts;
        spin_unlock(&q->wake, irq);
    }
}
