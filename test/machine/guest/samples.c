/* Records of accesses, by samplers that each watch something else. */
#include "test/machine/guest/guest.h"

#define KERNEL MACHINE_COUNT_KERNEL
#define ACCESS(mask, every)                                                                 \
    (struct machine_sampler)                                                                \
    {                                                                                       \
        .kinds = MACHINE_KIND_ACCESS, .sources = (mask), .flags = KERNEL, .period = (every) \
    }

static uint64_t ring_at;

static const volatile struct machine_record *record(uint64_t i)
{
    return (const volatile struct machine_record *)ring_at + i;
}

static int32_t set(unsigned n, const struct machine_sampler *to)
{
    volatile struct machine_sampler *s = &regs()->sampler[n];

    s->kinds = to->kinds;
    s->sources = to->sources;
    s->flags = to->flags;
    s->min_latency = to->min_latency;
    s->period = to->period;
    s->jitter = to->jitter;
    return command((enum machine_command)MACHINE_COMMAND_SAMPLE(n));
}

static void sampler(unsigned n, const struct machine_sampler *to)
{
    if (set(n, to))
        panic("a sampler cannot be set");
}

static void ring(uint32_t records)
{
    volatile struct machine_cpu *r = regs();

    r->ring_base = ring_at;
    r->ring_records = records;
    r->ring_irq_at = 0;
    if (command(MACHINE_CMD_RING))
        panic("the ring cannot be set");
}

static void sample(uint32_t sources, uint32_t period, uint32_t jitter, uint32_t records)
{
    ring(records);
    sampler(0, &(struct machine_sampler){.kinds = MACHINE_KIND_ACCESS,
                                         .sources = sources,
                                         .flags = KERNEL,
                                         .period = period,
                                         .jitter = jitter});
}

static void sample_off(void)
{
    sampler(0, &(struct machine_sampler){0});
}

static void records_are_precise(void)
{
    volatile struct machine_cpu *r = regs();
    uint64_t bytes = 4 * id->l1d_bytes, lines = bytes / line, at = arena(bytes), good = 0, head;

    touch_lines(at, lines);
    touch_lines(at, lines);
    sample(1u << MACHINE_LOCAL_L2, 10, 0, 4096);
    touch_lines(at, lines);
    head = r->ring_head;
    sample_off();
    check("every tenth access is recorded", head, lines / 10 - 2, lines / 10 + 2);
    for (uint64_t i = 0; i < head; i++)
        good += record(i)->data == record(i)->data_phys && record(i)->data >= at &&
                record(i)->data < at + bytes && record(i)->source == MACHINE_LOCAL_L2 &&
                record(i)->latency == id->latency[MACHINE_LOCAL_L2] && record(i)->flags == 0 &&
                (i == 0 ||
                 (record(i)->data > record(i - 1)->data && record(i)->time > record(i - 1)->time &&
                  record(i)->pc == record(i - 1)->pc));
    check("  with its address, place, source and latency", good, head - 3, head);

    touch_lines(at, lines);
    sample(1u << MACHINE_LOCAL_L2, 16, 15, 4096);
    for (unsigned pass = 0; pass < 4; pass++)
        touch_lines(at, lines);
    head = r->ring_head;
    sample_off();
    check("jitter keeps the mean distance", head, 4 * lines / 16 * 9 / 10,
          4 * lines / 16 * 11 / 10);

    sample(1u << MACHINE_LOCAL_L2, 1, 0, 64);
    touch_lines(at, lines);
    check("a full ring takes no more", r->ring_head, 64, 64);
    check("  and counts what it loses", r->ring_lost, lines - 64 - lines / 50,
          lines - 64 + lines / 50);
    sample_off();
}

/* Makes an access of each size to lines of their own, and one across two lines. */
static void access_sizes(uint64_t at)
{
    (void)*(const volatile uint8_t *)(at + 5);
    (void)*(const volatile uint16_t *)(at + line + 6);
    *(volatile uint32_t *)(at + 2 * line + 8) = 1;
    (void)*(const volatile uint64_t *)(at + 3 * line + 16);
    *(volatile uint64_t *)(at + 5 * line - 3) = 1;
}

