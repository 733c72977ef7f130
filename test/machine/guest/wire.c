/* The wire: frames as they were sent, the cycle at which they leave and arrive, the queue and the
 * interrupt of each, and what breaks the rules. */
#include "test/machine/guest/guest.h"

#define REFUSED ((uint32_t)-22)
#define ENTRIES 16
#define QUEUES  2
#define SLACK   1000 /* cycles: stores before a doorbell, the entry of an interrupt, a block */
#define BYTES   1000

struct rings {
    volatile struct machine_wire_entry out[ENTRIES], in[ENTRIES];
};

/* Of each port's queues. */
static struct rings *rings[MACHINE_WIRE_PORTS][QUEUES];
static uint32_t out_end[MACHINE_WIRE_PORTS][QUEUES], in_end[MACHINE_WIRE_PORTS][QUEUES];
static uint64_t frames, room;       /* bytes to be sent; where received ones go */
static struct machine_cpu message0; /* the first CPU's message */

static volatile struct machine_wire *port(unsigned n)
{
    return (volatile struct machine_wire *)((uint64_t)id + MACHINE_WIRE_OFFSET + n * PAGE_SIZE);
}

static uint64_t reset_port(unsigned n, uint32_t queues)
{
    volatile struct machine_wire *p = port(n);

    p->queues = queues;
    p->reset = 1;
    return (uint32_t)p->result;
}

/* Sets up all queues of a port, without room for frames. */
static uint64_t begin_port(unsigned n)
{
    volatile struct machine_wire *p = port(n);

    for (unsigned i = 0; i < MACHINE_WIRE_SPREAD; i++)
        p->spread[i] = i % QUEUES;
    for (unsigned i = 0; i < MACHINE_WIRE_KEY_BYTES; i++)
        p->key[i] = (uint8_t)(37 * i + 11);
    for (unsigned q = 0; q < QUEUES; q++) {
        p->queue[q].out_base = (uint64_t)rings[n][q]->out;
        p->queue[q].in_base = (uint64_t)rings[n][q]->in;
        p->queue[q].out_entries = p->queue[q].in_entries = ENTRIES;
        p->queue[q].irq_address = message0.irq_address;
        p->queue[q].irq_data = message0.irq_data;
        out_end[n][q] = in_end[n][q] = 0;
    }
    return reset_port(n, QUEUES);
}

/* Puts a part into a ring; ring_doorbell() offers all. */
static void put_out(unsigned n, unsigned q, uint64_t at, uint32_t bytes, uint32_t flags)
{
    volatile struct machine_wire_entry *e = &rings[n][q]->out[out_end[n][q]++ % ENTRIES];

    e->at = at;
    e->bytes = bytes;
    e->flags = flags;
}

static void ring_doorbell(unsigned n, unsigned q)
{
    port(n)->queue[q].out_end = out_end[n][q];
}

static void give_room(unsigned n, unsigned q, uint32_t entries, uint32_t bytes)
{
    for (uint32_t i = 0; i < entries; i++) {
        uint32_t at = in_end[n][q]++ % ENTRIES;
        rings[n][q]->in[at].at = room + ((n * QUEUES + q) * ENTRIES + at) * 2048;
        rings[n][q]->in[at].bytes = bytes;
        rings[n][q]->in[at].flags = 0;
    }
    port(n)->queue[q].in_end = in_end[n][q];
}

static void wait_done(const volatile struct machine_wire_entry *e)
{
    for (uint64_t until = ticks() + 10000000; !(e->flags & MACHINE_WIRE_DONE) && ticks() < until;)
        spin(2);
}

static void wait_cycles(uint64_t cycles)
{
    for (uint64_t until = ticks() + cycles + SLACK; ticks() < until;)
        spin(2);
}

/* Makes a frame to all, with bytes that its length determines. */
static void fill_frame(uint64_t at, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        ((volatile uint8_t *)at)[i] = i < 6 ? 0xff : (uint8_t)(bytes * 7 + i);
}

