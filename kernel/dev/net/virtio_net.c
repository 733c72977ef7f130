/*
 * Virtio network devices (Virtual I/O Device 1.2, 5.1) on PCI. Each pair of queues has an interrupt
 * if the device has enough of them, else all share one. Frames are sent from a table of their
 * parts, with a header in front; received ones may be spread over several buffers, the first of
 * which begins with a header.
 */
#include "net_core.h"
#include "virtio_net_frame.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/dev/virtio/virtio.h"
#include "kernel/mem/mem.h"

#define KIND_NET        1
#define CARDS_MAX       8
#define COMMAND_WAIT_NS (100 * NS_PER_MS)
#define MTU_MIN         68
#define MTU_DEFAULT     1500
#define MTU_MAX         9000
#define BUFFERS_MAX     (MTU_MAX / 1024) /* of a frame */

/* 5.1.3 */
#define FEATURE_CSUM       ((uint64_t)1 << 0)
#define FEATURE_GUEST_CSUM ((uint64_t)1 << 1)
#define FEATURE_MTU        ((uint64_t)1 << 3)
#define FEATURE_MAC        ((uint64_t)1 << 5)
#define FEATURE_MRG_RXBUF  ((uint64_t)1 << 15)
#define FEATURE_STATUS     ((uint64_t)1 << 16)
#define FEATURE_CTRL_VQ    ((uint64_t)1 << 17)
#define FEATURE_MQ         ((uint64_t)1 << 22)
#define FEATURE_RSS        ((uint64_t)1 << 60)
#define FEATURE_SPEED      ((uint64_t)1 << 63)
#define FEATURES                                                                         \
    (FEATURE_CSUM | FEATURE_GUEST_CSUM | FEATURE_MTU | FEATURE_MAC | FEATURE_MRG_RXBUF | \
     FEATURE_STATUS | FEATURE_CTRL_VQ | FEATURE_MQ | FEATURE_RSS | FEATURE_SPEED |       \
     VIRTIO_FEATURE_INDIRECT)

/* 5.1.4 */
enum {
    CONFIG_MAC = 0,
    CONFIG_STATUS = 6,
    CONFIG_PAIRS = 8,
    CONFIG_MTU = 10,
    CONFIG_SPEED = 12,
    CONFIG_RSS_KEY = 17,
    CONFIG_RSS_ENTRIES = 18,
    CONFIG_HASH_TYPES = 20,
};
#define STATUS_LINK_UP 1
#define SPEED_UNKNOWN  0xffffffffu

/* 5.1.6.5.5, 5.1.6.5.6, 5.1.6.5.7 */
enum { CLASS_MQ = 4, COMMAND_MQ_PAIRS = 0, COMMAND_MQ_RSS = 1 };
enum { HASH_IPV4 = 1, HASH_TCPV4 = 2, HASH_IPV6 = 8, HASH_TCPV6 = 16 };
#define HASH_TYPES (HASH_IPV4 | HASH_TCPV4 | HASH_IPV6 | HASH_TCPV6)

/* A command, in a frame. */
struct control {
    uint8_t class, command;
    uint8_t reply ALIGNED(4); /* written by the device: 0: done */
    union {
        uint16_t pairs;
        struct PACKED {
            uint32_t hash_types;
            uint16_t mask, unclassified, entries[NET_RSS_ENTRIES], senders;
            uint8_t key_bytes, key[NET_RSS_KEY_BYTES];
        } rss;
    } data ALIGNED(4);
};
_Static_assert(sizeof(struct control) <= PAGE_SIZE, "one frame holds it");

/* The memory that a frame in flight needs besides its parts, which the device accesses. */
struct slot {
    struct virtio_net_header header ALIGNED(16);
    struct virtq_descriptor table[NET_PARTS_MAX + 1] ALIGNED(16);
};
#define SLOTS_IN_PAGE (unsigned)(PAGE_SIZE / sizeof(struct slot))

/* Locking: as in net_device.h, of the queue. */
struct pair {
    struct virtio_queue in;  /* [W] */
    struct virtio_queue out; /* [S] */
    struct sending {
        struct net_send *frame; /* [S] */
        struct slot *slot;      /* [-] */
        struct sending *next;   /* [S] free ones */
    } sending[VIRTQ_SIZE_MAX];
    struct sending *free; /* [S] */
};

