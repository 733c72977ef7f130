/* The buddy system against a map of each page's owner, and the boot memory table against a
 * page-by-page reading of it. */
#include "test/host/double/expect_panic.h"
#include "kernel/mem/bootmem.h"
#include "kernel/mem/buddy.h"

#define PAGES 5000
static struct page pages[PAGES];
static struct buddy buddy;

struct block {
    uint32_t page;
    unsigned order;
};

static void set_up(uint32_t first, uint32_t n)
{
    buddy_init(&buddy, pages, PAGES);
    buddy_add(&buddy, first, n);
    buddy_check(&buddy);
}

static void random_use_never_hands_out_a_page_twice_and_loses_none(void **state)
{
    (void)state;
    static bool owned[PAGES];
    static struct block live[PAGES];
    uint32_t count = 0;
    uint64_t seed = 42;

    memset(owned, 0, sizeof(owned));
    set_up(3, PAGES - 3);
    for (unsigned step = 0; step < 20000; step++) {
        if (test_random(&seed) % 100 < 55 || !count) {
            unsigned order = test_random(&seed) % 100 < 80 ? 0 : test_random(&seed) % BUDDY_ORDERS;
            uint32_t page = buddy_alloc(&buddy, order);
            if (!page)
                continue;
            assert_true(page % (1u << order) == 0);
            for (uint32_t i = page; i < page + (1u << order); i++) {
                assert_true(i >= 3 && i < PAGES && !owned[i]);
                owned[i] = true;
            }
            live[count++] = (struct block){page, order};
        } else {
            uint32_t i = test_random(&seed) % count;
            for (uint32_t p = 0; p < 1u << live[i].order; p++)
                owned[live[i].page + p] = false;
            buddy_free(&buddy, live[i].page, live[i].order);
            live[i] = live[--count];
        }
        if (step % 16 == 0) {
            buddy_check(&buddy);
            buddy_check_blocks(&buddy, 0, PAGES);
        }
    }
    while (count--)
        buddy_free(&buddy, live[count].page, live[count].order);
    buddy_check(&buddy);
    assert_int_equal(buddy.free_pages, PAGES - 3);
}

static void every_page_can_be_allocated_singly_and_all_merge_again(void **state)
{
    (void)state;
    set_up(1024, 3072);
    for (unsigned i = 0; i < 3072; i++)
        assert_true(buddy_alloc(&buddy, 0));
    assert_int_equal(buddy_alloc(&buddy, 0), 0);
    for (uint32_t i = 0; i < 3072; i++)
        buddy_free(&buddy, 1024 + (i * 7) % 3072 % 3072, 0);
    buddy_check(&buddy);
    for (unsigned i = 0; i < 3; i++)
        assert_true(buddy_alloc(&buddy, BUDDY_ORDERS - 1));
    assert_int_equal(buddy_alloc(&buddy, 0), 0);
}

static void an_order_beyond_the_largest_is_refused(void **state)
{
    (void)state;
    set_up(1024, 2048);
    assert_int_equal(buddy_alloc(&buddy, BUDDY_ORDERS), 0);
}

static void freeing_twice_or_with_a_wrong_order_panics(void **state)
{
    (void)state;
    set_up(16, 64);
    uint32_t page = buddy_alloc(&buddy, 2);
    EXPECT_PANIC(buddy_free(&buddy, page, 1));
    EXPECT_PANIC(buddy_free(&buddy, page + 1, 0));
    buddy_free(&buddy, page, 2);
    EXPECT_PANIC(buddy_free(&buddy, page, 2));
    EXPECT_PANIC(buddy_free(&buddy, 4, 0));
    EXPECT_PANIC(buddy_free(&buddy, PAGES, 0));
    buddy_check(&buddy);
}

static void a_block_that_differs_from_its_list_panics(void **state)
{
    (void)state;
    set_up(16, 64);
    uint32_t page = buddy_alloc(&buddy, 0), free = page + 1;
    assert_int_equal(pages[free].state, PAGE_FREE);
    for (uint32_t first = 0; first < PAGES; first += 7)
        buddy_check_blocks(&buddy, first, 7);
    pages[free].prev = 3;
    buddy_check_blocks(&buddy, free + 1, PAGES);
    EXPECT_PANIC(buddy_check_blocks(&buddy, free, 1));
    pages[free].prev = 0;
    pages[free].order = 1;
    EXPECT_PANIC(buddy_check_blocks(&buddy, 0, PAGES));
    pages[free].order = BUDDY_ORDERS;
    EXPECT_PANIC(buddy_check_blocks(&buddy, 0, PAGES));
    pages[free].order = 0;
    buddy_check_blocks(&buddy, 0, PAGES);
}