static uint64_t right_bytes(uint64_t at, uint32_t bytes)
{
    uint64_t right = 0;

    for (uint32_t i = 0; i < bytes; i++)
        right += ((volatile uint8_t *)at)[i] == (i < 6 ? 0xff : (uint8_t)(bytes * 7 + i));
    return right;
}

static uint64_t length(uint32_t bytes)
{
    uint64_t all = MAX(bytes, (uint32_t)MACHINE_WIRE_BYTES_MIN) + MACHINE_WIRE_BYTES_MORE;

    return port(0)->mbps ? all * 8000 / port(0)->mbps : 0;
}

static void a_frame_arrives_as_it_was_sent(void)
{
    const volatile struct machine_wire_entry *out = rings[0][0]->out, *in = rings[1][0]->in;

    give_room(1, 0, ENTRIES, 2048);
    fill_frame(frames, BYTES);
    for (uint32_t i = 0; i < BYTES; i++)
        ((volatile uint8_t *)room)[i] = 0;
    put_out(0, 0, frames, 1, 0);
    put_out(0, 0, frames + 1, 99, 0);
    put_out(0, 0, frames + 100, BYTES - 100, MACHINE_WIRE_LAST);
    uint64_t begin = ticks();
    ring_doorbell(0, 0);
    wait_done(in);
    check("a frame in three parts arrives, with all its bytes", right_bytes(in->at, BYTES), BYTES,
          BYTES);
    check("  and its length", in->bytes, BYTES, BYTES);
    check("  all of its parts have left", out[0].flags & out[1].flags & MACHINE_WIRE_DONE,
          MACHINE_WIRE_DONE, MACHINE_WIRE_DONE);
    check("  at the time that its bytes take", out[2].time - begin, length(BYTES),
          length(BYTES) + SLACK);
    check("  and it has arrived after the latency", in->time - out[2].time, port(0)->latency_cycles,
          port(0)->latency_cycles);
    check("  both ports have counted it",
          port(0)->sent * 2 + port(1)->received + (port(0)->sent_bytes == BYTES) +
              (port(1)->received_bytes == BYTES),
          5, 5);
}

static void frames_follow_each_other(void)
{
    const volatile struct machine_wire_entry *in = rings[0][0]->in;
    uint64_t good = 0;

    give_room(0, 0, 5, 2048);
    for (unsigned i = 0; i < 5; i++)
        put_out(1, 0, frames, BYTES + i, MACHINE_WIRE_LAST);
    ring_doorbell(1, 0);
    wait_done(in + 4);
    for (unsigned i = 1; i < 5; i++)
        good += in[i].time - in[i - 1].time - length(BYTES + i) <= 1;
    check("frames that are offered together follow each other at the wire's rate", good, 4, 4);
}

/* Sends a frame from port 0 that interrupts at port 1; returns when the interrupt came. */
static uint64_t interrupted_at(bool halted, uint64_t *sent)
{
    const struct interrupts *i = &interrupts[0];
    uint64_t before = i->count;

    give_room(1, 0, 1, 2048);
    port(1)->queue[0].armed = 1;
    put_out(0, 0, frames, BYTES, MACHINE_WIRE_LAST);
    *sent = ticks();
    ring_doorbell(0, 0);
    while (i->count == before)
        if (halted)
            halt();
        else
            spin(2);
    return i->time;
}

