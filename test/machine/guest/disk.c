/* The disk: the data it copies, the cycle at which it is done, the CPU it tells, and the requests
 * it refuses. */
#include "test/machine/guest/guest.h"

#define REFUSED ((uint32_t)-22)
#define FULL    ((uint32_t)-11)
#define ENTRIES 64
/* cycles: stores before a register access, the entry of an interrupt, a block */
#define SLACK 1000

static volatile struct machine_disk_ring *ring;
static struct machine_disk_request *request;
static uint64_t frames;
static struct machine_cpu place[GUEST_CPUS]; /* destination of each CPU's message() */

static volatile struct machine_disk *disk(void)
{
    return (volatile struct machine_disk *)((uint64_t)id + MACHINE_DISK_OFFSET);
}

static uint64_t begin_ring(uint64_t base, uint32_t entries)
{
    disk()->ring_base = base;
    disk()->ring_entries = entries;
    disk()->reset = 1;
    return (uint32_t)disk()->result;
}

/* Requests pages, into or out of the frames from number `first` on, without a message unless that
 * is set afterwards. */
static void request_pages(uint64_t page, uint32_t count, bool write, unsigned first)
{
    *request = (struct machine_disk_request){
        .page = page, .count = count, .flags = write ? MACHINE_DISK_WRITE : 0, .token = page};
    for (unsigned i = 0; i < MACHINE_DISK_PAGES_MAX; i++)
        request->frame[i] = frames + (first + i) * PAGE_SIZE;
}

static void interrupts_to(unsigned cpu)
{
    request->irq_address = place[cpu].irq_address;
    request->irq_data = place[cpu].irq_data;
}

static uint64_t submit(void)
{
    disk()->submit = (uint64_t)request;
    return (uint32_t)disk()->result;
}

static void wait_for(uint64_t head)
{
    while (ring->head < head)
        spin(2);
}

static void fill_page(uint64_t at, uint64_t value)
{
    for (uint64_t i = 0; i < PAGE_SIZE; i += 8)
        store(at + i, value + i);
}

static uint64_t words_of(uint64_t at, uint64_t value)
{
    uint64_t good = 0;

    for (uint64_t i = 0; i < PAGE_SIZE; i += 8)
        good += load(at + i) == value + i;
    return good;
}

static uint64_t duration(uint64_t pages)
{
    return disk()->latency_cycles + pages * disk()->page_cycles;
}

static void pages_go_there_and_back(void)
{
    uint64_t words = PAGE_SIZE / 8;

    fill_page(frames, 100);
    fill_page(frames + PAGE_SIZE, 200);
    request_pages(disk()->pages - 2, 2, true, 0);
    check("a request to the disk begins", submit(), 0, 0);
    wait_for(1);
    request_pages(disk()->pages - 2, 2, false, 2);
    check("  and one from it", submit(), 0, 0);
    wait_for(2);
    check("  both are done", ring->head, 2, 2);
    check("  what was written is read", words_of(frames + 2 * PAGE_SIZE, 100), words, words);
    check("  all of it", words_of(frames + 3 * PAGE_SIZE, 200), words, words);
    request_pages(0, 1, false, 2);
    submit();
    wait_for(3);
    check("what was never written is zero", load(frames + 2 * PAGE_SIZE), 0, 0);
}

static void a_page_is_there_at_its_time_and_not_before(void)
{
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t before = i->count, head = ring->head, took = duration(1);

    request_pages(disk()->pages - 2, 1, false, 4);
    interrupts_to(this_cpu());
    store(frames + 4 * PAGE_SIZE, 1);
    uint64_t begin = ticks();
    submit();
    while (ticks() < begin + took - 1000)
        spin(10);
    uint64_t early = load(frames + 4 * PAGE_SIZE), early_head = ring->head;
    while (i->count == before)
        spin(2);
    check("a page is not there a microsecond before its time", early, 1, 1);
    check("  nor is it said to be", early_head, head, head);
    check("a running CPU is interrupted at its time", i->time - begin, took, took + SLACK);
    check("  which the completion says", ring->done[head % ENTRIES].time - begin, took,
          took + SLACK);
    check("  and the page is there", load(frames + 4 * PAGE_SIZE), 100, 100);

    uint64_t worst = 0;
    for (unsigned round = 0; round < 10; round++) {
        before = i->count;
        request_pages(disk()->pages - 2, 1, false, 4);
        interrupts_to(this_cpu());
        begin = ticks();
        submit();
        while (i->count == before)
            halt();
        worst = MAX(worst, i->time - begin);
    }
    check("a halted CPU wakes at its time, ten times of ten", worst, took, took + SLACK);
}

static void requests_share_the_channel(void)
{
    uint64_t head = ring->head, begin = ticks(), good = 0;
    volatile struct machine_disk_done *done = ring->done;

    for (unsigned i = 0; i < 4; i++) {
        request_pages(8 * i, 8, false, 8 * i);
        submit();
    }
    check("several are in flight", disk()->in_flight, 4, 4);
    wait_for(head + 4);
    check("the first of four takes its latency and its pages", done[head % ENTRIES].time - begin,
          duration(8), duration(8) + 4 * SLACK);
    for (unsigned i = 1; i < 4; i++)
        good += done[(head + i) % ENTRIES].time - done[(head + i - 1) % ENTRIES].time ==
                8 * disk()->page_cycles;
    check("  and the others the channel's time each", good, 3, 3);
}

