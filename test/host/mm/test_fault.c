/* Single page faults, on doubles of disks and page tables: what a program gets, what is counted, in
 * which order. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/in_child.h"
#include "test/host/double/mm_double.h"
#include "test/host/double/path_double.h"
#include "mm/pool/args.h"
#include "mm/pool.h"
#include "mm/space.h"
#include "mm/track/track.h"

enum { PAGES = 400, LIMIT_KB = 512 };

static struct space *space;

static void begin_space(void)
{
    INSIST(!space_create(NULL, NULL, &space));
    space_set_pid(space, 1);
}

/* Runs the test's thread in a space of its own, with little memory or with enough. */
static void run_in(bool little, void (*thread)(void *arg), uint64_t seed)
{
    path_double_boot();
    swap_wanted = little ? SWAP_RAM : SWAP_NONE;
    mem_process = little ? LIMIT_KB * KIB : MEMORY_UNLIMITED;
    mm_argument("mem.tracker", 5);
    mm_double_boot(seed);
    track_init(false);
    paging_start();
    begin_space();
    fiber_start(thread, NULL, space_number(space));
    fibers_run();
    INSIST(!mm_frames_used);
}

static void run(void (*thread)(void *arg), uint64_t seed)
{
    run_in(true, thread, seed);
}

static void end_thread(void)
{
    thread_leave_space();
    space_destroy(space);
}

static vaddr_t page_at(unsigned page)
{
    return MM_BASE + page * PAGE_SIZE;
}

static void store(void *frame, void *arg)
{
    memcpy(frame, arg, sizeof(unsigned));
}

static void expect(void *frame, void *arg)
{
    INSIST(!memcmp(frame, arg, sizeof(unsigned)));
}

static void fill_pages(void)
{
    vaddr_t at;

    INSIST(
        !space_map(space, MM_BASE, PAGES * PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "test", &at));
    for (unsigned page = 0; page < PAGES; page++)
        INSIST(!mm_access(space, page_at(page), FAULT_WRITE, store, &page));
}

/* Returns the page's node if it is out, or NODE_NONE. */
static uint32_t node_out(unsigned page)
{
    struct arch_page at = mm_look(space, page_at(page));
    const struct node *node = &space->pool->nodes[at.number];

    return at.kind == ARCH_PAGE_OUT && node->state == NODE_OUT && node->slot != SLOT_NONE
               ? at.number
               : NODE_NONE;
}

/* Returns the first of two pages that are out and neighbours on the disk. */
static unsigned find_neighbours(void)
{
    for (unsigned page = 0; page + 1 < PAGES; page++) {
        uint32_t n = node_out(page), next = node_out(page + 1);
        if (n != NODE_NONE && next != NODE_NONE &&
            space->pool->nodes[next].slot == space->pool->nodes[n].slot + 1)
            return page;
    }
    INSIST(!"there are none");
}

static void use_the_neighbour_of_a_bad_page(void *arg)
{
    enum { ROOM = 64 };

    (void)arg;
    fill_pages();
    INSIST(!space_advise(space, page_at(PAGES - ROOM), ROOM * PAGE_SIZE, ADVICE_DONTNEED));
    unsigned page = find_neighbours(), bad = page + 1;
    const struct node *node = &space->pool->nodes[node_out(page)];
    swap_double.bad_page = node->slot + 1;
    do { /* until the disk does not answer before the page is asked for */
        swap_double.failed_reads = 0;
        INSIST(!space_advise(space, page_at(page), 2 * PAGE_SIZE, ADVICE_WILLNEED));
    } while (node->state != NODE_COMING);
    INSIST(!mm_access(space, page_at(page), FAULT_READ, expect, &page));
    INSIST(swap_double.failed_reads == 1);
    INSIST(mm_access(space, page_at(bad), FAULT_READ, expect, &bad) == -EIO);
    end_thread();
}

static void play_bad_neighbour(uint64_t seed)
{
    run(use_the_neighbour_of_a_bad_page, seed);
}

