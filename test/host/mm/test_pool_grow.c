/* Threads that use new pages all at once, on a complete mm (test/host/double/mm_double.h): one
 * makes more nodes, the others wait. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/in_child.h"
#include "test/host/double/mm_double.h"
#include "mm/pool/args.h"
#include "mm/pool.h"
#include "mm/space.h"
#include "mm/track/track.h"

enum { PAGES = 3000, THREADS = 8, FRAMES = 500 };

static struct space *space;
static unsigned next_page, threads;

static uint64_t expected(unsigned page)
{
    return 0x9e3779b97f4a7c15 * (page + 1);
}

static void write_page(void *frame, void *page)
{
    *(uint64_t *)frame = expected(*(unsigned *)page);
}

static void check_page(void *frame, void *page)
{
    INSIST(*(uint64_t *)frame == expected(*(unsigned *)page));
}

static int access_page(unsigned page, void (*use)(void *frame, void *arg))
{
    return mm_access(space, MM_BASE + page * PAGE_SIZE,
                     use == write_page ? FAULT_WRITE : FAULT_READ, use, &page);
}

static void live(void *arg)
{
    (void)arg;
    while (next_page < PAGES)
        INSIST(!access_page(next_page++, write_page));
    thread_leave_space();
    if (--threads)
        return;
    for (unsigned page = 0; page < PAGES; page++)
        INSIST(!access_page(page, check_page));
    space_destroy(space);
}

static void play(uint64_t seed)
{
    vaddr_t at;

    swap_wanted = SWAP_RAM;
    mem_process = FRAMES * PAGE_SIZE;
    mm_argument("mem.policy", seed % 8);
    mm_argument("mem.prefetch", seed % 3);
    mm_argument("mem.tracker", 5); /* none */
    mm_double_boot(seed);
    track_init(false);
    paging_start();
    INSIST(!space_create(NULL, NULL, &space));
    space_set_pid(space, 1);
    INSIST(
        !space_map(space, MM_BASE, PAGES * PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "test", &at));
    uint32_t before = space->pool->capacity, growths = 0;
    unsigned made = mm_areas_made, tables = 2;
    if (space->pool->prefetching.ops)
        tables += 1 + space->pool->prefetching.ops->orders;
    for (uint32_t nodes = before; nodes < PAGES; nodes *= 2)
        growths++;
    threads = THREADS;
    for (unsigned i = 0; i < THREADS; i++)
        fiber_start(live, NULL, space_number(space));
    fibers_run();
    INSIST(growths > 1 && mm_areas_made - made == growths * tables);
    INSIST(mm_frames_used == 0);
}

static void threads_that_all_need_nodes_make_one_table(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        int status = in_child(play, seed, 120);
        if (status)
            fail_msg("seed %lu: status %#x", (unsigned long)seed, (unsigned)status);
    }
}

int main(void)
{
    in_child_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_all_need_nodes_make_one_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