struct card {
    struct net_device net;
    struct virtio_device device;
    unsigned header_bytes;             /* [-] of a frame */
    unsigned pairs_max;                /* [-] that the device has */
    unsigned vectors;                  /* [-] connected ones; 0: not opened yet */
    bool opened, unusable;             /* `control`: its queues have memory; it could not be had */
    struct virtio_queue commands;      /* `control` */
    struct control *control;           /* `control` */
    struct pair *pair[NET_QUEUES_MAX]; /* [-] */
};

static struct card *card_of(const struct net_queue *q)
{
    return container_of(q->device, struct card, net);
}

static void fail_card(struct card *c, const char *why)
{
    virtio_fail(&c->device, why);
    net_broken(&c->net);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* Where the device begins to write: a frame behind a header is aligned as net_device.h says. */
static unsigned buffer_start(const struct card *c)
{
    return NET_BUFFER_MARGIN + 2 - c->header_bytes % 4;
}

static void offer(const struct card *c, struct pair *p, struct net_buffer *b)
{
    unsigned at = buffer_start(c);
    struct virtq_buffer part = {virt_to_phys(b->memory + at), (uint32_t)(NET_BUFFER_BYTES - at),
                                true};
    int err = virtq_add(&p->in.ring, &part, 1, b);

    ASSERT(!err); /* as many as were taken back, or as the ring has room for */
}

/* Offers other buffers in place of a frame's. Returns false if there are not as many: then its own
 * are offered again. */
static bool replace(const struct card *c, struct net_queue *q, struct net_buffer *frame)
{
    struct net_buffer *others = NULL, *b = frame;

    for (; b; b = b->next) {
        struct net_buffer *other = net_take(q);
        if (!other)
            break;
        other->next = others;
        others = other;
    }
    bool enough = !b;
    if (!enough && others)
        net_free(others);
    for (struct net_buffer *it = enough ? others : frame, *next; it; it = next) {
        next = it->next;
        it->next = NULL;
        offer(c, q->driver, it);
    }
    return enough;
}

/* Takes a buffer that the device has filled. Returns 0; -EAGAIN: there is none; -EIO. */
static int take_buffer(struct net_queue *q, struct net_buffer **out, uint32_t *written)
{
    struct pair *p = q->driver;
    void *token;
    int err = virtq_take(&p->in.ring, &token, written);

    if (err)
        return err;
    *out = token;
    (*out)->next = NULL;
    (*out)->bytes = *written;
    (*out)->data = (*out)->memory + buffer_start(card_of(q));
    return 0;
}

/* Takes the rest of a frame, n buffers. Returns whether the device has written all of them. */
static bool take_rest(struct net_queue *q, struct net_buffer *first, unsigned n)
{
    struct net_buffer *last = first;
    uint32_t written;

    for (; n; n--, last = last->next)
        if (take_buffer(q, &last->next, &written) || !written)
            return false;
    return true;
}

/* Takes a frame. Returns false if there is none, or the device has failed. */
static bool take_frame(struct card *c, struct net_queue *q, unsigned *entries)
{
    bool merges = c->device.features & FEATURE_MRG_RXBUF;
    struct virtio_net_frame said;
    struct net_buffer *b;
    uint32_t written;
    int err = take_buffer(q, &b, &written);

    if (err) {
        if (err == -EIO && !c->device.failed)
            fail_card(c, "device: it returned a buffer that was not its");
        return false;
    }
    if (virtio_net_read_header(b->data, written, (uint32_t)(NET_BUFFER_BYTES - buffer_start(c)),
                               merges, c->net.offloads & NET_CHECKS_SUMS, BUFFERS_MAX, &said) ||
        !take_rest(q, b, said.buffers - 1)) {
        net_free(b);
        fail_card(c, "device: the header of a frame is wrong");
        return false;
    }
    *entries += said.buffers;
    if (!replace(c, q, b)) {
        net_dropped(q, true);
        return true;
    }
    b->data += c->header_bytes;
    b->bytes -= c->header_bytes;
    b->flags = said.flags;
    net_received(q, b);
    return true;
}

static unsigned poll(struct net_queue *q)
{
    struct card *c = card_of(q);
    struct pair *p = q->driver;
    unsigned entries = 0, frames = 0;

    while (frames < NET_BATCH && take_frame(c, q, &entries))
        frames++;
    if (entries)
        virtio_notify(&p->in);
    return entries;
}

/* ---- Sending --------------------------------------------------------------------------------- */

static int add_frame(const struct card *c, struct pair *p, struct sending *s)
{
    struct virtq_buffer b[NET_PARTS_MAX + 1];
    const struct net_send *frame = s->frame;

    virtio_net_write_header(&s->slot->header, frame->sum ? frame->sum_from : 0, frame->sum_at);
    b[0] = (struct virtq_buffer){virt_to_phys(&s->slot->header), c->header_bytes, false};
    for (unsigned i = 0; i < frame->parts; i++)
        b[i + 1] = (struct virtq_buffer){frame->part[i].at, frame->part[i].bytes, false};
    return c->device.features & VIRTIO_FEATURE_INDIRECT
               ? virtq_add_indirect(&p->out.ring, s->slot->table, virt_to_phys(s->slot->table), b,
                                    frame->parts + 1, s)
               : virtq_add(&p->out.ring, b, frame->parts + 1, s);
}

static unsigned send_frames(struct net_queue *q, struct net_send *const *frames, unsigned n)
{
    struct pair *p = q->driver;
    unsigned i = 0;

    for (; i < n && p->free; i++) {
        struct sending *s = p->free;
        s->frame = frames[i];
        if (add_frame(card_of(q), p, s))
            break;
        p->free = s->next;
        net_taken(q, frames[i]);
    }
    if (i)
        virtio_notify(&p->out);
    return i;
}

static void reclaim(struct net_queue *q)
{
    struct card *c = card_of(q);
    struct pair *p = q->driver;
    uint32_t written;
    void *token;
    int err;

    while (!(err = virtq_take(&p->out.ring, &token, &written))) {
        struct sending *s = token;
        net_sent(q, s->frame);
        s->next = p->free;
        p->free = s;
    }
    if (err == -EIO && !c->device.failed)
        fail_card(c, "device: it returned a frame that was not its");
}

/* ---- Interrupts, link ------------------------------------------------------------------------ */

static void mask(struct net_queue *q)
{
    struct pair *p = q->driver;

    virtq_interrupts(&p->in.ring, false);
    virtq_interrupts(&p->out.ring, false);
}

static bool unmask(struct net_queue *q)
{
    struct pair *p = q->driver;
    bool in = virtq_interrupts(&p->in.ring, true), out = virtq_interrupts(&p->out.ring, true);

    return in || out;
}

static void interrupt(void *arg)
{
    struct net_queue *q = arg;
    struct net_device *d = q->device;

    if (!__atomic_load_n(&d->running, __ATOMIC_ACQUIRE))
        return; /* net_open() makes the threads look */
    if (card_of(q)->vectors == d->queues)
        net_interrupt(q);
    else
        for (unsigned i = 0; i < d->queues; i++)
            net_interrupt(&d->queue[i]);
}

static bool link(struct net_device *d)
{
    const struct virtio_device *v = &container_of(d, struct card, net)->device;
    uint32_t mbps = v->features & FEATURE_SPEED ? virtio_config(v, CONFIG_SPEED) : 0;

    d->mbps = mbps == SPEED_UNKNOWN ? 0 : mbps;
    return !(v->features & FEATURE_STATUS) || (virtio_config16(v, CONFIG_STATUS) & STATUS_LINK_UP);
}

/* ---- Commands -------------------------------------------------------------------------------- */

/* Makes the device obey a command of which `data` is set. Returns whether it did. */
static bool command(struct card *c, uint8_t class, uint8_t command, uint32_t bytes)
{
    struct control *k = c->control;
    const struct virtq_buffer b[] = {{virt_to_phys(&k->class), 2, false},
                                     {virt_to_phys(&k->data), bytes, false},
                                     {virt_to_phys(&k->reply), 1, true}};
    uint64_t until_ns = arch_clock_ns() + COMMAND_WAIT_NS;
    uint32_t written;
    void *token;
    int err;

    k->class = class;
    k->command = command;
    k->reply = 0xff;
    if (virtq_add(&c->commands.ring, b, ARRAY_SIZE(b), k))
        return false;
    virtio_notify(&c->commands);
    while ((err = virtq_take(&c->commands.ring, &token, &written)) == -EAGAIN &&
           arch_clock_ns() < until_ns)
        arch_cpu_relax();
    return !err && !*(volatile uint8_t *)&k->reply;
}

/* Makes the device use all pairs of queues that the card has. */
static bool use_pairs(struct card *c)
{
    unsigned queues = c->net.queues;

    if (queues == 1)
        return true;
    if (!(c->net.offloads & NET_SPREADS)) {
        c->control->data.pairs = (uint16_t)queues;
        return command(c, CLASS_MQ, COMMAND_MQ_PAIRS, sizeof(uint16_t));
    }
    c->control->data.rss.hash_types = HASH_TYPES;
    c->control->data.rss.mask = NET_RSS_ENTRIES - 1;
    c->control->data.rss.unclassified = 0;
    for (unsigned i = 0; i < NET_RSS_ENTRIES; i++)
        c->control->data.rss.entries[i] = (uint16_t)net_hash_queue(i, queues);
    c->control->data.rss.senders = (uint16_t)queues;
    c->control->data.rss.key_bytes = NET_RSS_KEY_BYTES;
    memcpy(c->control->data.rss.key, net_rss_key, NET_RSS_KEY_BYTES);
    return command(c, CLASS_MQ, COMMAND_MQ_RSS, sizeof(c->control->data.rss));
}

/* ---- Start and stop -------------------------------------------------------------------------- */

static int make_slots(struct pair *p)
{
    paddr_t page = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(p->sending); i++) {
        if (!(i % SLOTS_IN_PAGE) && frame_alloc_zeroed(&page))
            return -ENOMEM;
        p->sending[i].slot = (struct slot *)phys_to_virt(page) + i % SLOTS_IN_PAGE;
    }
    return 0;
}

