/*
 * The registers of the machine's wire (kernel/dev/model/machine.h, struct machine_wire), and the
 * rings of its ports in the guest's memory. What the guest has written is taken once, and checked,
 * before it is used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "test/machine/engine.h"

#define HEADER    14 /* of Ethernet */
#define BYTES_MAX (HEADER + 1500)

/* A ring. Numbers of entries count on without end. */
struct ring {
    paddr_t base;
    uint32_t entries;
    uint32_t next; /* the first entry that is not done */
    uint32_t end;  /* out: the first that was not taken */
};

static struct wire wire;

static struct port {
    volatile struct machine_wire *page;
    unsigned queues; /* in use */
    uint8_t key[MACHINE_WIRE_KEY_BYTES];
    uint8_t spread[MACHINE_WIRE_SPREAD];
    struct queue {
        struct ring out, in;
        uint64_t irq_address;
        uint32_t irq_data;
        bool stopped;
    } queue[MACHINE_WIRE_QUEUES];
} ports[MACHINE_WIRE_PORTS];

void wire_open(unsigned queues, uint64_t latency_cycles, uint32_t mbps)
{
    wire_init(&wire, latency_cycles, mbps, 1 << CYCLE_SHIFT);
    for (unsigned i = 0; i < MACHINE_WIRE_PORTS; i++)
        ports[i].queues = queues; /* until wire_regs_init */
}

void wire_regs_init(void)
{
    if (!wire.there)
        return;
    machine.id->caps |= MACHINE_CAP_WIRE;
    for (unsigned i = 0; i < MACHINE_WIRE_PORTS; i++) {
        struct port *p = &ports[i];
        p->page =
            (volatile struct machine_wire *)(machine.pages + MACHINE_WIRE_OFFSET + i * PAGE_SIZE);
        const uint8_t mac[] = {0x52, 0x54, 0x00, 0x56, 0x57, (uint8_t)i}; /* QEMU's own begin so */
        memcpy((void *)p->page->mac, mac, sizeof(mac));
        p->page->queues_max = (uint16_t)p->queues;
        p->page->bytes_max = BYTES_MAX;
        p->page->mbps = wire.mbps;
        p->page->latency_cycles = wire.latency >> CYCLE_SHIFT;
        p->queues = 0;
    }
}

const volatile struct machine_wire *wire_port(unsigned port)
{
    return wire.there && port < MACHINE_WIRE_PORTS ? ports[port].page : NULL;
}

