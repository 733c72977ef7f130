/* Numbers for pages: each has one, dense, in the order they came, also after a move into a larger index. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "mm/page_index.h"

NORETURN void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static struct page_index *index_for(uint32_t numbers)
{
    struct page_index *x = malloc(page_index_bytes(numbers));
    page_index_init(x, numbers);
    return x;
}

static void numbers_are_dense_and_stay(void **state)
{
    (void)state;
    struct page_index *x = index_for(1024);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 1024; i++)
            assert_int_equal(page_index_of(x, 0x200000000 + (i ^ 5) * 3), i);
    page_index_check(x);
    assert_int_equal(page_index_of(x, 1), PAGE_INDEX_NONE); /* full */
    assert_int_equal(page_index_find(x, 0x200000000 + 5 * 3), 0);
    assert_int_equal(page_index_find(x, 2), PAGE_INDEX_NONE);
    free(x);
}

static void a_larger_index_has_the_same_numbers(void **state)
{
    (void)state;
    enum { PAGES = 5000 };
    static uint32_t number[PAGES];
    struct page_index *x = index_for(16);
    uint64_t seed = 7;
    uint32_t next = 0;
    memset(number, 0xff, sizeof(number));
    for (unsigned step = 0; step < 100000; step++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        unsigned which = (unsigned)((seed >> 33) % PAGES);
        uint64_t page = (uint64_t)which << (which & 3) * 4 | (uint64_t)(which & 3) << 30;
        uint32_t n = page_index_of(x, page);
        if (n == PAGE_INDEX_NONE) {
            struct page_index *y = index_for(2 * x->numbers);
            page_index_copy(y, x);
            page_index_check(y);
            free(x);
            x = y;
            n = page_index_of(x, page);
        }
        if (number[which] == UINT32_MAX)
            number[which] = next++;
        assert_int_equal(n, number[which]);
    }
    assert_int_equal(x->used, next);
    page_index_check(x);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_dense_and_stay),
        cmocka_unit_test(a_larger_index_has_the_same_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
