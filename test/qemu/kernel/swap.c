/* Swapping from inside the booted kernel: slots, a space larger than its limit, and a space that
 * ends while its pages are being swapped. */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/mm.h"
#include "mm/pool.h"
#include "mm/space.h"
#include "mm/pool/swap.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define USER_VA ((vaddr_t)0x10000000)
#define PAGES   1200 /* several times what mem.process allows */
#define WORKERS 4
#define ROUNDS  3

static struct space *space;

static uint64_t free_slots(void)
{
    struct swap_stats stats;

    swap_stats(&stats);
    return stats.free_slots;
}

static uint64_t free_pages(void)
{
    struct frame_stats stats;

    frame_stats(&stats);
    return stats.free_pages;
}

static bool can_swap(void)
{
    if (!swap_present())
        suite_skip("no swap disk");
    return swap_present();
}

static void neighbouring_pages_get_neighbouring_slots(void)
{
    uint64_t before = free_slots();

    if (!can_swap())
        return;
    uint32_t a = swap_slot_take(SLOT_NONE, 5), b = swap_slot_take(a + 1, 6),
             c = swap_slot_take(a, 5);
    CHECK(a % SWAP_CLUSTER == 5 && b == a + 1);
    CHECK(c % SWAP_CLUSTER == 5 && c / SWAP_CLUSTER != a / SWAP_CLUSTER);
    CHECK(free_slots() == before - 3);
    swap_slot_give(a);
    swap_slot_give(b);
    swap_slot_give(c);
    CHECK(free_slots() == before);
}

static void every_slot_is_given_out_once(void)
{
    uint64_t before = free_slots(), n = 0;
    uint32_t *taken;

    if (!can_swap() || !(taken = area_alloc(before * sizeof(*taken))))
        return;
    for (uint32_t slot; (slot = swap_slot_take(SLOT_NONE, n % SWAP_CLUSTER)) != SLOT_NONE;)
        taken[n++] = slot; /* taking one twice is a broken invariant */
    CHECK(n == before && free_slots() == 0 && swap_full());
    while (n)
        swap_slot_give(taken[--n]);
    CHECK(free_slots() == before);
    area_free(taken);
}

static uint64_t value_of(uint64_t page, uint64_t round)
{
    return page * 0x9e3779b97f4a7c15 + round;
}

/* Reads in the test's space, and handles faults itself because there is no process. */
static uint64_t read_word(vaddr_t va)
{
    uint64_t value = 0;

    while (arch_copy_from_user(&value, va, sizeof(value)))
        if (space_fault(space, va, FAULT_READ))
            return UINT64_MAX;
    return value;
}

static void write_and_read(void *arg)
{
    uint64_t first = (uint64_t)arg;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (uint64_t i = first; i < PAGES; i += WORKERS) {
            uint64_t value = value_of(i, round), was = value_of(i, round - 1);
            CHECK(read_word(USER_VA + i * PAGE_SIZE + 8) == (round > 1 ? was : 0));
            CHECK(space_fill(space, USER_VA + i * PAGE_SIZE + 8, &value, sizeof(value)) == 0);
        }
        space_check(space);
        pool_check(space->pool);
    }
    note_end();
}

static void make_space(void)
{
    vaddr_t va;

    if (space_create(NULL, NULL, &space))
        panic("no memory for a test's space");
    CHECK(space_map(space, USER_VA, PAGES * PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "x", &va) ==
          0);
}

static void fill_space(void)
{
    threads_begin();
    for (unsigned i = 0; i < WORKERS; i++)
        start_thread_on(i, (struct thread_params){.entry = write_and_read,
                                                  .arg = (void *)(uint64_t)i,
                                                  .space = space_arch(space)});
    wait_for_ends(WORKERS);
}

/* Caches of frames and stacks hold some. */
#define CACHED_PAGES 150

static void a_space_larger_than_it_may_be_keeps_its_contents(void)
{
    uint64_t slots = free_slots(), frames = free_pages();
    struct space_stats stats;

    if (!can_swap())
        return;
    make_space();
    fill_space();
    space_stats(space, &stats);
    CHECK(stats.resident_pages + stats.out_pages == PAGES &&
          stats.resident_pages <= stats.limit_pages);
    CHECK(stats.out_pages > PAGES / 2 && stats.pool.page_ins > PAGES);
    space_destroy(space);
    CHECK(free_slots() == slots && free_pages() + CACHED_PAGES >= frames);
    frame_check();
    heap_check();
}

static void pages_on_their_way_are_unmapped_and_lose_nothing(void)
{
    uint64_t slots = free_slots(), frames = free_pages();

    if (!can_swap())
        return;
    make_space();
    fill_space();
    for (uint64_t i = 0; i + 64 < PAGES; i += 128) {
        CHECK(space_advise(space, USER_VA + i * PAGE_SIZE, 64 * PAGE_SIZE, ADVICE_WILLNEED) == 0);
        CHECK(space_unmap(space, USER_VA + (i + 16) * PAGE_SIZE, 16 * PAGE_SIZE) == 0);
        space_check(space);
        pool_check(space->pool);
    }
    CHECK(space_advise(space, USER_VA, 16 * PAGE_SIZE, ADVICE_WILLNEED) == 0);
    space_destroy(space);
    CHECK(free_slots() == slots && free_pages() + CACHED_PAGES >= frames);
}

static const struct suite_test tests[] = {
    {"neighbouring pages get neighbouring slots", neighbouring_pages_get_neighbouring_slots},
    {"every slot is given out once", every_slot_is_given_out_once},
    {"a space larger than it may be keeps its contents",
     a_space_larger_than_it_may_be_keeps_its_contents},
    {"pages on their way are unmapped, and nothing is lost",
     pages_on_their_way_are_unmapped_and_lose_nothing},
    {0},
};
const struct suite swap_suite = {"swap", tests};