static int open_pair(struct card *c, unsigned i)
{
    struct virtio_device *d = &c->device;
    unsigned vector = i < c->vectors ? i : 0;
    struct pair *p = kmalloc(sizeof(*p));

    if (!p || make_slots(p))
        return -ENOMEM;
    c->pair[i] = p;
    c->net.queue[i].driver = p;
    int err = virtio_queue_open(d, 2 * i, NET_RING_ENTRIES, vector, &p->in);
    return err ? err : virtio_queue_open(d, 2 * i + 1, NET_RING_ENTRIES, vector, &p->out);
}

static int open_commands(struct card *c)
{
    paddr_t frame;

    if (c->net.queues == 1)
        return 0;
    if (frame_alloc_zeroed(&frame))
        return -ENOMEM;
    c->control = phys_to_virt(frame);
    return virtio_queue_open(&c->device, 2 * c->pairs_max, 4, VIRTIO_NO_VECTOR, &c->commands);
}

/* Connects an interrupt for each pair, or one for all. */
static int connect_interrupts(struct card *c)
{
    for (unsigned i = 0; i < c->net.queues; i++) {
        struct net_queue *q = &c->net.queue[i];
        int err = virtio_connect(&c->device, i, q->cpu, interrupt, q);
        if (err && !i)
            return err;
        if (err)
            break;
        c->vectors = i + 1;
    }
    if (c->vectors < c->net.queues)
        c->vectors = 1;
    return 0;
}