/* ---- Code: the page tables' double looks when caches are told of it -------------------------- */

static void nothing(void *frame, void *arg)
{
    (void)frame, (void)arg;
}

static void use_all(vaddr_t from, unsigned pages, enum fault_access access)
{
    for (unsigned page = 0; page < pages; page++)
        INSIST(!mm_access(space, from + page * PAGE_SIZE, access, nothing, NULL));
}

static bool ends;

/* Executes pages that came last, which are resident, while their protection changes. */
static void execute_meanwhile(void *arg)
{
    (void)arg;
    for (unsigned page = PAGES - 1; !ends; page = page > PAGES / 2 ? page - 1 : PAGES - 1) {
        mm_access(space, page_at(page), FAULT_EXEC, nothing, NULL);
        sched_yield();
    }
    end_thread();
}

static void execute(void *arg)
{
    enum { CODE = 200 };
    vaddr_t disk, zeros;
    uint64_t mapped;

    (void)arg;
    fiber_start(execute_meanwhile, NULL, space_number(space));
    INSIST(!space_map(space, MM_BASE, PAGES * PAGE_SIZE, PROT_R | PROT_X, REGION_ANON, "test",
                      &zeros));
    INSIST(!space_map_disk(space, &source_double.device, 1, CODE * PAGE_SIZE, PROT_R | PROT_X,
                           &disk, &mapped));
    use_all(disk, CODE, FAULT_EXEC);
    use_all(zeros, PAGES, FAULT_EXEC);
    for (unsigned i = 0; i < 20; i++) {
        INSIST(!space_protect(space, zeros, PAGES * PAGE_SIZE, PROT_R | PROT_W));
        use_all(zeros, PAGES, FAULT_WRITE);
        INSIST(!space_protect(space, zeros, PAGES * PAGE_SIZE, PROT_R | PROT_X));
        use_all(zeros, PAGES, FAULT_EXEC);
    }
    use_all(disk, CODE, FAULT_EXEC);
    thread_leave_space();
    ends = true;
}

static void play_code(uint64_t seed)
{
    run_in(seed, execute, seed);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void wait_for_a_disk(void *arg)
{
    enum { SHOWN = 300, TAKES_NS = 1000000 };
    const struct pool_stats *stats = &space->pool->stats;
    vaddr_t disk;
    uint64_t mapped;

    (void)arg;
    source_double.takes_ns = TAKES_NS;
    INSIST(!space_map_disk(space, &source_double.device, 0, SHOWN * PAGE_SIZE, PROT_R, &disk,
                           &mapped));
    INSIST(!space_advise(space, disk, SHOWN * PAGE_SIZE, ADVICE_RANDOM));
    use_all(disk, SHOWN, FAULT_READ);
    INSIST(!stats->major_faults); /* new pages are no major faults */
    use_all(disk, SHOWN, FAULT_READ);
    INSIST(stats->major_faults > SHOWN / 2);
    INSIST(stats->waited_ns >= stats->major_faults * TAKES_NS);
    INSIST(space->pool->held_up.ns >= stats->major_faults * TAKES_NS);
    end_thread();
}

static void play_waiting(uint64_t seed)
{
    run(wait_for_a_disk, seed);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_page_read_together_with_a_bad_one_is_read_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        assert_int_equal(in_child(play_bad_neighbour, seed, 60), 0);
}

static void code_is_executable_only_after_caches_were_told(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed <= 4; seed++) /* 0: enough memory */
        assert_int_equal(in_child(play_code, seed, 60), 0);
}

static void a_wait_for_a_page_of_a_mapped_disk_is_counted(void **state)
{
    (void)state;
    assert_int_equal(in_child(play_waiting, 1, 60), 0);
}

int main(void)
{
    in_child_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_read_together_with_a_bad_one_is_read_alone),
        cmocka_unit_test(code_is_executable_only_after_caches_were_told),
        cmocka_unit_test(a_wait_for_a_page_of_a_mapped_disk_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
