/*
 * The ports of the simulated machine's wire, in model time: registers of
 * kernel/dev/model/machine.h. The machine disarms a queue's interrupt when it sends it, and tells
 * that frames have left for one frame in TELL_EVERY: others are taken back with it, or when some
 * are received.
 */
#include "net_ring.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/dev/pci/pci.h"
#include "kernel/mem/mem.h"

#define RING       NET_RING_ENTRIES
#define RING_ORDER 1
#define TELL_EVERY 32
_Static_assert(RING * sizeof(struct machine_wire_entry) == PAGE_SIZE << RING_ORDER, "a ring");
_Static_assert(NET_PARTS_MAX <= MACHINE_WIRE_PARTS_MAX, "it sends all frames");
_Static_assert(NET_QUEUES_MAX >= MACHINE_WIRE_QUEUES, "all queues can be used");
_Static_assert(NET_RSS_KEY_BYTES == MACHINE_WIRE_KEY_BYTES, "the same key");
_Static_assert(NET_RSS_ENTRIES == MACHINE_WIRE_SPREAD, "the same queues");

/* The rings of a queue. Locking: as in net_device.h, of the queue. */
struct rings {
    struct net_ring ring;                         /* first */
    volatile struct machine_wire_entry *in, *out; /* RING of each */
    uint32_t received, sent;                      /* [W], [S] entries since the start */
    unsigned untold, told; /* [S] frames since one that tells; the place of its last part */
    struct arch_msi message;
    bool connected;
};

struct port {
    struct net_device net;
    volatile struct machine_wire *regs;
    uint64_t missed; /* `work` of the first queue: as many were counted */
    struct rings *rings[NET_QUEUES_MAX];
};

static struct port *port_of(const struct net_device *d)
{
    return container_of(d, struct port, net);
}