static void records_tell_sizes(void)
{
    enum { RECORDS = 6 };
    static const unsigned sizes[RECORDS] = {1, 2, 4, 8, 3, 5};
    uint64_t bytes = 4 * id->l1d_bytes, at = arena(bytes), good = 0;
    const uint64_t from[RECORDS] = {
        at + 5,       at + line + 6, at + 2 * line + 8, at + 3 * line + 16, at + 5 * line - 3,
        at + 5 * line};

    touch_lines(at, bytes / line); /* the first lines are in the L2 then, not in the L1 */
    sample(1u << MACHINE_LOCAL_L2, 1, 0, 64);
    access_sizes(at);
    uint64_t head = regs()->ring_head;
    sample_off();
    for (uint64_t i = 0, next = 0; i < head && next < RECORDS; i++)
        if (record(i)->data == from[next])
            good += record(i)->bytes == sizes[next++];
    check("a record tells how many bytes of its line were accessed", good, RECORDS, RECORDS);
}

static void write_lines(void *at)
{
    for (unsigned i = 0; i < 64; i++)
        store((uint64_t)at + i * line, i);
}

static void records_tell_modified_lines(void)
{
    volatile struct machine_cpu *r = regs();
    unsigned other_chip = id->threads_per_core * id->cores_per_chip;
    uint64_t at = arena(64 * line), modified = 0, head;

    if (guest_cpus() <= other_chip)
        return;
    run_on(other_chip, write_lines, (void *)at);
    run_wait(other_chip);
    for (unsigned pass = 0; pass < 2; pass++) { /* in the second pass they come from its own L1 */
        sample(1u << MACHINE_REMOTE_L2, 1, 0, 4096);
        touch_lines(at, 64);
        head = r->ring_head;
        sample_off();
        for (uint64_t i = 0; i < head; i++)
            modified += record(i)->data >= at && record(i)->data < at + 64 * line &&
                        record(i)->flags & MACHINE_RECORD_MODIFIED;
    }
    check("a line another chip has modified is recorded as such, once", modified, 64, 64);
}

/* ---- Several samplers ------------------------------------------------------------------------ */

static void samplers_off(void)
{
    ring(4096); /* switches them off */
}

/* Lines that the L2 serves, one after the other: samplers that count each by itself take what is
 * due to each, and one record where they meet. */
static void samplers_count_by_themselves(void)
{
    volatile struct machine_cpu *r = regs();
    uint64_t bytes = 4 * id->l1d_bytes, lines = bytes / line, at = arena(bytes), wrong = 0;
    uint64_t of[3] = {0}, both = 0, head;

    touch_lines(at, lines);
    touch_lines(at, lines);
    ring(4096);
    sampler(0, &ACCESS(1u << MACHINE_LOCAL_L2, 10));
    sampler(3, &ACCESS(1u << MACHINE_LOCAL_L2, 7));
    touch_lines(at, lines / 2);
    sampler(1, &ACCESS(1u << MACHINE_REMOTE_MEMORY, 1));
    sampler(3, &ACCESS(1u << MACHINE_LOCAL_L2, 9));
    uint32_t left = r->sampler[3].left;
    touch_lines(at + lines / 2 * line, lines / 2);
    head = r->ring_head;
    samplers_off();
    for (uint64_t i = 0; i < head; i++) {
        unsigned by = record(i)->samplers;
        of[0] += by & 1;
        of[1] += by >> 3 & 1;
        both += by == 9;
        wrong += !by || (by & ~9u) || record(i)->source != MACHINE_LOCAL_L2;
    }
    check("a sampler that is not changed goes on counting", of[0], lines / 10 - 2, lines / 10 + 2);
    check("  and one that is begins again", of[1], lines / 14 + lines / 18 - 3,
          lines / 14 + lines / 18 + 3);
    check("  and tells what was left until its next record", left, 1, 7);
    check("  and they share a record where they meet", both, lines / 140 + lines / 180 - 3,
          lines / 140 + lines / 180 + 3);
    check("  which says by whom it was taken", wrong, 0, 0);
}