/* Sets up everything for the first time. */
static int open_card(struct card *c)
{
    int err = c->unusable ? -EIO : connect_interrupts(c);

    for (unsigned i = 0; !err && i < c->net.queues; i++)
        err = open_pair(c, i);
    if (!err)
        err = open_commands(c);
    c->opened = !err;
    c->unusable |= err;
    return err;
}

static int open_again(struct card *c)
{
    int err = virtio_restart(&c->device);

    for (unsigned i = 0; !err && i < c->net.queues; i++) {
        err = virtio_queue_again(&c->pair[i]->in);
        if (!err)
            err = virtio_queue_again(&c->pair[i]->out);
    }
    return !err && c->control ? virtio_queue_again(&c->commands) : err;
}

static void prepare_pair(const struct card *c, struct net_queue *q)
{
    struct pair *p = q->driver;
    struct net_buffer *b;

    p->free = NULL;
    for (unsigned i = 0; i < p->out.ring.size; i++) {
        p->sending[i].next = p->free;
        p->free = &p->sending[i];
    }
    while (p->in.ring.free && (b = net_take(q)))
        offer(c, p, b);
    mask(q);
}

static int start(struct net_device *d)
{
    struct card *c = container_of(d, struct card, net);
    int err = c->opened ? open_again(c) : open_card(c);

    if (err) {
        if (err != -EIO)
            virtio_fail(&c->device, err == -ENOMEM ? "memory: no memory for its queues"
                                                   : "queues: it has not the queues it must have");
        return err == -ENOMEM ? err : -EIO;
    }
    for (unsigned i = 0; i < d->queues; i++)
        prepare_pair(c, &d->queue[i]);
    virtio_start(&c->device);
    for (unsigned i = 0; i < d->queues; i++)
        virtio_notify(&c->pair[i]->in);
    if (use_pairs(c))
        return 0;
    virtio_fail(&c->device, "device: it does not use its queues");
    d->ops->stop(d);
    return -EIO;
}

