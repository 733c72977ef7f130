/* A device's queues: threads, buffers, frames on their way. See net_device.h. */
#include "net_core.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "sched/cpuset.h"

#define LOOK_NS NS_PER_S       /* at least that often: at the link, and for lost interrupts */
#define DOWN_NS (LOOK_NS / 10) /* the same, while the link is down */
#define LOST_NS (5 * NS_PER_S) /* a frame that is in flight for that long is not sent any more */
/* A flood must not take a CPU away from the programs: of that time the thread works at most
 * WORK_NS. */
#define WORK_NS (2 * NS_PER_MS)
#define REST_NS (NS_PER_MS / 4)

/* ---- Buffers --------------------------------------------------------------------------------- */

/* Makes buffer i, every second one with a page of its own. */
static int make_buffer(struct net_queue *q, struct net_buffer *b, unsigned i)
{
    paddr_t page;

    if (i % 2)
        b->memory = b[-1].memory + NET_BUFFER_BYTES;
    else if (frame_alloc(0, &page))
        return -ENOMEM;
    else
        b->memory = phys_to_virt(page);
    b->queue = q;
    return 0;
}

int net_make_buffers(struct net_queue *q)
{
    if (!q->buffers && !(q->buffers = area_alloc(NET_BUFFERS * sizeof(*q->buffers))))
        return -ENOMEM;
    for (; q->made < NET_BUFFERS; q->made++) {
        struct net_buffer *b = &q->buffers[q->made];
        if (make_buffer(q, b, q->made))
            return -ENOMEM;
        net_free(b);
    }
    return 0;
}

void net_free(struct net_buffer *frame)
{
    struct net_queue *q = frame->queue;
    bool irq = spin_lock(&q->pool);

    for (struct net_buffer *b = frame, *next; b; b = next) {
        next = b->next;
        ASSERT(b->queue == q);
        b->next = NULL;
        b->free = q->free;
        q->free = b;
        q->spare++;
    }
    spin_unlock(&q->pool, irq);
}

struct net_buffer *net_take(struct net_queue *q)
{
    bool irq = spin_lock(&q->pool);
    struct net_buffer *b = q->free;

    if (b) {
        q->free = b->free;
        q->spare--;
    }
    spin_unlock(&q->pool, irq);
    if (b)
        *b = (struct net_buffer){.queue = q, .memory = b->memory};
    return b;
}