/* A line of each page, in different sets of the L1D, of more pages than the TLB holds. */
static void records_tell_walks(void)
{
    volatile struct machine_cpu *r = regs();
    uint64_t pages = 2 * id->tlb_entries, at = arena(pages * PAGE_SIZE), wrong = 0, hits = 0, head;

    for (unsigned pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < pages; i++)
            load(at + i * PAGE_SIZE + i / 4 * line % PAGE_SIZE);
    ring(8192);
    sampler(2, &(struct machine_sampler){.kinds = MACHINE_KIND_WALK, .flags = KERNEL, .period = 1});
    for (uint64_t i = 0; i < pages; i++)
        load(at + i * PAGE_SIZE + i / 4 * line % PAGE_SIZE);
    head = r->ring_head;
    samplers_off();
    for (uint64_t i = 0; i < head; i++) {
        hits += record(i)->source == MACHINE_L1 && record(i)->latency == 0;
        wrong += record(i)->walk != id->walk_cycles || record(i)->fetch ||
                 record(i)->samplers != 4 || record(i)->latency != id->latency[record(i)->source];
    }
    check("every access behind a walk is recorded", head, pages, pages + pages / 16 + 10);
    check("  with its cycles and what served it", wrong, 0, 0);
    if (pages * line <= id->l1d_bytes / 2)
        check("  also where that was the L1", hits, pages / 2, pages + 10);

    ring(8192);
    sampler(1, &(struct machine_sampler){.kinds = MACHINE_KIND_ACCESS | MACHINE_KIND_WALK,
                                         .sources = 0x7e,
                                         .flags = KERNEL,
                                         .min_latency = id->walk_cycles + 1,
                                         .period = 1});
    for (uint64_t i = 0; i < pages; i++)
        load(at + i * PAGE_SIZE + i / 4 * line % PAGE_SIZE);
    head = r->ring_head;
    samplers_off();
    wrong = 0;
    for (uint64_t i = 0; i < head; i++)
        wrong += record(i)->latency + record(i)->walk <= id->walk_cycles;
    check("none is recorded that took less than asked for", wrong, 0, 0);
    check("  and a record may have both reasons, once", head <= pages + pages / 16 + 10, 1, 1);
}

/* Functions of one instruction, each in a page of its own, in the lower half of the addresses: in
 * user mode. */
static void records_tell_walks_for_code(void)
{
    volatile struct machine_cpu *r = regs();
    struct counting c = {.event = {MACHINE_EVENT_ITLB_MISSES, MACHINE_EVENT_DTLB_LOAD_MISSES}};
    uint64_t pages = 2 * id->tlb_entries, at = arena(pages * PAGE_SIZE), wrong = 0, head;

    for (uint64_t i = 0; i < pages; i++)
        *(volatile uint32_t *)(at + i * PAGE_SIZE + i * line % PAGE_SIZE) = RETURN_CODE;
    ring(8192);
    sampler(0, &(struct machine_sampler){
                   .kinds = MACHINE_KIND_FETCH, .flags = MACHINE_COUNT_USER, .period = 1});
    count_start(&c, MACHINE_COUNT_USER);
    for (uint64_t i = 0; i < pages; i++)
        ((void (*)(void))(at + i * PAGE_SIZE + i * line % PAGE_SIZE))();
    count_stop(&c);
    head = r->ring_head;
    samplers_off();
    check("each page of code that is entered is walked for", c.value[0], pages, pages + 2);
    check("  which is no data's walk", c.value[1], 0, 2);
    check("  and is recorded", head, pages, pages + 2);
    for (uint64_t i = 0; i < head; i++)
        wrong += !record(i)->fetch || record(i)->data != record(i)->pc ||
                 record(i)->walk != id->walk_cycles || record(i)->latency;
    check("  as what it is", wrong, 0, 0);
}

