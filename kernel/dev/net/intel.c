/*
 * Intel's gigabit controllers 82574 (e1000e) and 82576 (igb), by the names of their datasheets
 * (82574 GbE Controller Family Datasheet 3.4; 82576 Gigabit Ethernet Controller Datasheet 2.63).
 * They differ in data (intel_kinds.h). Message interrupts only (MSI-X), one for each queue.
 */
#include "intel_kinds.h"
#include "net_core.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/dev/pci/pci_msi.h"
#include "kernel/mem/mem.h"

#define VENDOR_INTEL  0x8086
#define CARDS_MAX     8
#define RESET_WAIT_NS (20 * NS_PER_MS)
#define SETTLE_NS     (2 * NS_PER_MS) /* after a reset no register may be accessed for 1 ms */
#define REGISTERS     0x20000         /* bytes of BAR 0 */
#define MTU           1500
#define RING          NET_RING_ENTRIES
#define SLOTS_MAX     (NET_PARTS_MAX + 1)

/* Registers that both have. */
enum {
    REG_CTRL = 0x0000,
    REG_STATUS = 0x0008,
    REG_MDIC = 0x0020,
    REG_ICR = 0x00c0,
    REG_IMC = 0x00d8,
    REG_RCTL = 0x0100,
    REG_TCTL = 0x0400,
    REG_MPC = 0x4010, /* missed packets; cleared when it is read */
    REG_RXCSUM = 0x5000,
    REG_MTA = 0x5200, /* 128 words */
    REG_RAL0 = 0x5400,
    REG_RAH0 = 0x5404,
    REG_MRQC = 0x5818,
    REG_RETA = 0x5c00,  /* 32 words of four entries */
    REG_RSSRK = 0x5c80, /* 10 words */
};
/* Registers of a ring, from its base on. */
enum {
    RING_BAL = 0x00,
    RING_BAH = 0x04,
    RING_LEN = 0x08,
    RING_HEAD = 0x10,
    RING_TAIL = 0x18,
    RING_CONTROL = 0x28
};

#define CTRL_GIO_MASTER_DISABLE (1u << 2)
#define CTRL_SLU                (1u << 6)
#define CTRL_RST                (1u << 26)
#define STATUS_LU               (1u << 1)
#define STATUS_SPEED(s)         ((s) >> 6 & 3)
#define STATUS_GIO_MASTER       (1u << 19)
/* MDIC: writes 1200h (IEEE 802.3, 22.2.4.1: negotiate, anew) to register 0 of the PHY, number 1 */
#define MDIC_NEGOTIATE (0x1200 | 1u << 21 | 1u << 26)
#define RCTL_EN        (1u << 1)
#define RCTL_BAM       (1u << 15) /* frames to all */
#define RCTL_SECRC     (1u << 26) /* without Ethernet's checksum */
#define TCTL_EN        (1u << 1)
#define TCTL_PSP       (1u << 3)
#define TCTL_CT        (0x0fu << 4)
#define TCTL_COLD      (0x3fu << 12)
#define RXCSUM_SUMS    (1u << 9 | 1u << 8) /* TUOFLD, IPOFLD */
#define RXCSUM_PCSD    (1u << 13)          /* hashes in place of sums of fragments */
/* TCP and IP, v4 and v6 */
#define MRQC_TYPES (1u << 16 | 1u << 17 | 1u << 20 | 1u << 21)
#define RAH_AV     (1u << 31)

/* The rings of a queue. */
struct rings {
    struct net_ring ring;                       /* first */
    volatile struct intel_descriptor *in, *out; /* RING of each */
};
#define RING_BYTES (RING * sizeof(struct intel_descriptor))
_Static_assert(RING_BYTES == PAGE_SIZE, "a ring is a page");

struct card {
    struct net_device net;
    const struct intel_kind *kind;
    struct pci_device pci;
    char *registers;
    bool opened;                         /* `control` */
    struct pci_msi msi[NET_QUEUES_MAX];  /* `control` */
    struct rings *rings[NET_QUEUES_MAX]; /* [-] */
};

static struct card *card_of(const struct net_device *d)
{
    return container_of(d, struct card, net);
}

static uint32_t get(const struct card *c, uint32_t reg)
{
    return arch_io_read32(c->registers + reg);
}

static void set(const struct card *c, uint32_t reg, uint32_t value)
{
    arch_io_write32(c->registers + reg, value);
}

static uint32_t in_at(const struct card *c, unsigned queue, uint32_t reg)
{
    return c->kind->in + queue * c->kind->stride + reg;
}