static void an_interrupt_comes_at_its_time(void)
{
    uint64_t took = length(BYTES) + port(0)->latency_cycles, sent, worst = 0;

    uint64_t at = interrupted_at(false, &sent);
    check("a running CPU is interrupted when a frame arrives", at - sent, took, took + SLACK);
    for (unsigned round = 0; round < 10; round++) {
        at = interrupted_at(true, &sent);
        worst = MAX(worst, at - sent);
    }
    check("a halted CPU wakes then, ten times of ten", worst, took, took + SLACK);
    check("  the queue is not armed any more", port(1)->queue[0].armed, 0, 0);
    uint64_t before = interrupts[0].count;
    give_room(1, 0, 1, 2048);
    put_out(0, 0, frames, BYTES, MACHINE_WIRE_LAST);
    ring_doorbell(0, 0);
    wait_done(&rings[1][0]->in[(in_end[1][0] - 1) % ENTRIES]);
    check("  and does not interrupt", interrupts[0].count, before, before);
    port(0)->queue[0].armed = 1;
    put_out(0, 0, frames, BYTES, MACHINE_WIRE_LAST | MACHINE_WIRE_TELL);
    sent = ticks();
    ring_doorbell(0, 0);
    while (interrupts[0].count == before)
        halt();
    check("the sender is told when the frame has left", interrupts[0].time - sent, length(BYTES),
          length(BYTES) + SLACK);
}

static void frames_without_room_are_dropped(void)
{
    begin_port(0);
    begin_port(1);
    uint64_t missed = port(1)->missed, foreign = port(1)->foreign;
    for (unsigned i = 0; i < 3; i++)
        put_out(0, 0, frames, BYTES, MACHINE_WIRE_LAST);
    give_room(1, 0, 1, 2048);
    ring_doorbell(0, 0);
    wait_cycles(length(BYTES) * 3 + port(0)->latency_cycles);
    check("two frames of three are missed, where there is room for one", port(1)->missed - missed,
          2, 2);
    store(frames, 0x0000000000005452); /* some address */
    put_out(0, 0, frames, BYTES, MACHINE_WIRE_LAST);
    ring_doorbell(0, 0);
    wait_cycles(length(BYTES) + port(0)->latency_cycles);
    check("a frame to another address is not received", port(1)->foreign - foreign, 1, 1);
    fill_frame(frames, BYTES);
}

/* Does one thing that is against the rules on queue 0 of port n, with queue 1 still working. */
static void is_stopped(const char *what, unsigned n)
{
    wait_cycles(length(BYTES) + port(0)->latency_cycles);
    check(what, port(n)->stopped, 1, 1);
    give_room(1 - n, 0, 1, 2048);
    put_out(n, 1, frames, BYTES, MACHINE_WIRE_LAST);
    ring_doorbell(n, 1);
    wait_done(&rings[1 - n][0]->in[0]);
    check("  and its other queue works", rings[1 - n][0]->in[0].flags & MACHINE_WIRE_DONE,
          MACHINE_WIRE_DONE, MACHINE_WIRE_DONE);
    begin_port(0);
    begin_port(1);
}

/* A frame of one part that cannot be. */
static void is_no_frame(const char *what, uint64_t at, uint32_t bytes, uint32_t flags)
{
    put_out(0, 0, at, bytes, flags);
    ring_doorbell(0, 0);
    is_stopped(what, 0);
}

static void who_breaks_the_rules_is_stopped(void)
{
    uint64_t wrong = port(0)->wrong, nowhere = (uint64_t)1 << 46;

    begin_port(0);
    begin_port(1);
    is_no_frame("a frame that is too short stops its queue", frames, 13, MACHINE_WIRE_LAST);
    is_no_frame("one that is too long does", frames, port(0)->bytes_max + 1, MACHINE_WIRE_LAST);
    is_no_frame("an empty one", frames, 0, MACHINE_WIRE_LAST);
    is_no_frame("one without an end", frames, BYTES, 0);
    is_no_frame("one that is not in memory", nowhere, BYTES, MACHINE_WIRE_LAST);
    is_no_frame("one at the end of all addresses", UINT64_MAX - 100, BYTES, MACHINE_WIRE_LAST);
    port(0)->queue[0].out_end = ENTRIES + 1;
    is_stopped("a doorbell beyond the ring", 0);
    put_out(0, 0, frames, BYTES, MACHINE_WIRE_LAST);
    ring_doorbell(0, 0);
    port(0)->queue[0].out_end = 0;
    is_stopped("a doorbell that goes back", 0);
    check("  each was counted", port(0)->wrong - wrong, 8, 8);

    uint64_t missed = port(1)->missed;
    give_room(1, 0, 1, BYTES - 1);
    put_out(0, 1, frames, BYTES, MACHINE_WIRE_LAST);
    ring_doorbell(0, 1);
    is_stopped("room for less than the frame", 1);
    rings[1][0]->in[0].at = nowhere;
    rings[1][0]->in[0].bytes = 2048;
    port(1)->queue[0].in_end = 1;
    put_out(0, 1, frames, BYTES, MACHINE_WIRE_LAST);
    ring_doorbell(0, 1);
    is_stopped("room that is not in memory", 1);
    port(1)->queue[0].in_end = ENTRIES + 1;
    put_out(0, 1, frames, BYTES, MACHINE_WIRE_LAST);
    ring_doorbell(0, 1);
    is_stopped("more room than the ring has", 1);
    check("  whose frames are missed", port(1)->missed - missed, 3, 3);
}