static volatile struct machine_wire_queue *regs_of(const struct net_queue *q)
{
    return &port_of(q->device)->regs->queue[q->number];
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static void offer(struct net_queue *q, unsigned i, paddr_t at)
{
    const struct rings *r = q->driver;

    r->in[i].at = at;
    r->in[i].bytes = NET_RING_ROOM;
    r->in[i].flags = 0;
}

static bool received(const struct net_queue *q, unsigned i, struct net_frame *out)
{
    const struct rings *r = q->driver;
    volatile struct machine_wire_entry *e = &r->in[i];
    uint32_t flags = __atomic_load_n(&e->flags, __ATOMIC_ACQUIRE);

    if (!(flags & MACHINE_WIRE_DONE))
        return false;
    *out = (struct net_frame){.bytes = e->bytes, .hash = e->hash};
    out->broken = out->bytes < NET_HEADER_BYTES || out->bytes > NET_RING_ROOM;
    if (flags & MACHINE_WIRE_CHECKED)
        out->flags |= NET_CHECKED;
    if (flags & MACHINE_WIRE_HASHED)
        out->flags |= NET_HASHED;
    return true;
}

static unsigned poll(struct net_queue *q)
{
    struct rings *r = q->driver;
    unsigned n = net_ring_poll(q);

    if (n) {
        r->received += n;
        arch_io_write32(&regs_of(q)->in_end, r->received + RING);
    }
    return n;
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Puts a frame into the ring, which has room. */
static void put_frame(struct rings *r, struct net_send *s)
{
    uint32_t last = MACHINE_WIRE_LAST;

    if (++r->untold == TELL_EVERY) {
        r->untold = 0;
        last |= MACHINE_WIRE_TELL;
    }
    for (unsigned i = 0; i < s->parts; i++) {
        bool is_last = i + 1 == s->parts;
        unsigned at = net_ring_put(&r->ring, is_last ? s : NULL);
        r->out[at].at = s->part[i].at;
        r->out[at].bytes = s->part[i].bytes;
        r->out[at].flags = is_last ? last : 0;
        if (is_last && !r->untold)
            r->told = at;
    }
    r->sent += s->parts;
}

static unsigned send_frames(struct net_queue *q, struct net_send *const *frames, unsigned n)
{
    struct rings *r = q->driver;
    unsigned i = 0;

    for (; i < n && net_ring_room(&r->ring) >= frames[i]->parts; i++) {
        put_frame(r, frames[i]);
        net_taken(q, frames[i]);
    }
    if (i)
        arch_io_write32(&regs_of(q)->out_end, r->sent);
    return i;
}

static bool was_sent(const struct net_queue *q, unsigned i)
{
    const struct rings *r = q->driver;

    return __atomic_load_n(&r->out[i].flags, __ATOMIC_ACQUIRE) & MACHINE_WIRE_DONE;
}

static const struct net_ring_ops ring_ops = {
    .offer = offer, .received = received, .was_sent = was_sent};

/* ---- Interrupts, link ------------------------------------------------------------------------ */

static void mask(UNUSED struct net_queue *q)
{
    /* the machine has done it */
}

/* Returns whether the frame that was to tell has left, and was not taken back yet. */
static bool has_told(struct net_queue *q)
{
    const struct rings *r = q->driver;
    bool irq = spin_lock(&q->send);
    bool told = r->ring.last[r->told] && was_sent(q, r->told);

    spin_unlock(&q->send, irq);
    return told;
}

static bool unmask(struct net_queue *q)
{
    arch_io_write32(&regs_of(q)->armed, 1);
    return net_ring_has_received(q) || has_told(q);
}

static void interrupt(void *arg)
{
    struct net_queue *q = arg;

    if (__atomic_load_n(&q->device->running, __ATOMIC_ACQUIRE))
        net_interrupt(q);
}

static void say(const struct net_device *d, const char *event, const char *why)
{
    kprintf("nic: event=%s name=%s reason=device: %s: left alone\n", event, d->name, why);
}

static bool link(struct net_device *d)
{
    struct port *p = port_of(d);
    uint64_t missed = arch_io_read64(&p->regs->missed);

    d->queue[0].in.missed += missed - p->missed;
    p->missed = missed;
    d->mbps = arch_io_read32(&p->regs->mbps);
    if (arch_io_read32(&p->regs->stopped)) {
        say(d, "stopped", "the machine says that the driver broke its rules");
        net_broken(d);
    }
    return true;
}

/* ---- Start and stop -------------------------------------------------------------------------- */

static int make_ring(volatile struct machine_wire_entry **out)
{
    paddr_t at;
    int err = *out ? 0 : frame_alloc(RING_ORDER, &at);

    if (!err && !*out)
        *out = phys_to_virt(at);
    return err;
}

static int connect(struct net_queue *q, struct rings *r)
{
    unsigned id;
    int err =
        r->connected ? 0 : arch_msi_alloc(pci_requester(machine_pci()), q->cpu, interrupt, q, &id);

    if (!err && !r->connected)
        arch_msi_message(id, &r->message);
    r->connected = !err;
    return err;
}

/* Makes what a queue keeps: rings, and an interrupt. */
static int open_queue(struct port *p, struct net_queue *q)
{
    struct rings **r = &p->rings[q->number];

    if (!*r && !(*r = kmalloc(sizeof(**r))))
        return -ENOMEM;
    (*r)->ring.ops = &ring_ops;
    q->driver = *r;
    int err = make_ring(&(*r)->in);
    if (!err)
        err = make_ring(&(*r)->out);
    return err ? err : connect(q, *r);
}

/* Sets a queue's registers, which a reset takes. Returns 0 or -ENOMEM. */
static int start_queue(struct net_queue *q)
{
    struct rings *r = q->driver;
    volatile struct machine_wire_queue *regs = regs_of(q);

    memset((void *)r->out, 0, PAGE_SIZE << RING_ORDER);
    if (!net_ring_begin(q))
        return -ENOMEM;
    r->received = r->sent = r->untold = r->told = 0;
    arch_io_write64(&regs->out_base, virt_to_phys((const void *)r->out));
    arch_io_write64(&regs->in_base, virt_to_phys((const void *)r->in));
    arch_io_write32(&regs->out_entries, RING);
    arch_io_write32(&regs->in_entries, RING);
    arch_io_write64(&regs->irq_address, r->message.address);
    arch_io_write32(&regs->irq_data, r->message.data);
    return 0;
}

static int reset(const struct port *p, unsigned queues)
{
    arch_io_write32(&p->regs->queues, queues);
    arch_io_write32(&p->regs->reset, 1);
    return (int32_t)arch_io_read32(&p->regs->result);
}

static void stop(struct net_device *d)
{
    reset(port_of(d), 0);
    for (unsigned i = 0; i < d->queues; i++)
        net_ring_empty(&d->queue[i]);
}

static int start_port(struct port *p)
{
    struct net_device *d = &p->net;
    int err = 0;

    for (unsigned i = 0; !err && i < d->queues; i++)
        err = open_queue(p, &d->queue[i]);
    pci_enable(machine_pci(), true);
    for (unsigned i = 0; !err && i < d->queues; i++)
        err = start_queue(&d->queue[i]);
    for (unsigned i = 0; i < NET_RSS_KEY_BYTES; i++)
        arch_io_write8(&p->regs->key[i], net_rss_key[i]);
    for (unsigned i = 0; i < NET_RSS_ENTRIES; i++)
        arch_io_write8(&p->regs->spread[i], (uint8_t)net_hash_queue(i, d->queues));
    if (!err)
        err = reset(p, d->queues);
    for (unsigned i = 0; !err && i < d->queues; i++)
        arch_io_write32(&p->regs->queue[i].in_end, RING);
    return err;
}

static int start(struct net_device *d)
{
    int err = start_port(port_of(d));

    if (!err)
        return 0;
    say(d, "refused",
        err == -ENOMEM ? "no memory for its queues"
                       : "it does not take its queues, or nothing here delivers its messages");
    stop(d);
    return err == -ENOMEM ? err : -EIO;
}

static const struct net_ops ops = {
    .start = start,
    .stop = stop,
    .send = send_frames,
    .reclaim = net_ring_reclaim,
    .poll = poll,
    .mask = mask,
    .unmask = unmask,
    .link = link,
};

/* ---- Probe ----------------------------------------------------------------------------------- */

static void add_port(volatile struct machine_wire *regs)
{
    struct port *p = kmalloc(sizeof(*p));

    if (!p) {
        kprintf("nic: event=refused kind=wire reason=memory: no memory for one more\n");
        return;
    }
    p->regs = regs;
    p->net.kind = "wire";
    for (unsigned i = 0; i < NET_MAC_BYTES; i++)
        p->net.mac[i] = arch_io_read8(&regs->mac[i]);
    p->net.mtu = arch_io_read32(&regs->bytes_max) - NET_HEADER_BYTES;
    p->net.queues = MIN((unsigned)arch_io_read16(&regs->queues_max), cpu_count());
    p->net.offloads = NET_CHECKS_SUMS | NET_HASHES | (p->net.queues > 1 ? NET_SPREADS : 0);
    p->net.ops = &ops;
    net_add(&p->net, "in model time");
}

static void probe(void)
{
    const volatile struct machine_id *id = machine_id();

    if (!id || !(id->caps & MACHINE_CAP_WIRE))
        return;
    for (unsigned n = 0; n < MACHINE_WIRE_PORTS; n++)
        add_port(machine_wire(n));
    kprintf("nic: event=timing kind=wire latency_cycles=%llu mbps=%u\n",
            (unsigned long long)arch_io_read64(&machine_wire(0)->latency_cycles),
            arch_io_read32(&machine_wire(0)->mbps));
}

const struct driver net_model_driver = {"wire", DEVICE_NET, probe};
