/*
 * The page-access tracker: which accesses are logged and in which order, what a drain writes and
 * costs, and when it interrupts. The guest's code, stacks and registers are not in the lower half
 * or not memory, so only the accesses below are logged.
 */
#include "test/machine/guest/guest.h"

#define SPACE   7
#define PAB     256
#define ENTRIES 1024
#define REFUSED ((uint32_t)-22)

static volatile struct machine_path_ring *ring;

static volatile struct machine_path *tracker(void)
{
    return (volatile struct machine_path *)((uint64_t)id + MACHINE_PATH_OFFSET +
                                            this_cpu() * PAGE_SIZE);
}

static uint64_t path_command(enum machine_path_command c)
{
    volatile struct machine_path *r = tracker();
    r->command = c;
    return (uint32_t)r->result;
}

static uint64_t about_page(enum machine_path_command c, uint64_t at)
{
    tracker()->operand = (uint64_t)SPACE << MACHINE_PATH_SPACE_SHIFT | at >> PAGE_SHIFT;
    return path_command(c);
}

static uint64_t configure(uint32_t pab, uint32_t threshold)
{
    volatile struct machine_path *r = tracker();

    r->space = SPACE;
    r->pab_entries = pab;
    r->filter_entries = 64;
    r->log_entries = 128;
    r->threshold = threshold;
    r->ring_base = (uint64_t)ring;
    r->ring_entries = ENTRIES;
    return path_command(MACHINE_PATH_CMD_CONFIGURE);
}

/* Touches pages so that each access walks, for a TLB of any size. */
static void touch_pages(uint64_t at, uint64_t pages, bool write)
{
    for (uint64_t i = 0; i < pages; i++)
        invalidate_page(at + i * PAGE_SIZE);
    for (uint64_t i = 0; i < pages; i++)
        write ? store(at + i * PAGE_SIZE, i) : (void)load(at + i * PAGE_SIZE);
}

/* Returns the number of entries from `first` on that are these pages, in order. Reading the ring is
 * not tracked. */
static uint64_t in_order(uint64_t first, uint64_t at, uint64_t pages, bool write)
{
    uint64_t good = 0;

    tracker()->space = 0;
    for (uint64_t i = 0; i < pages; i++)
        good += ring->entry[(first + i) % ENTRIES] ==
                ((uint64_t)SPACE << MACHINE_PATH_SPACE_SHIFT | ((at >> PAGE_SHIFT) + i) |
                 (write ? MACHINE_PATH_WRITE : 0));
    tracker()->space = SPACE;
    return good;
}

static uint64_t ring_head(void)
{
    tracker()->space = 0;
    uint64_t head = ring->head;
    tracker()->space = SPACE;
    return head;
}

static void set_ring(uint64_t tail, uint64_t head)
{
    tracker()->space = 0;
    ring->head = head;
    ring->tail = tail;
    tracker()->space = SPACE;
}

static void pages_beyond_the_pab_are_logged_in_order(void)
{
    uint64_t pages = 4 * PAB, at = arena(pages * PAGE_SIZE), drained = 0;

    touch_pages(at, pages, true); /* they are in the PAB */
    check("the tracker is switched on", configure(PAB, 0), 0, 0);
    for (uint64_t i = 0; i < pages; i += 100) {
        touch_pages(at + i * PAGE_SIZE, MIN(pages - i, (uint64_t)100), false);
        drained += path_command(MACHINE_PATH_CMD_DRAIN);
    }
    check("each page of a loop beyond the PAB is logged", drained, pages, pages);
    check("  which is what the ring's head says", ring_head(), pages, pages);
    check("  in the order of the accesses", in_order(0, at, pages, false), pages, pages);
    check("  and none is lost", tracker()->lost, 0, 0);
    tracker()->space = 0;
    ring->head = 2 * ENTRIES - 8; /* the guest may change it */
    tracker()->space = SPACE;
    touch_pages(at, 100, true);
    check("stores are logged as such", path_command(MACHINE_PATH_CMD_DRAIN), 100, 100);
    check("  across the ring's end", in_order(2 * ENTRIES - 8, at, 100, true), 100, 100);
    path_command(MACHINE_PATH_CMD_DRAIN);
    check("  and an empty log adds nothing", ring_head(), 2 * ENTRIES + 92, 2 * ENTRIES + 92);
}

static void pages_within_the_pab_are_logged_once(void)
{
    uint64_t pages = 100, at = arena(pages * PAGE_SIZE), walked;

    configure(2048, 0);
    touch_pages(at, pages, false);
    check("a loop within the PAB is logged", path_command(MACHINE_PATH_CMD_DRAIN), pages, pages);
    walked = tracker()->walks;
    for (unsigned round = 0; round < 5; round++)
        touch_pages(at, pages, false);
    check("  once", path_command(MACHINE_PATH_CMD_DRAIN), 0, 0);
    check("  though it is walked again and again", tracker()->walks - walked, 5 * pages, 5 * pages);
}