static void loads_and_stores_are_told_apart(void)
{
    struct counting c = {.event = {MACHINE_EVENT_L1D_LOAD_MISSES, MACHINE_EVENT_DTLB_LOAD_MISSES,
                                   MACHINE_EVENT_DTLB_STORE_MISSES}};
    struct counting llc = {.event = {MACHINE_EVENT_LLC_LOADS, MACHINE_EVENT_LLC_LOAD_MISSES}};
    uint64_t pages = 2 * id->tlb_entries, at = arena(2 * pages * PAGE_SIZE), to;

    to = at + pages * PAGE_SIZE;
    count_start(&c, KERNEL);
    for (uint64_t i = 0; i < pages; i++) {
        load(at + i * PAGE_SIZE);
        store(to + i * PAGE_SIZE, i);
    }
    count_stop(&c);
    check("misses of loads are those of loads alone", c.value[0], pages, pages + 20);
    check("  walks for loads are", c.value[1], pages, pages + 20);
    check("  walks for stores are", c.value[2], pages, pages + 20);
    at = arena(64 * line);
    count_start(&llc, KERNEL);
    touch_lines(at, 64);
    count_stop(&llc);
    check("loads from memory have asked the last level", llc.value[0], 64, 90);
    check("  and missed it", llc.value[1], 64, 90);
}

/* ---- Settings -------------------------------------------------------------------------------- */

static void impossible_samplers_are_refused(void)
{
    volatile struct machine_cpu *r = regs();
    const uint64_t refused = (uint32_t)-22;
    const struct machine_sampler good = ACCESS(1u << MACHINE_LOCAL_L2, 16);
    static const struct {
        const char *what;
        struct machine_sampler s;
    } bad[] = {
        {"L1 hits cannot be sampled", ACCESS(1u << MACHINE_L1, 1)},
        {"accesses need a source", ACCESS(0, 1)},
        {"a period is needed", ACCESS(1u << MACHINE_LOCAL_L2, 0)},
        {"an unknown kind is refused", {.kinds = 8, .flags = KERNEL, .period = 1}},
        {"an unknown flag is refused", {.kinds = MACHINE_KIND_WALK, .flags = 4, .period = 1}},
        {"jitter must be less than the period",
         {.kinds = MACHINE_KIND_WALK, .flags = KERNEL, .period = 7, .jitter = 7}},
        {"jitter is a power of two less one",
         {.kinds = MACHINE_KIND_WALK, .flags = KERNEL, .period = 7, .jitter = 5}},
    };

    ring(4096);
    sampler(3, &good);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
        check(bad[i].what, (uint32_t)set(3, &bad[i].s), refused, refused);
    check("a sampler beyond the last is refused",
          (uint32_t)command((enum machine_command)MACHINE_COMMAND_SAMPLE(MACHINE_SAMPLERS)),
          refused, refused);
    uint64_t bytes = 4 * id->l1d_bytes, at = arena(bytes);
    for (unsigned pass = 0; pass < 3; pass++)
        touch_lines(at, bytes / line);
    check("a sampler that was refused goes on as before", r->ring_head, 1,
          3 * bytes / line / 16 + 10);
    r->ring_records = 100;
    check("a ring must be a power of two", (uint32_t)command(MACHINE_CMD_RING), refused, refused);
    r->ring_records = 64;
    r->ring_base = ring_at + 1;
    check("a ring must be aligned", (uint32_t)command(MACHINE_CMD_RING), refused, refused);
    r->ring_base = (uint64_t)1 << 50;
    check("a ring must be in memory", (uint32_t)command(MACHINE_CMD_RING), refused, refused);
    r->ring_records = 0;
    command(MACHINE_CMD_RING);
    check("a sampler needs a ring", (uint32_t)set(0, &good), refused, refused);
}