static void stop(struct net_device *d)
{
    struct card *c = container_of(d, struct card, net);
    struct net_buffer *b;

    virtio_stop(&c->device);
    for (unsigned i = 0; i < d->queues; i++)
        while ((b = virtq_abandon(&c->pair[i]->in.ring))) {
            b->next = NULL;
            net_free(b);
        }
}

static const struct net_ops ops = {
    .start = start,
    .stop = stop,
    .send = send_frames,
    .reclaim = reclaim,
    .poll = poll,
    .mask = mask,
    .unmask = unmask,
    .link = link,
};

/* ---- Probe ----------------------------------------------------------------------------------- */

static bool spreads(const struct virtio_device *v)
{
    return (v->features & FEATURE_RSS) && virtio_config8(v, CONFIG_RSS_KEY) >= NET_RSS_KEY_BYTES &&
           virtio_config16(v, CONFIG_RSS_ENTRIES) >= NET_RSS_ENTRIES &&
           (virtio_config(v, CONFIG_HASH_TYPES) & HASH_TYPES) == HASH_TYPES;
}

static unsigned mtu_of(const struct virtio_device *v)
{
    unsigned mtu = v->features & FEATURE_MTU ? virtio_config16(v, CONFIG_MTU) : MTU_DEFAULT;
    unsigned most = v->features & FEATURE_MRG_RXBUF ? MTU_MAX : MTU_DEFAULT;

    return mtu < MTU_MIN ? MTU_DEFAULT : MIN(mtu, most);
}

static void measure_card(struct card *c)
{
    const struct virtio_device *v = &c->device;
    struct net_device *d = &c->net;
    bool many = (v->features & FEATURE_CTRL_VQ) && (v->features & (FEATURE_MQ | FEATURE_RSS));

    c->header_bytes = sizeof(struct virtio_net_header);
    c->pairs_max = many ? MAX(virtio_config16(v, CONFIG_PAIRS), (uint16_t)1) : 1;
    d->queues = MIN(MIN(c->pairs_max, (unsigned)NET_QUEUES_MAX), cpu_count());
    for (unsigned i = 0; i < NET_MAC_BYTES; i++)
        d->mac[i] = virtio_config8(v, CONFIG_MAC + i);
    d->mtu = mtu_of(v);
    d->offloads = (v->features & FEATURE_CSUM ? NET_MAKES_SUMS : 0) |
                  (v->features & FEATURE_GUEST_CSUM ? NET_CHECKS_SUMS : 0) |
                  (d->queues > 1 && spreads(v) ? NET_SPREADS : 0);
    d->kind = "virtio";
    d->ops = &ops;
}

static void probe(void)
{
    for (unsigned nth = 0; nth < CARDS_MAX; nth++) {
        struct card *c = kmalloc(sizeof(*c));
        char where[40];
        int err =
            c ? virtio_open(KIND_NET, nth, "nic", FEATURE_MAC, FEATURES, &c->device) : -ENOMEM;
        if (err)
            kfree(c);
        if (err == -ENOMEM)
            kprintf("nic: event=refused kind=virtio reason=memory: no memory for one more\n");
        if (err == -EIO)
            continue;
        if (err)
            return;
        const struct pci_device *pci = &c->device.pci;
        ksnprintf(where, sizeof(where), "at %02x:%02x.%u", pci->bus, pci->slot, pci->function);
        measure_card(c);
        net_add(&c->net, where);
    }
}

const struct driver net_virtio_driver = {"virtio-net", DEVICE_NET, probe};