static uint32_t out_at(const struct card *c, unsigned queue, uint32_t reg)
{
    return c->kind->out + queue * c->kind->stride + reg;
}

static void say(const struct card *c, const char *why)
{
    kprintf("nic: event=refused kind=%s at=%02x:%02x.%u reason=%s: left alone\n", c->kind->name,
            c->pci.bus, c->pci.slot, c->pci.function, why);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static void offer(struct net_queue *q, unsigned i, paddr_t at)
{
    const struct rings *r = q->driver;

    intel_fill_received(&r->in[i], at);
}

static bool received(const struct net_queue *q, unsigned i, struct net_frame *out)
{
    const struct rings *r = q->driver;

    return intel_read_received(&r->in[i], NET_RING_ROOM, out);
}

static unsigned poll(struct net_queue *q)
{
    const struct card *c = card_of(q->device);
    const struct rings *r = q->driver;
    unsigned n = net_ring_poll(q);

    if (n) /* the device may fill all but one */
        set(c, in_at(c, q->number, RING_TAIL), (r->ring.next + RING - 1) % RING);
    return n;
}

/* ---- Sending --------------------------------------------------------------------------------- */

static void put(struct rings *r, const struct intel_descriptor *d, struct net_send *last)
{
    unsigned at = net_ring_put(&r->ring, last);

    for (unsigned i = 0; i < ARRAY_SIZE(d->word); i++)
        r->out[at].word[i] = d->word[i];
}

/* Puts a frame into the ring, which has room. */
static void put_frame(const struct intel_kind *kind, struct rings *r, struct net_send *s)
{
    struct intel_descriptor d;

    if (s->sum && kind->sending->fill_context(&d, s))
        put(r, &d, NULL);
    for (unsigned i = 0; i < s->parts; i++) {
        kind->sending->fill_part(&d, s, i);
        put(r, &d, i + 1 == s->parts ? s : NULL);
    }
}

static unsigned send_frames(struct net_queue *q, struct net_send *const *frames, unsigned n)
{
    const struct card *c = card_of(q->device);
    struct rings *r = q->driver;
    unsigned i = 0;

    for (; i < n && net_ring_room(&r->ring) >= frames[i]->parts + 1; i++) {
        put_frame(c->kind, r, frames[i]);
        net_taken(q, frames[i]);
    }
    if (i) {
        __atomic_thread_fence(__ATOMIC_RELEASE);
        set(c, out_at(c, q->number, RING_TAIL), r->ring.end);
    }
    return i;
}

static bool was_sent(const struct net_queue *q, unsigned i)
{
    const struct rings *r = q->driver;

    return intel_was_sent(&r->out[i]);
}

static const struct net_ring_ops ring_ops = {
    .offer = offer, .received = received, .was_sent = was_sent};

/* ---- Interrupts, link ------------------------------------------------------------------------ */

static void mask(struct net_queue *q)
{
    const struct card *c = card_of(q->device);

    set(c, c->kind->mask, c->kind->cause[q->number]);
}

static bool unmask(struct net_queue *q)
{
    const struct card *c = card_of(q->device);

    set(c, c->kind->unmask, c->kind->cause[q->number]);
    get(c, REG_STATUS); /* waits for the write */
    return net_ring_has_received(q);
}

static void interrupt(void *arg)
{
    struct net_queue *q = arg;

    if (__atomic_load_n(&q->device->running, __ATOMIC_ACQUIRE))
        net_interrupt(q);
}

static bool link(struct net_device *d)
{
    static const unsigned mbps[] = {10, 100, 1000, 1000};
    uint32_t status = get(card_of(d), REG_STATUS);

    d->mbps = mbps[STATUS_SPEED(status)];
    d->queue[0].in.missed += get(card_of(d), REG_MPC);
    return status & STATUS_LU;
}

/* ---- Start and stop -------------------------------------------------------------------------- */

static bool wait_clear(const struct card *c, uint32_t reg, uint32_t bit)
{
    uint64_t since_ns = arch_clock_ns();

    while (get(c, reg) & bit) {
        if (arch_clock_ns() - since_ns > RESET_WAIT_NS)
            return false;
        arch_cpu_relax();
    }
    return true;
}

/* Resets the controller. Returns whether it accesses no memory any more. */
static bool reset_card(const struct card *c)
{
    uint64_t since_ns;

    set(c, REG_IMC, UINT32_MAX);
    set(c, c->kind->mask, UINT32_MAX);
    set(c, REG_RCTL, 0);
    set(c, REG_TCTL, TCTL_PSP);
    set(c, REG_CTRL, get(c, REG_CTRL) | CTRL_GIO_MASTER_DISABLE);
    wait_clear(c, REG_STATUS, STATUS_GIO_MASTER); /* else the reset ends it */
    set(c, REG_CTRL, get(c, REG_CTRL) | CTRL_RST);
    for (since_ns = arch_clock_ns(); arch_clock_ns() - since_ns < SETTLE_NS;)
        arch_cpu_relax();
    if (!wait_clear(c, REG_CTRL, CTRL_RST))
        return false;
    set(c, REG_IMC, UINT32_MAX);
    set(c, c->kind->mask, UINT32_MAX);
    get(c, REG_ICR);
    return true;
}

static int make_ring(volatile struct intel_descriptor **out)
{
    paddr_t page;
    int err = *out ? 0 : frame_alloc(0, &page);

    if (!err && !*out)
        *out = phys_to_virt(page);
    return err;
}

/* Makes what the card keeps: rings, and interrupts. */
static int open_card(struct card *c)
{
    int err = 0;

    for (unsigned i = 0; !err && i < c->net.queues; i++) {
        struct net_queue *q = &c->net.queue[i];
        if (!c->rings[i] && !(c->rings[i] = kmalloc(sizeof(*c->rings[i]))))
            return -ENOMEM;
        c->rings[i]->ring.ops = &ring_ops;
        q->driver = c->rings[i];
        err = make_ring(&c->rings[i]->in);
        if (!err)
            err = make_ring(&c->rings[i]->out);
        if (!err && !c->msi[i].device.vendor)
            err = pci_msi_connect(&c->pci, i, q->cpu, interrupt, q, &c->msi[i]);
    }
    c->opened = !err;
    return err;
}

static bool wait_enabled(const struct card *c, uint32_t reg)
{
    uint64_t since_ns = arch_clock_ns();

    while (c->kind->enabled && !(get(c, reg) & c->kind->enabled)) {
        if (arch_clock_ns() - since_ns > RESET_WAIT_NS)
            return false;
        arch_cpu_relax();
    }
    return true;
}

static void set_ring(const struct card *c, uint32_t at, const volatile void *ring)
{
    paddr_t pa = virt_to_phys((const void *)ring);

    set(c, at + RING_BAL, (uint32_t)pa);
    set(c, at + RING_BAH, (uint32_t)(pa >> 32));
    set(c, at + RING_LEN, RING_BYTES);
    set(c, at + RING_HEAD, 0);
    set(c, at + RING_TAIL, 0);
}

/* Sets up the rings of a queue, empty and full. Returns whether they work. */
static bool start_queue(const struct card *c, struct net_queue *q)
{
    struct rings *r = q->driver;
    uint32_t in = in_at(c, q->number, 0), out = out_at(c, q->number, 0);

    memset((void *)r->out, 0, RING_BYTES);
    if (!net_ring_begin(q))
        return false;
    set_ring(c, in, r->in);
    set_ring(c, out, r->out);
    set(c, in + RING_CONTROL, c->kind->in_control);
    set(c, out + RING_CONTROL, c->kind->out_control);
    return wait_enabled(c, in + RING_CONTROL) && wait_enabled(c, out + RING_CONTROL);
}

/* Makes the card spread frames over its queues. */
static void spread(const struct card *c)
{
    const uint8_t *key = net_rss_key;

    for (unsigned i = 0; i < NET_RSS_KEY_BYTES; i += 4)
        set(c, REG_RSSRK + i,
            key[i] | (uint32_t)key[i + 1] << 8 | (uint32_t)key[i + 2] << 16 |
                (uint32_t)key[i + 3] << 24);
    for (unsigned i = 0; i < NET_RSS_ENTRIES; i += 4) {
        uint32_t entries = 0;
        for (unsigned k = 0; k < 4; k++)
            entries |= net_hash_queue(i + k, c->net.queues) << c->kind->entry_shift << 8 * k;
        set(c, REG_RETA + i, entries);
    }
    set(c, REG_RXCSUM, RXCSUM_SUMS | RXCSUM_PCSD);
    set(c, REG_MRQC, c->kind->spread | MRQC_TYPES);
}

static void set_address(const struct card *c)
{
    const uint8_t *mac = c->net.mac;

    for (unsigned i = 0; i < 128; i++)
        set(c, REG_MTA + 4 * i, 0);
    set(c, REG_RAL0,
        mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 | (uint32_t)mac[3] << 24);
    set(c, REG_RAH0, mac[4] | (uint32_t)mac[5] << 8 | RAH_AV);
}

/* Returns what is wrong with the card, or NULL. */
static const char *start_card(struct card *c)
{
    if (!reset_card(c))
        return "reset: it does not reset";
    pci_enable(&c->pci, true);
    for (const struct intel_write *w = c->kind->start; w->reg; w++)
        set(c, w->reg, w->value);
    set_address(c);
    set(c, REG_CTRL, (get(c, REG_CTRL) & ~CTRL_GIO_MASTER_DISABLE) | CTRL_SLU);
    if (!(get(c, REG_STATUS) & STATUS_LU))
        set(c, REG_MDIC, MDIC_NEGOTIATE);
    spread(c);
    set(c, REG_TCTL, TCTL_EN | TCTL_PSP | TCTL_CT | TCTL_COLD);
    for (unsigned i = 0; i < c->net.queues; i++)
        if (!start_queue(c, &c->net.queue[i]))
            return "rings: its rings do not start";
    set(c, REG_RCTL, RCTL_EN | RCTL_BAM | RCTL_SECRC);
    for (unsigned i = 0; i < c->net.queues; i++)
        set(c, in_at(c, i, RING_TAIL), RING - 1);
    return NULL;
}

static void stop(struct net_device *d)
{
    struct card *c = card_of(d);

    if (!reset_card(c))
        pci_silence(&c->pci);
    for (unsigned i = 0; i < d->queues; i++)
        net_ring_empty(&d->queue[i]);
}

static int start(struct net_device *d)
{
    struct card *c = card_of(d);
    int err = c->opened ? 0 : open_card(c);

    if (err) {
        say(c, err == -ENOMEM ? "memory: no memory for its queues"
                              : "interrupts: it has too few message interrupts, or nothing here "
                                "delivers them");
        return err == -ENOMEM ? err : -EIO;
    }
    const char *why = start_card(c);
    if (!why)
        return 0;
    say(c, why);
    stop(d);
    return -EIO;
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

/* Reads what the card is, and leaves it still. Returns what is wrong with it, or NULL. */
static const char *measure_card(struct card *c)
{
    struct net_device *d = &c->net;
    paddr_t base;
    uint64_t size;

    if (pci_bar(&c->pci, 0, &base, &size) || size < REGISTERS)
        return "registers: its registers cannot be reached";
    pci_enable(&c->pci, false);
    c->registers = arch_map_device(base, REGISTERS);
    if (!c->registers)
        return "registers: its registers cannot be reached";
    uint32_t low = get(c, REG_RAL0), high = get(c, REG_RAH0);
    for (unsigned i = 0; i < NET_MAC_BYTES; i++)
        d->mac[i] = (uint8_t)((i < 4 ? low >> 8 * i : high >> 8 * (i - 4)) & 0xff);
    if (!(high & RAH_AV) || (d->mac[0] & 1))
        return "address: it has no address of its own";
    d->kind = c->kind->name;
    d->mtu = MTU;
    d->queues = MIN(c->kind->queues, cpu_count());
    d->offloads = NET_MAKES_SUMS | NET_CHECKS_SUMS | NET_HASHES | (d->queues > 1 ? NET_SPREADS : 0);
    d->ops = &ops;
    return NULL;
}

static void add_card(const struct intel_kind *kind, const struct pci_device *pci)
{
    struct card *c = kmalloc(sizeof(*c));
    char where[40];

    if (!c) {
        kprintf("nic: event=refused kind=%s reason=memory: no memory for one more\n", kind->name);
        return;
    }
    c->kind = kind;
    c->pci = *pci;
    const char *why = measure_card(c);
    if (why) {
        say(c, why);
        kfree(c);
        return;
    }
    ksnprintf(where, sizeof(where), "at %02x:%02x.%u", pci->bus, pci->slot, pci->function);
    net_add(&c->net, where);
}

static void probe(void)
{
    struct pci_device pci;

    for (unsigned k = 0; k < INTEL_KINDS; k++)
        for (const uint16_t *id = intel_kinds[k].ids; *id; id++)
            for (unsigned nth = 0; nth < CARDS_MAX && !pci_find(VENDOR_INTEL, *id, nth, &pci);
                 nth++)
                add_card(&intel_kinds[k], &pci);
}

const struct driver net_intel_driver = {"intel", DEVICE_NET, probe};