uint64_t wire_busy(unsigned port)
{
    return wire.from[port].busy >> CYCLE_SHIFT;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static paddr_t entry_at(const struct ring *r, uint32_t number)
{
    return r->base + number % r->entries * sizeof(struct machine_wire_entry);
}

/* Stops a queue whose guest broke the rules. */
static void stop(struct port *p, unsigned queue)
{
    p->queue[queue].stopped = true;
    p->page->stopped |= 1u << queue;
    p->page->wrong++;
}

static void tell(struct port *p, unsigned queue)
{
    const struct queue *q = &p->queue[queue];

    if (!p->page->queue[queue].armed || !q->irq_address)
        return;
    p->page->queue[queue].armed = 0;
    interrupt_send_device(q->irq_address, q->irq_data);
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Adds up the parts of the frame that begins with the next entry. Returns how many entries it has;
 * 0: it is none. */
static uint32_t measure(const struct ring *r, uint32_t end, uint32_t *bytes, bool *tells)
{
    struct machine_wire_entry e;
    uint64_t all = 0;

    for (uint32_t n = 1; n <= MACHINE_WIRE_PARTS_MAX && n <= end - r->end; n++) {
        dma_read(entry_at(r, r->end + n - 1), &e, sizeof(e));
        all += e.bytes;
        if (!e.bytes || all > BYTES_MAX || !dma_in_memory(e.at, e.bytes))
            return 0;
        if (!(e.flags & MACHINE_WIRE_LAST))
            continue;
        *bytes = (uint32_t)all;
        *tells = e.flags & MACHINE_WIRE_TELL;
        return all >= HEADER ? n : 0;
    }
    return 0;
}

/* Offers the frames up to a doorbell to the wire. */
static void send(const struct vcpu *v, unsigned port, unsigned queue)
{
    struct port *p = &ports[port];
    struct ring *r = &p->queue[queue].out;
    uint32_t end = p->page->queue[queue].out_end, bytes, entries;
    bool tells;

    if (queue >= p->queues || p->queue[queue].stopped)
        return;
    if (end - r->next > r->entries || end - r->next < r->end - r->next) {
        stop(p, queue);
        return;
    }
    while (r->end != end && (entries = measure(r, end, &bytes, &tells))) {
        struct wire_frame *f = wire_send(&wire, port, v->now, bytes);
        if (!f)
            machine_error("out of memory");
        f->queue = queue;
        f->entries = entries;
        f->tell = tells;
        r->end += entries;
    }
    if (r->end != end)
        stop(p, queue);
}

/* Reads a frame's bytes, and says in its entries that it has left. The guest may have changed an
 * entry meanwhile. */
static void leave(struct port *p, struct wire_frame *f)
{
    struct queue *q = &p->queue[f->queue];
    struct machine_wire_entry e;
    uint32_t at = 0;

    f->lost = q->stopped;
    for (uint32_t i = 0; !f->lost && i < f->entries; i++) {
        paddr_t entry = entry_at(&q->out, q->out.next);
        dma_read(entry, &e, sizeof(e));
        if (e.bytes > f->bytes - at || !dma_in_memory(e.at, e.bytes)) {
            stop(p, f->queue);
            f->lost = true;
            break;
        }
        dma_read(e.at, f->data + at, e.bytes);
        at += e.bytes;
        e.flags |= MACHINE_WIRE_DONE;
        e.time = f->leaves >> CYCLE_SHIFT;
        dma_write(entry, &e, sizeof(e));
        q->out.next++;
    }
    if (f->lost)
        return;
    p->page->sent++;
    p->page->sent_bytes += f->bytes;
    if (f->tell)
        tell(p, f->queue);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static bool is_for(const struct port *p, const struct wire_frame *f)
{
    uint8_t mac[sizeof(p->page->mac)];

    memcpy(mac, (const void *)p->page->mac, sizeof(mac));
    return (f->data[0] & 1) || !memcmp(f->data, mac, sizeof(mac));
}

/* Writes a frame to the next entry of the ring. Returns false if that is impossible. */
static bool write_frame(const struct ring *r, const struct wire_frame *f, uint32_t flags,
                        uint32_t hash)
{
    paddr_t at = entry_at(r, r->next);
    struct machine_wire_entry e;

    dma_read(at, &e, sizeof(e));
    if (e.bytes < f->bytes || !dma_in_memory(e.at, f->bytes))
        return false;
    dma_write(e.at, f->data, f->bytes);
    e.bytes = f->bytes;
    e.flags = flags | MACHINE_WIRE_DONE;
    e.time = f->arrives >> CYCLE_SHIFT;
    e.hash = hash;
    dma_write(at, &e, sizeof(e));
    return true;
}

/* Puts a frame into a queue. Returns false if it is dropped. */
static bool take_in(struct port *p, unsigned queue, const struct wire_frame *f, uint32_t flags,
                    uint32_t hash)
{
    struct ring *r = &p->queue[queue].in;
    uint32_t offered = p->page->queue[queue].in_end - r->next;

    if (p->queue[queue].stopped || !offered)
        return false;
    if (offered > r->entries || !write_frame(r, f, flags, hash)) {
        stop(p, queue);
        return false;
    }
    r->next++;
    return true;
}

static void arrive(struct port *p, const struct wire_frame *f)
{
    uint32_t hash, flags = 0;

    if (!is_for(p, f)) {
        p->page->foreign++;
        return;
    }
    if (wire_hash_frame(p->key, f->data, f->bytes, &hash))
        flags |= MACHINE_WIRE_HASHED;
    if (wire_sum_is_right(f->data, f->bytes))
        flags |= MACHINE_WIRE_CHECKED;
    unsigned queue = p->spread[hash % MACHINE_WIRE_SPREAD];
    if (!p->queues || !take_in(p, queue, f, flags, hash)) {
        p->page->missed++;
        return;
    }
    p->page->received++;
    p->page->received_bytes += f->bytes;
    tell(p, queue);
}

/* ---- Time ------------------------------------------------------------------------------------ */

uint64_t wire_deadline(void)
{
    return wire_next(&wire);
}

void wire_run(uint64_t now)
{
    struct wire_frame *f;

    for (uint64_t next; (next = wire_next(&wire)) <= now && next != NEVER;)
        for (unsigned port = 0; port < MACHINE_WIRE_PORTS; port++) {
            while ((f = wire_leaving(&wire, port, next)))
                leave(&ports[port], f);
            while ((f = wire_arriving(&wire, port, next))) {
                if (!f->lost)
                    arrive(&ports[(port + 1) % MACHINE_WIRE_PORTS], f);
                free(f);
            }
        }
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* Takes a ring. Returns whether it can be. */
static bool take_ring(struct ring *r, uint64_t base, uint32_t entries)
{
    *r = (struct ring){.base = base, .entries = entries};
    return is_pow2(entries) && entries <= MACHINE_WIRE_ENTRIES_MAX &&
           IS_ALIGNED(base, MACHINE_WIRE_ALIGN) &&
           dma_in_memory(base, entries * sizeof(struct machine_wire_entry));
}

static bool take_queue(struct queue *q, volatile struct machine_wire_queue *asked)
{
    *q = (struct queue){.irq_address = asked->irq_address, .irq_data = asked->irq_data};
    asked->out_end = asked->in_end = asked->armed = 0;
    return take_ring(&q->out, asked->out_base, asked->out_entries) &&
           take_ring(&q->in, asked->in_base, asked->in_entries);
}

static bool take_settings(struct port *p, unsigned queues)
{
    if (queues > p->page->queues_max)
        return false;
    memcpy(p->key, (const void *)p->page->key, sizeof(p->key));
    memcpy(p->spread, (const void *)p->page->spread, sizeof(p->spread));
    for (unsigned i = 0; i < queues; i++)
        if (!take_queue(&p->queue[i], &p->page->queue[i]))
            return false;
    for (unsigned i = 0; queues && i < MACHINE_WIRE_SPREAD; i++)
        if (p->spread[i] >= queues)
            return false;
    return true;
}

static int reset(unsigned port)
{
    struct port *p = &ports[port];
    unsigned queues = p->page->queues;

    wire_forget(&wire, port);
    p->queues = 0;
    p->page->stopped = 0;
    if (!take_settings(p, queues))
        return -EINVAL;
    p->queues = queues;
    return 0;
}

void wire_store(struct vcpu *v, unsigned port, size_t offset)
{
    const size_t first = offsetof(struct machine_wire, queue);
    size_t in_queue = (offset - first) % sizeof(struct machine_wire_queue);

    if (!wire.there)
        return;
    if (offset == offsetof(struct machine_wire, reset))
        ports[port].page->result = reset(port);
    else if (offset >= first && offset < sizeof(struct machine_wire) &&
             in_queue == offsetof(struct machine_wire_queue, out_end))
        send(v, port, (unsigned)((offset - first) / sizeof(struct machine_wire_queue)));
    else
        return;
    v->slice_end = v->stop = 0; /* the earliest due time may have changed */
}