static void settings_that_cannot_be_are_refused(void)
{
    volatile struct machine_wire_queue *q = &port(0)->queue[1];

    check("more queues than there are: refused", reset_port(0, port(0)->queues_max + (uint32_t)1),
          REFUSED, REFUSED);
    port(0)->spread[5] = QUEUES;
    check("  a queue that is not in use", reset_port(0, QUEUES), REFUSED, REFUSED);
    port(0)->spread[5] = 0;
    q->out_base += 32;
    check("  a ring that is not aligned", reset_port(0, QUEUES), REFUSED, REFUSED);
    q->out_base = (uint64_t)1 << 46;
    check("  not in memory", reset_port(0, QUEUES), REFUSED, REFUSED);
    q->out_base = (uint64_t)rings[0][1]->out;
    q->in_entries = 3;
    check("  of no power of two", reset_port(0, QUEUES), REFUSED, REFUSED);
    q->in_entries = 2 * MACHINE_WIRE_ENTRIES_MAX;
    check("  or too large", reset_port(0, QUEUES), REFUSED, REFUSED);
    port(0)->queue[0].out_end = 3;
    check("  and a doorbell then does nothing", port(0)->stopped, 0, 0);
    check("no queue at all is fine", reset_port(0, 0), 0, 0);
}

static void a_reset_forgets_what_has_not_left(void)
{
    begin_port(0);
    begin_port(1);
    uint64_t sent = port(0)->sent, received = port(1)->received;
    give_room(1, 0, ENTRIES, 2048);
    for (unsigned i = 0; i < 8; i++)
        put_out(0, 0, frames, BYTES, MACHINE_WIRE_LAST);
    ring_doorbell(0, 0);
    reset_port(0, QUEUES);
    uint64_t left = port(0)->sent - sent;
    wait_cycles(8 * length(BYTES) + port(0)->latency_cycles);
    check("frames that have not left at a reset are forgotten", left, 0, 7);
    check("  and do not arrive", port(1)->received - received, left, left);
}

void frames_cross_a_wire_in_model_time(void)
{
    if (!(id->caps & MACHINE_CAP_WIRE) || port(0)->queues_max < QUEUES)
        return;
    for (unsigned n = 0; n < MACHINE_WIRE_PORTS; n++)
        for (unsigned q = 0; q < QUEUES; q++)
            rings[n][q] = (struct rings *)arena(PAGE_SIZE);
    frames = arena(PAGE_SIZE);
    room = arena((uint64_t)MACHINE_WIRE_PORTS * QUEUES * ENTRIES * 2048);
    message(&message0);
    check("both ports are set up", begin_port(0) + begin_port(1), 0, 0);
    a_frame_arrives_as_it_was_sent();
    frames_follow_each_other();
    an_interrupt_comes_at_its_time();
    frames_without_room_are_dropped();
    who_breaks_the_rules_is_stopped();
    settings_that_cannot_be_are_refused();
    a_reset_forgets_what_has_not_left();
    reset_port(0, 0);
    reset_port(1, 0);
}