static void a_page_is_known_until_it_is_forgotten(void)
{
    uint64_t at = arena(2 * PAGE_SIZE);

    configure(PAB, 0);
    check("a page that was not used is not known", about_page(MACHINE_PATH_CMD_PROBE, at), 0, 0);
    load(at);
    invalidate_page(at);
    check("a page that was used once is kept", about_page(MACHINE_PATH_CMD_PROBE, at),
          MACHINE_PATH_IS_KEPT, MACHINE_PATH_IS_KEPT);
    load(at);
    check("a page that is used again is known as used", about_page(MACHINE_PATH_CMD_PROBE, at),
          MACHINE_PATH_IS_KEPT | MACHINE_PATH_IS_USED, MACHINE_PATH_IS_KEPT | MACHINE_PATH_IS_USED);
    check("  and while it is in the TLB", about_page(MACHINE_PATH_CMD_PROBE, at),
          MACHINE_PATH_IS_KEPT | MACHINE_PATH_IS_USED, MACHINE_PATH_IS_KEPT | MACHINE_PATH_IS_USED);
    invalidate_page(at);
    check("  but not for ever", about_page(MACHINE_PATH_CMD_PROBE, at), MACHINE_PATH_IS_KEPT,
          MACHINE_PATH_IS_KEPT);
    about_page(MACHINE_PATH_CMD_FORGET_PAGE, at);
    check("a page that is forgotten is not", about_page(MACHINE_PATH_CMD_PROBE, at), 0, 0);
    load(at);
    check("  and logged again", path_command(MACHINE_PATH_CMD_DRAIN), 2, 2);
    about_page(MACHINE_PATH_CMD_FORGET_SPACE, 0);
    invalidate_page(at);
    load(at);
    check("so are all of a space that is forgotten", path_command(MACHINE_PATH_CMD_DRAIN), 1, 1);
    tracker()->space = 0;
    load(at + PAGE_SIZE);
    check("without a space nothing is", path_command(MACHINE_PATH_CMD_DRAIN), 0, 0);
}

static void use_page(void *at)
{
    volatile struct machine_path *r = tracker();

    r->space = SPACE;
    r->pab_entries = PAB;
    r->filter_entries = r->log_entries = 64;
    r->threshold = 0;
    r->ring_base = (uint64_t)ring;
    r->ring_entries = ENTRIES;
    path_command(MACHINE_PATH_CMD_CONFIGURE);
    load((uint64_t)at);
    r->space = 0;
}

static void a_page_is_looked_for_on_every_cpu(void)
{
    uint64_t at = arena(PAGE_SIZE);

    if (guest_cpus() < 2)
        return;
    configure(PAB, 0);
    run_on(guest_cpus() - 1, use_page, (void *)at);
    run_wait(guest_cpus() - 1);
    check("what another CPU used is known", about_page(MACHINE_PATH_CMD_PROBE, at),
          MACHINE_PATH_IS_KEPT, MACHINE_PATH_IS_KEPT);
    about_page(MACHINE_PATH_CMD_FORGET_PAGE, at);
    check("  until it is forgotten", about_page(MACHINE_PATH_CMD_PROBE, at), 0, 0);
}

static void a_full_log_interrupts_and_drops(void)
{
    volatile struct machine_path *r = tracker();
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t at = arena(400 * PAGE_SIZE), before, lost = r->lost;

    path_message(r);
    configure(PAB, 100);
    system_call(); /* the page of its code may be a tracked one */
    path_command(MACHINE_PATH_CMD_DRAIN);
    before = i->count;
    touch_pages(at, 99, false);
    spin(1000);
    check("below the threshold the log does not interrupt", i->count - before, 0, 0);
    touch_pages(at + 99 * PAGE_SIZE, 1, false);
    spin(1000);
    check("at the threshold it does", i->count - before, 1, 1);
    touch_pages(at + 100 * PAGE_SIZE, 50, false);
    spin(1000);
    check("  once", i->count - before, 1, 1);
    check("a full log holds", r->waiting, 128, 128);
    path_command(MACHINE_PATH_CMD_DRAIN);
    check("  and counts what it drops", r->lost - lost, 22, 22);
    r->space = 0;
    check("  where the ring says it, too", ring->lost, r->lost, r->lost);
    r->space = SPACE;
    touch_pages(at + 150 * PAGE_SIZE, 100, false);
    spin(1000);
    check("after a drain it interrupts again", i->count - before, 2, 2);
    r->irq_address = 0;
}

