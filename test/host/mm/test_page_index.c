/* Numbers for pages: by rows, in the order they came, also after a copy to a larger index. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "mm/track/page_index.h"

NORETURN void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static struct page_index *index_for(uint32_t numbers, unsigned row_shift)
{
    struct page_index *x = calloc(1, page_index_bytes(numbers, row_shift));
    page_index_init(x, numbers, row_shift);
    return x;
}

enum { ROW_SHIFT = PAGE_INDEX_ROW_SHIFT_MAX, ROW = 1 << ROW_SHIFT };

static void rows_are_numbered_as_they_come_and_stay(void **state)
{
    (void)state;
    struct page_index *x = index_for(1024, ROW_SHIFT);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned row = 0; row < 1024 / ROW; row++)
            for (unsigned i = 0; i < ROW; i += 3)
                assert_int_equal(
                    page_index_of_for_test(x, (0x10000000ull + (row ^ 5) * 3) * ROW + i),
                    row * ROW + i);
    page_index_check_for_test(x);
    assert_int_equal(x->used, 1024);
    assert_int_equal(page_index_of_for_test(x, 1), PAGE_INDEX_NONE); /* full */
    assert_int_equal(page_index_find(x, (0x10000000ull + 5 * 3) * ROW), 0);
    assert_int_equal(page_index_find(x, 2), PAGE_INDEX_NONE);
    free(x);
}

static void entries_are_numbered_as_far_as_there_is_room(void **state)
{
    (void)state;
    struct page_index *x = index_for(2 * ROW, ROW_SHIFT);
    uint64_t entry[] = {0x7000000000000003, 0x7000000000000004, 0x5000000000000003 + ROW, 3,
                        9 * ROW};
    uint32_t number[5];
    assert_int_equal(page_index_of_all(x, entry, 0xfffffffff, number, 5), 4);
    assert_int_equal(number[0], 3);
    assert_int_equal(number[1], 4);
    assert_int_equal(number[2], ROW + 3);
    assert_int_equal(number[3], 3);
    page_index_check_for_test(x);
    free(x);
}

static struct page_index *twice(struct page_index *x)
{
    struct page_index *y = index_for(2 * x->numbers, x->row_shift);

    page_index_copy(y, x);
    page_index_check_for_test(y);
    free(x);
    return y;
}

static void larger_with(unsigned row_shift)
{
    enum { ROWS = 500 };
    static uint32_t number[ROWS];
    uint32_t pages = 1u << row_shift;
    struct page_index *x = index_for(pages, row_shift);
    uint64_t seed = 7;
    uint32_t next = 0;
    memset(number, 0xff, sizeof(number));
    for (unsigned step = 0; step < 100000; step++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        unsigned which = (unsigned)((seed >> 33) % ROWS), in = (unsigned)(seed >> 50) % pages;
        uint64_t row = (uint64_t)which << (which & 3) * 4 | (uint64_t)(which & 3) << 25;
        uint32_t n = page_index_of_for_test(x, row * pages + in);
        if (n == PAGE_INDEX_NONE) {
            x = twice(x);
            n = page_index_of_for_test(x, row * pages + in);
        }
        if (number[which] == UINT32_MAX) {
            number[which] = next;
            next += pages;
        }
        assert_int_equal(n, number[which] + in);
    }
    assert_int_equal(x->used, next);
    page_index_check_for_test(x);
    free(x);
}

static void a_larger_index_has_the_same_numbers(void **state)
{
    (void)state;
    for (unsigned row_shift = 0; row_shift <= PAGE_INDEX_ROW_SHIFT_MAX; row_shift++)
        larger_with(row_shift);
}

static void pages_far_apart_take_one_number_each(void **state)
{
    (void)state;
    struct page_index *x = index_for(64, 0);
    for (uint32_t page = 0; page < 64; page++)
        assert_int_equal(page_index_of_for_test(x, page * 1000), page);
    assert_int_equal(page_index_of_for_test(x, 64000), PAGE_INDEX_NONE);
    page_index_check_for_test(x);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_numbered_as_they_come_and_stay),
        cmocka_unit_test(entries_are_numbered_as_far_as_there_is_room),
        cmocka_unit_test(a_larger_index_has_the_same_numbers),
        cmocka_unit_test(pages_far_apart_take_one_number_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