static uint64_t draw(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* Any values in the other registers of the performance monitor, and any command that concerns no
 * sampler. No message is set, so nothing interrupts. */
static void store_anything(volatile struct machine_cpu *r, uint64_t *x)
{
    static const enum machine_command commands[] = {
        MACHINE_CMD_CONFIGURE, MACHINE_CMD_START, MACHINE_CMD_STOP, MACHINE_CMD_READ,
        MACHINE_CMD_WRITE,     MACHINE_CMD_ACK,   MACHINE_CMD_ARM,  MACHINE_COMMANDS};
    volatile struct machine_counter *c = &r->counter[draw(x) % MACHINE_COUNTERS];
    volatile struct machine_user *u =
        (volatile struct machine_user *)((uint64_t)id + MACHINE_USER_OFFSET +
                                         draw(x) % MACHINE_CPUS * PAGE_SIZE);

    c->event = draw(x) % 80;
    c->flags = draw(x) % 20;
    c->period = draw(x) % 2 ? draw(x) % 1000 : draw(x);
    c->value = draw(x);
    c->left = draw(x) % 2 ? draw(x) % 1000 : draw(x);
    r->due = draw(x);
    r->ack = (uint32_t)draw(x);
    r->user_open = draw(x) % 2;
    r->pstate = draw(x) % 6;
    u->latch = (uint32_t)draw(x);
    if (draw(x) % 4 == 0)
        r->turn = draw(x) & 0x1ffffffff;
    (void)command((enum machine_command)(commands[draw(x) % ARRAY_SIZE(commands)] |
                                         (draw(x) % 8 ? 0 : draw(x) % 300 << 8)));
}

static void counters_off(volatile struct machine_cpu *r)
{
    r->pstate = r->user_open = 0;
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        r->counter[i].event = MACHINE_EVENT_NONE;
        r->counter[i].flags = 0;
        r->counter[i].period = r->counter[i].left = 0;
    }
    command(MACHINE_CMD_CONFIGURE);
    command(MACHINE_CMD_STOP);
}

/* Any values in the registers: the machine takes or refuses them, and goes on. What it takes it
 * does: no record is of a sampler that was refused. */
static void any_values_can_be_stored(void)
{
    static const uint32_t periods[] = {0, 1, 2, 7, 64, 1000, 0xffffffff};
    volatile struct machine_cpu *r = regs();
    uint64_t x = 88172645463325252ull, taken = 0, wrong = 0, bytes = 2 * id->l1d_bytes;
    uint64_t at = arena(bytes);
    uint32_t kinds[MACHINE_SAMPLERS] = {0};

    r->irq_address = 0;
    for (unsigned round = 0; round < 3000; round++) {
        unsigned n = draw(&x) % MACHINE_SAMPLERS;
        struct machine_sampler s = {.kinds = draw(&x) % 10,
                                    .sources = draw(&x) & 0xff,
                                    .flags = draw(&x) % 5,
                                    .min_latency = draw(&x) % 300,
                                    .period = periods[draw(&x) % ARRAY_SIZE(periods)],
                                    .jitter = (1u << draw(&x) % 8) - (uint32_t)(draw(&x) % 2)};
        if (round % 50 == 0) {
            r->ring_base = draw(&x) % 4 ? ring_at : ring_at + (draw(&x) % 256);
            r->ring_records = draw(&x) % 3 ? 1u << draw(&x) % 13 : (uint32_t)draw(&x);
            r->ring_irq_at = draw(&x) % 2 ? 0 : (uint32_t)draw(&x);
            if (!command(MACHINE_CMD_RING))
                for (unsigned i = 0; i < MACHINE_SAMPLERS; i++)
                    kinds[i] = 0;
        }
        if (!set(n, &s)) {
            kinds[n] = s.kinds;
            taken++;
        }
        uint64_t head = r->ring_head;
        touch_lines(at + draw(&x) % 2 * bytes / 2, 20);
        for (uint64_t i = head; i < r->ring_head; i++)
            for (unsigned k = 0; k < MACHINE_SAMPLERS; k++)
                wrong += record(i & (r->ring_records - 1))->samplers >> k & 1 && !kinds[k];
        r->ring_tail = r->ring_head;
        store_anything(r, &x);
    }
    check("some of any values are taken", taken, 50, 2950);
    check("  and none of those refused has records", wrong, 0, 0);
    samplers_off();
    counters_off(r);
}

void accesses_are_sampled(void)
{
    ring_at = arena(8192 * MACHINE_RECORD_BYTES);
    records_are_precise();
    records_tell_sizes();
    records_tell_modified_lines();
    samplers_count_by_themselves();
    records_tell_walks();
    records_tell_walks_for_code();
    loads_and_stores_are_told_apart();
    impossible_samplers_are_refused();
    any_values_can_be_stored();
}