static void the_unit_spills_by_itself(void)
{
    volatile struct machine_path *r = tracker();
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t at = arena(500 * PAGE_SIZE), before;

    r->spill = 300;
    path_message(r);
    configure(PAB, 100);
    system_call();
    path_command(MACHINE_PATH_CMD_DRAIN);
    set_ring(0, 0);
    before = i->count;
    touch_pages(at, 299, false);
    spin(1000);
    check("what spills does not interrupt", i->count - before, 0, 0);
    check("  and is in the ring", ring_head(), 200, 200);
    check("  in order", in_order(0, at, 200, false), 200, 200);
    touch_pages(at + 299 * PAGE_SIZE, 1, false);
    spin(1000);
    check("after that number of entries it does", i->count - before, 1, 1);
    path_command(MACHINE_PATH_CMD_DRAIN);
    set_ring(0, ENTRIES); /* the ring is full */
    touch_pages(at + 300 * PAGE_SIZE, 100, false);
    spin(1000);
    check("where there is no room it interrupts as well", i->count - before, 2, 2);
    /* The interrupt's code may be among them. */
    check("  and keeps its log", r->waiting, 100, 101);
    r->spill = 0;
    r->irq_address = 0;
    set_ring(0, 0);
}

static void sampled_pages_alone_are_logged(void)
{
    volatile struct machine_path *r = tracker();
    uint64_t at = arena(1024 * PAGE_SIZE), sampled = 0, logged = 0, good = 0;

    configure(PAB, 0);
    r->sample_shift = 3;
    for (uint64_t i = 0; i < 1024; i++)
        sampled += MACHINE_PATH_SAMPLED((at >> PAGE_SHIFT) + i, 3);
    for (uint64_t i = 0; i < 1024; i += 128) {
        touch_pages(at + i * PAGE_SIZE, 128, false);
        logged += path_command(MACHINE_PATH_CMD_DRAIN);
    }
    r->space = 0;
    for (uint64_t i = 0; i < logged; i++)
        good += MACHINE_PATH_SAMPLED(ring->entry[i] & MACHINE_PATH_PAGE, 3);
    check("one page of eight is sampled", sampled, 1024 / 8 - 4, 1024 / 8 + 4);
    check("  and logged", logged, sampled, sampled);
    check("  and no other", good, sampled, sampled);
    r->sample_shift = 0;
}

static void a_drain_has_its_price(void)
{
    struct counting c = {.event = {MACHINE_EVENT_STALL_OTHER}};
    uint64_t at = arena(128 * PAGE_SIZE), line = id->line_bytes, lines = 128 * 8 / line + 1;

    configure(PAB, 0);
    ring->head = 0;
    touch_pages(at, 128, false);
    count_start(&c, MACHINE_COUNT_KERNEL);
    tracker()->command = MACHINE_PATH_CMD_DRAIN;
    count_stop(&c);
    check("a drain costs a register and the lines that it writes", c.value[0],
          lines * MACHINE_PATH_LINE_CYCLES + id->register_cycles,
          lines * MACHINE_PATH_LINE_CYCLES + 8 * id->register_cycles);
}

static void bad_sizes_are_refused(void)
{
    volatile struct machine_path *r = tracker();

    check("a PAB of no power of two is refused", configure(1000, 0), REFUSED, REFUSED);
    check("a threshold beyond the log is", configure(PAB, 129), REFUSED, REFUSED);
    configure(PAB, 0);
    r->ring_base = (uint64_t)ring + 8;
    check("a ring that is not aligned is", path_command(MACHINE_PATH_CMD_CONFIGURE), REFUSED,
          REFUSED);
    r->ring_base = (uint64_t)ring;
    r->ring_entries = 100;
    check("a ring smaller than the log is", path_command(MACHINE_PATH_CMD_CONFIGURE), REFUSED,
          REFUSED);
    check("an unknown command is", path_command(MACHINE_PATH_COMMANDS), REFUSED, REFUSED);
    check("off is a size", configure(0, 0), 0, 0);
    check("  and nothing to drain", path_command(MACHINE_PATH_CMD_DRAIN), REFUSED, REFUSED);
}

void page_accesses_are_tracked(void)
{
    check("the machine has a page-access tracker", id->caps & MACHINE_CAP_PATH, MACHINE_CAP_PATH,
          MACHINE_CAP_PATH);
    ring = (volatile struct machine_path_ring *)arena(sizeof(*ring) + ENTRIES * sizeof(uint64_t));
    load((uint64_t)ring);
    pages_beyond_the_pab_are_logged_in_order();
    pages_within_the_pab_are_logged_once();
    a_page_is_known_until_it_is_forgotten();
    a_page_is_looked_for_on_every_cpu();
    a_full_log_interrupts_and_drops();
    the_unit_spills_by_itself();
    sampled_pages_alone_are_logged();
    a_drain_has_its_price();
    bad_sizes_are_refused();
}