static void memory_added_twice_panics(void **state)
{
    (void)state;
    set_up(16, 64);
    EXPECT_PANIC(buddy_add(&buddy, 79, 2));
}

/* ---- The memory table ------------------------------------------------------------------------ */

#define TABLE_PAGES 2048 /* 8 MB; the first page is never usable */

static bool usable_by_reading(const struct boot_info *info, paddr_t page)
{
    /* By 256 bytes, so that entries which begin or end inside a page count. */
    for (paddr_t pa = page; pa < page + PAGE_SIZE; pa += 256) {
        bool usable = false;
        for (size_t i = 0; i < info->mem_count; i++) {
            const struct boot_mem *m = &info->mem[i];
            if (pa < m->base || pa - m->base >= m->size)
                continue;
            if (m->type != BOOT_MEM_USABLE)
                return false;
            usable = true;
        }
        if (!usable || pa < MIB ||
            (pa >= info->kernel_base && pa - info->kernel_base < info->kernel_size))
            return false;
    }
    return true;
}

static void compare_with_reading(const struct boot_info *info)
{
    static bool seen[TABLE_PAGES];
    struct bootmem_range r;
    paddr_t cursor = 0, last = 0;

    memset(seen, 0, sizeof(seen));
    while (bootmem_next(info, &cursor, &r)) {
        assert_true(r.base >= last && r.base < r.end && IS_ALIGNED(r.base | r.end, PAGE_SIZE));
        assert_true(r.end <= TABLE_PAGES * PAGE_SIZE);
        last = r.end;
        for (paddr_t pa = r.base; pa < r.end; pa += PAGE_SIZE)
            seen[pa >> PAGE_SHIFT] = true;
    }
    for (unsigned i = 0; i < TABLE_PAGES; i++)
        assert_int_equal(seen[i], usable_by_reading(info, (paddr_t)i << PAGE_SHIFT));
}

static void an_unsorted_overlapping_table_is_read_right(void **state)
{
    (void)state;
    static struct boot_info info;
    uint64_t seed = 7;

    for (unsigned trial = 0; trial < 300; trial++) {
        memset(&info, 0, sizeof(info));
        info.mem_count = test_random(&seed) % 12;
        info.kernel_base = ALIGN_DOWN(test_random(&seed) % (4 * MIB), (paddr_t)256);
        info.kernel_size = ALIGN_DOWN(test_random(&seed) % MIB, (uint64_t)256);
        for (size_t i = 0; i < info.mem_count; i++) {
            paddr_t base = ALIGN_DOWN(test_random(&seed) % (TABLE_PAGES * PAGE_SIZE), (paddr_t)256);
            uint64_t room = TABLE_PAGES * PAGE_SIZE - base;
            info.mem[i].base = base;
            info.mem[i].size = ALIGN_DOWN(test_random(&seed) % room, (uint64_t)256);
            info.mem[i].type = test_random(&seed) % 10 < 6
                                   ? BOOT_MEM_USABLE
                                   : (enum boot_mem_type)(test_random(&seed) % 4);
        }
        compare_with_reading(&info);
    }
}

static void sizes_that_wrap_around_do_not_make_memory(void **state)
{
    (void)state;
    static struct boot_info info = {.mem_count = 2};
    struct bootmem_range r;
    paddr_t cursor = 0;

    info.mem[0] = (struct boot_mem){2 * MIB, MIB, BOOT_MEM_USABLE};
    info.mem[1] = (struct boot_mem){(paddr_t)1 << 60, UINT64_MAX, BOOT_MEM_USABLE};
    assert_true(bootmem_next(&info, &cursor, &r));
    assert_int_equal(r.base, 2 * MIB);
    assert_int_equal(r.end, 3 * MIB);
    assert_false(bootmem_next(&info, &cursor, &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_use_never_hands_out_a_page_twice_and_loses_none),
        cmocka_unit_test(every_page_can_be_allocated_singly_and_all_merge_again),
        cmocka_unit_test(an_order_beyond_the_largest_is_refused),
        cmocka_unit_test(freeing_twice_or_with_a_wrong_order_panics),
        cmocka_unit_test(a_block_that_differs_from_its_list_panics),
        cmocka_unit_test(memory_added_twice_panics),
        cmocka_unit_test(an_unsorted_overlapping_table_is_read_right),
        cmocka_unit_test(sizes_that_wrap_around_do_not_make_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