static void put_message(void *at)
{
    message(at);
}

static void another_cpu_can_be_told(void)
{
    unsigned other = guest_cpus() - 1;
    struct interrupts *i = &interrupts[other];
    uint64_t own = interrupts[0].count;

    if (!other)
        return;
    run_on(other, put_message, &place[other]);
    run_wait(other);
    uint64_t before = i->count, head = ring->head;
    request_pages(0, 1, false, 0);
    interrupts_to(other);
    submit();
    while (i->count == before)
        spin(2);
    check("the CPU that was asked for is interrupted", i->time - ring->done[head % ENTRIES].time, 0,
          SLACK);
    check("  and no other", interrupts[0].count, own, own);
}

/* No cache has the memory that a device writes. */
static void lines_read_from_disk_come_from_memory(void)
{
    struct counting c = {.event = {MACHINE_EVENT_L1D_MISSES}};
    uint64_t lines = PAGE_SIZE / id->line_bytes, at = frames + 6 * PAGE_SIZE, head = ring->head;

    words_of(at, 0);
    request_pages(0, 1, false, 6);
    submit();
    wait_for(head + 1);
    count_start(&c, MACHINE_COUNT_KERNEL);
    for (uint64_t i = 0; i < lines; i++)
        load(at + i * id->line_bytes);
    count_stop(&c);
    check("a page from the disk is in no cache", c.value[0], lines, lines + 4);
}

static void what_cannot_be_is_refused(void)
{
    request_pages(disk()->pages, 1, false, 0);
    check("a page beyond the disk is refused", submit(), REFUSED, REFUSED);
    request_pages(disk()->pages - 1, 2, false, 0);
    check("  and one that ends there", submit(), REFUSED, REFUSED);
    request_pages(0, 0, false, 0);
    check("no page is refused", submit(), REFUSED, REFUSED);
    request_pages(0, MACHINE_DISK_PAGES_MAX + 1, false, 0);
    check("too many are", submit(), REFUSED, REFUSED);
    request_pages(0, 2, false, 0);
    request->frame[1] += 8;
    check("a frame that is not aligned is", submit(), REFUSED, REFUSED);
    request->frame[1] = (uint64_t)1 << 46;
    check("a frame that is no memory is", submit(), REFUSED, REFUSED);
    request->frame[1] = UINT64_MAX & ~(uint64_t)PAGE_MASK;
    check("  and the last one there can be", submit(), REFUSED, REFUSED);
    request_pages(0, 1, false, 0);
    request->flags = 2;
    check("an unknown flag is", submit(), REFUSED, REFUSED);
    disk()->submit = (uint64_t)request + 8;
    check("a request that is not aligned is", (uint32_t)disk()->result, REFUSED, REFUSED);
    disk()->submit = (uint64_t)1 << 46;
    check("a request that is not in memory is", (uint32_t)disk()->result, REFUSED, REFUSED);
    uint64_t taken = 0;
    for (unsigned i = 0; i < MACHINE_DISK_SLOTS; i++) {
        request_pages(i, 1, false, 0);
        taken += submit() == 0;
    }
    check("as many requests as there are slots are taken", taken, MACHINE_DISK_SLOTS,
          MACHINE_DISK_SLOTS);
    check("  and no more", submit(), FULL, FULL);
}

static void a_reset_forgets_what_is_in_flight(void)
{
    uint64_t base = (uint64_t)ring;

    store(frames, 77);
    check("a reset is taken", begin_ring(base, ENTRIES), 0, 0);
    check("  nothing is in flight", disk()->in_flight, 0, 0);
    spin(duration(MACHINE_DISK_SLOTS));
    check("  nothing comes back", ring->head, 0, 0);
    check("  and frames are not touched", load(frames), 77, 77);
    check("a ring for less than all slots is refused", begin_ring(base, ENTRIES / 2), REFUSED,
          REFUSED);
    check("  and one that is no power of two", begin_ring(base, ENTRIES + 1), REFUSED, REFUSED);
    check("  that is not aligned", begin_ring(base + 8, ENTRIES), REFUSED, REFUSED);
    check("  or not in memory", begin_ring((uint64_t)1 << 46, ENTRIES), REFUSED, REFUSED);
    request_pages(0, 1, false, 0);
    check("without a ring nothing is taken", submit(), REFUSED, REFUSED);
    check("no ring at all is fine", begin_ring(0, 0), 0, 0);
}

void pages_are_transferred_in_model_time(void)
{
    if (!(id->caps & MACHINE_CAP_DISK))
        return;
    request = (struct machine_disk_request *)arena(PAGE_SIZE);
    ring = (volatile struct machine_disk_ring *)arena(PAGE_SIZE);
    frames = arena(64 * PAGE_SIZE);
    message(&place[0]);
    check("a ring is taken", begin_ring((uint64_t)ring, ENTRIES), 0, 0);
    pages_go_there_and_back();
    a_page_is_there_at_its_time_and_not_before();
    requests_share_the_channel();
    another_cpu_can_be_told();
    lines_read_from_disk_come_from_memory();
    what_cannot_be_is_refused();
    a_reset_forgets_what_is_in_flight();
}
