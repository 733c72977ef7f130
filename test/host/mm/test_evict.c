/*
 * Which pages are looked at, and for how long, before one is evicted, where most cannot be: on a
 * complete mm (test/host/double/mm_double.h), one process with one thread.
 */
#include "test/host/double/expect_panic.h"
#include "test/host/double/in_child.h"
#include "test/host/double/mm_double.h"
#include "mm/mm.h"
#include "mm/pool.h"
#include "mm/pool/args.h"
#include "mm/space.h"
#include "mm/track/track.h"

enum { FRAMES = 3600, STRETCH = 64 };
enum { LRU, CLOCK, MRU, LIRS, ARC, GAP, REGION, CHOOSER };

static struct space *space;
static uint64_t policy;

/* ---- A process ------------------------------------------------------------------------------- */

static void nothing(void *frame, void *arg)
{
    (void)frame, (void)arg;
}

static int access_page(unsigned page, bool write)
{
    return mm_access(space, MM_BASE + page * PAGE_SIZE, write ? FAULT_WRITE : FAULT_READ, nothing,
                     NULL);
}

static void map_anon(unsigned pages)
{
    vaddr_t at;

    INSIST(
        !space_map(space, MM_BASE, pages * PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "test", &at));
}

static unsigned out_pages(void)
{
    struct space_stats stats;

    space_stats(space, &stats);
    return (unsigned)stats.out_pages;
}

static void end_space(void)
{
    thread_leave_space();
    space_destroy(space);
}

static void (*lives)(void *arg);

static void play(uint64_t swap)
{
    swap_wanted = swap;
    mem_process = FRAMES * PAGE_SIZE;
    mm_argument("mem.policy", policy);
    mm_argument("mem.tracker", 5); /* none */
    mm_double_boot(1);
    track_init(false);
    paging_start();
    INSIST(!space_create(NULL, NULL, &space));
    space_set_pid(space, 1);
    fiber_start(lives, NULL, space_number(space));
    fibers_run();
    INSIST(mm_frames_used == 0);
}

static void run(void (*live)(void *arg), uint64_t swap)
{
    lives = live;
    int status = in_child(play, swap, 120);
    if (status)
        fail_msg("policy %u: status %#x", (unsigned)policy, (unsigned)status);
}

/* ---- What it does ---------------------------------------------------------------------------- */

static void fill_and_want_more(void *arg)
{
    unsigned page = 0;

    (void)arg;
    map_anon(FRAMES + 64);
    for (; page < FRAMES - 64; page++)
        INSIST(!access_page(page, true));
    INSIST(!out_pages());
    fibers_points = 0;
    while (!out_pages())
        INSIST(!access_page(page++, true));
    INSIST(fibers_points >= (FRAMES - 64) / STRETCH);
    end_space();
}

static void a_search_through_used_pages_yields(void **state)
{
    (void)state;
    policy = LRU;
    run(fill_and_want_more, SWAP_RAM);
}

/* Uses pages that cannot be evicted, and a disk's pages that can, but were used later. */
static void fill_and_use_a_disk(void *arg)
{
    vaddr_t at;
    uint64_t mapped;
    unsigned page = 0, shown = 200;

    (void)arg;
    map_anon(FRAMES + 1);
    INSIST(
        !space_map_disk(space, &source_double.device, 0, shown * PAGE_SIZE, PROT_R, &at, &mapped));
    for (; page < FRAMES - 64 - shown; page++)
        INSIST(!access_page(page, true));
    for (unsigned i = 0; i < shown; i++)
        INSIST(!mm_access(space, at + i * PAGE_SIZE, FAULT_READ, nothing, NULL));
    INSIST(!out_pages());
    for (; page < FRAMES - 64 - shown / 2; page++)
        INSIST(!access_page(page, true));
    while (page <= FRAMES && !access_page(page, true))
        page++;
    INSIST(page == FRAMES); /* without the disk's pages there is no more memory */
    end_space();
}

static void the_few_pages_that_can_be_evicted_are_found(void **state)
{
    (void)state;
    for (policy = LRU; policy <= CHOOSER; policy++)
        run(fill_and_use_a_disk, SWAP_NONE);
}

/* Uses as many pages as there are frames and slots. */
static void use_more_than_swap_has(void *arg)
{
    unsigned page = 0;
    int err = 0;

    (void)arg;
    map_anon(FRAMES + 400);
    while (page < FRAMES + 400 && !err)
        err = access_page(page++, true);
    INSIST(err == -EDQUOT && page > FRAMES + 200);
    end_space();
}

static void a_pool_at_its_limit_with_swap_full_gets_edquot(void **state)
{
    (void)state;
    policy = LRU;
    swap_size = 256 * PAGE_SIZE;
    run(use_more_than_swap_has, SWAP_RAM);
}

/* Writes to more pages than memory has: what is filled and what there is room for is the same
 * sum at any moment, while pages are being written, too. */
static void fill_and_add_up(void *arg)
{
    struct space_stats stats;
    uint64_t all = 0, leaving = 0;

    (void)arg;
    map_anon(MM_TABLE_PAGES);
    for (unsigned page = 0; page < MM_TABLE_PAGES; page++) {
        INSIST(!access_page(page, true));
        space_stats(space, &stats);
        uint64_t sum = stats.resident_pages + stats.out_pages + stats.room_pages;
        all = page ? all : sum;
        INSIST(sum == all);
        leaving += space->pool->leaving != 0;
    }
    INSIST(leaving > 100);
    end_space();
}

static void room_counts_the_frames_of_pages_that_are_leaving(void **state)
{
    (void)state;
    policy = LRU;
    swap_size = MM_TABLE_PAGES * PAGE_SIZE;
    run(fill_and_add_up, SWAP_RAM);
}

int main(void)
{
    in_child_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_through_used_pages_yields),
        cmocka_unit_test(the_few_pages_that_can_be_evicted_are_found),
        cmocka_unit_test(a_pool_at_its_limit_with_swap_full_gets_edquot),
        cmocka_unit_test(room_counts_the_frames_of_pages_that_are_leaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