unsigned net_spare(const struct net_device *d, unsigned queue)
{
    return __atomic_load_n(&d->queue[queue].spare, __ATOMIC_RELAXED);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static int check_frame(const struct net_device *d, struct net_send *s)
{
    uint64_t bytes = 0;

    if (!s->done || !s->parts || s->parts > NET_PARTS_MAX)
        return -EINVAL;
    for (unsigned i = 0; i < s->parts; i++) {
        if (!s->part[i].bytes)
            return -EINVAL;
        bytes += s->part[i].bytes;
    }
    if (bytes < NET_HEADER_BYTES || bytes > d->mtu + NET_HEADER_BYTES)
        return -EINVAL;
    if (s->sum && (!(d->offloads & NET_MAKES_SUMS) || s->sum_from < NET_HEADER_BYTES ||
                   (uint64_t)s->sum_from + s->sum_at + 2 > bytes))
        return -EINVAL;
    s->bytes = (uint32_t)bytes;
    return 0;
}

/* Sends frames 0 to n - 1, which are checked. `send` held. */
static int send_locked(struct net_queue *q, struct net_send *const *frames, unsigned n)
{
    const struct net_device *d = q->device;

    if (!d->running || __atomic_load_n(&d->failed, __ATOMIC_RELAXED))
        return -ENETDOWN;
    unsigned taken = d->ops->send(q, frames, n);
    if (taken < n) { /* frames may have been sent since the thread has looked */
        d->ops->reclaim(q);
        taken += d->ops->send(q, frames + taken, n - taken);
    }
    q->out.full += taken < n;
    uint64_t now_ns = taken ? arch_clock_ns() : 0;
    for (unsigned i = 0; i < taken; i++)
        frames[i]->since_ns = now_ns;
    return taken ? (int)taken : -EAGAIN;
}

int net_send(struct net_device *d, unsigned queue, struct net_send *const *frames, unsigned n)
{
    unsigned good = 0;

    if (queue >= d->queues)
        return -EINVAL;
    while (good < n && !check_frame(d, frames[good]))
        good++;
    if (!good)
        return n ? -EINVAL : 0;
    struct net_queue *q = &d->queue[queue];
    bool irq = spin_lock(&q->send);
    int taken = send_locked(q, frames, good);
    bool back = !list_empty(&q->done);
    spin_unlock(&q->send, irq);
    if (back)
        net_wake(q);
    return taken;
}

void net_taken(struct net_queue *q, struct net_send *s)
{
    s->since_ns = UINT64_MAX; /* until net_send() knows */
    list_push_back(&q->in_flight, &s->link);
}

void net_sent(struct net_queue *q, struct net_send *s)
{
    list_remove(&s->link);
    s->status = 0;
    list_push_back(&q->done, &s->link);
    q->out.sent++;
    q->out.sent_bytes += s->bytes;
}

void net_give_up(struct net_queue *q)
{
    struct list *link;

    while ((link = list_pop_front(&q->in_flight))) {
        container_of(link, struct net_send, link)->status = -EIO;
        list_push_back(&q->done, link);
        q->out.given_up++;
    }
}

void net_call_done(struct net_queue *q)
{
    struct list *link;

    do {
        bool irq = spin_lock(&q->send);
        link = list_pop_front(&q->done);
        spin_unlock(&q->send, irq);
        if (link) {
            struct net_send *s = container_of(link, struct net_send, link);
            s->done(s, s->status);
        }
    } while (link);
}

/* Looks at frames in flight. Returns whether they get sent. */
static bool sends(struct net_queue *q)
{
    bool irq = spin_lock(&q->send);
    const struct list *first = q->in_flight.next;
    uint64_t now_ns = arch_clock_ns(),
             since_ns = first == &q->in_flight
                            ? now_ns
                            : container_of(first, struct net_send, link)->since_ns;

    spin_unlock(&q->send, irq);
    return since_ns >= now_ns || now_ns - since_ns < LOST_NS;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

void net_dropped(struct net_queue *q, bool no_buffer)
{
    if (no_buffer)
        q->in.no_buffer++;
    else
        q->in.malformed++;
}

void net_received(struct net_queue *q, struct net_buffer *first)
{
    uint64_t bytes = 0;

    for (const struct net_buffer *b = first; b; b = b->next)
        bytes += b->bytes;
    if (first->bytes < NET_HEADER_BYTES || bytes > q->device->mtu + NET_HEADER_BYTES + 4) {
        q->in.malformed++;
        net_free(first);
        return;
    }
    ASSERT(q->batched < NET_BATCH);
    first->frame_bytes = (uint32_t)bytes;
    q->in.received++;
    q->in.received_bytes += bytes;
    q->batch[q->batched++] = first;
}

static void hand_over(struct net_queue *q)
{
    struct net_device *d = q->device;

    if (q->batched)
        d->handlers->receive(d->arg, d, q->number, q->batch, q->batched);
    q->batched = 0;
}

/* ---- Threads --------------------------------------------------------------------------------- */

void net_wake(struct net_queue *q)
{
    bool irq = spin_lock(&q->wake);

    q->asked = true;
    wait_wake(&q->sleeping, 1);
    spin_unlock(&q->wake, irq);
}

void net_interrupt(struct net_queue *q)
{
    q->device->ops->mask(q);
    bool irq = spin_lock(&q->wake);
    q->interrupts++;
    q->asked = true;
    wait_wake(&q->sleeping, 1);
    spin_unlock(&q->wake, irq);
}

static bool runs(const struct net_device *d)
{
    return d->running && !__atomic_load_n(&d->failed, __ATOMIC_RELAXED);
}

/* Takes what has arrived and was sent, once. Returns whether there may be more. `work` held. */
static bool work_once(struct net_queue *q)
{
    const struct net_ops *ops = q->device->ops;
    bool irq = spin_lock(&q->send);

    ops->reclaim(q);
    spin_unlock(&q->send, irq);
    q->in.polls++;
    unsigned taken = ops->poll(q);
    hand_over(q);
    net_call_done(q);
    return runs(q->device) && (taken || ops->unmask(q));
}

static void work(struct net_queue *q)
{
    uint64_t began_ns = arch_clock_ns();

    mutex_lock(&q->work);
    while (runs(q->device) && work_once(q)) {
        if (arch_clock_ns() - began_ns < WORK_NS)
            continue;
        mutex_unlock(&q->work);
        sched_sleep_until(arch_clock_ns() + REST_NS);
        began_ns = arch_clock_ns();
        mutex_lock(&q->work);
    }
    mutex_unlock(&q->work);
}

static void look_at_link(struct net_device *d)
{
    bool up = d->ops->link(d);

    if (up == d->up)
        return;
    __atomic_store_n(&d->up, up, __ATOMIC_RELAXED);
    if (up && d->mbps)
        kprintf("nic: event=link name=%s state=up mbps=%u\n", d->name, d->mbps);
    else
        kprintf("nic: event=link name=%s state=%s\n", d->name, up ? "up" : "down");
    if (d->handlers->link)
        d->handlers->link(d->arg, d);
}

/* Looks after the device. The first queue's thread does it. */
static void look_after(struct net_queue *q)
{
    struct net_device *d = q->device;

    if (d->running && __atomic_load_n(&d->failed, __ATOMIC_RELAXED))
        net_stop_failed(d);
    mutex_lock(&q->work);
    if (runs(d) && !q->number)
        look_at_link(d);
    bool lost = runs(d) && d->up && !sends(q);
    mutex_unlock(&q->work);
    if (!lost)
        return;
    kprintf(
        "nic: event=reset name=%s queue=%u reason=timeout: it does not send what it was given\n",
        d->name, q->number);
    net_reset(d);
}

static void work_for_ever(void *arg)
{
    struct net_queue *q = arg;

    for (;;) {
        bool irq = spin_lock(&q->wake);
        if (!q->asked)
            wait_sleep(&q->sleeping, &q->wake, &irq,
                       arch_clock_ns() + (q->device->up ? LOOK_NS : DOWN_NS));
        q->asked = false;
        spin_unlock(&q->wake, irq);
        look_after(q);
        work(q);
    }
}

int net_start_thread(struct net_queue *q)
{
    static unsigned count;
    char name[THREAD_NAME_MAX];
    struct cpuset there = cpuset_one(q->cpu->index);

    if (q->has_thread)
        return 0;
    ksnprintf(name, sizeof(name), "net/%u", count);
    if (thread_create_kernel(name, work_for_ever, q, &there))
        return -ENOMEM;
    count++;
    q->has_thread = true;
    return 0;
}
