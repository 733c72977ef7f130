/* The latency histogram, compared with exact percentiles of sorted values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "apps/common/histogram.h"
#include "apps/common/prng.h"

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the smallest value that at least `permille` of 1000 do not exceed. */
static uint64_t exact_permille(const uint64_t *sorted, size_t count, unsigned permille)
{
    return sorted[(count * permille + 999) / 1000 - 1];
}

static void an_empty_histogram_has_percentiles_of_zero(void **state)
{
    struct histogram histogram = {0};

    (void)state;
    assert_int_equal(histogram_permille_ns(&histogram, 500), 0);
    assert_int_equal(histogram_permille_ns(&histogram, 1000), 0);
}

static void small_values_are_exact(void **state)
{
    struct histogram histogram = {0};

    (void)state;
    for (uint64_t value = 0; value < 50; value++)
        histogram_record(&histogram, value);
    for (unsigned i = 1; i <= 50; i++)
        assert_int_equal(histogram_permille_ns(&histogram, i * 20), i - 1);
}

static void percentiles_are_within_a_thirty_second_of_the_exact_ones(void **state)
{
    enum { COUNT = 20000 };
    static const unsigned permille[] = {1, 100, 500, 900, 990, 999, 1000};
    static uint64_t values[COUNT];

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct histogram histogram = {0};
        struct prng prng = prng_seeded(seed, 0);
        for (size_t i = 0; i < COUNT; i++) {
            values[i] = prng_next(&prng) >> (21 + prng_below(&prng, 43));
            histogram_record(&histogram, values[i]);
        }
        qsort(values, COUNT, sizeof values[0], compare);
        for (size_t p = 0; p < sizeof permille / sizeof permille[0]; p++) {
            uint64_t exact = exact_permille(values, COUNT, permille[p]);
            uint64_t found = histogram_permille_ns(&histogram, permille[p]);
            assert_in_range(found, exact, exact + exact / 32);
        }
    }
}

static void a_merge_equals_recording_everything_in_one(void **state)
{
    struct histogram one = {0}, first = {0}, second = {0};
    struct prng prng = prng_seeded(7, 0);

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        uint64_t value = prng_next(&prng) >> (20 + i % 40);
        histogram_record(&one, value);
        histogram_record(i % 3 ? &first : &second, value);
    }
    histogram_merge(&first, &second);
    assert_memory_equal(&first, &one, sizeof one);
}

static void a_duration_beyond_the_last_bucket_is_counted_and_bounded_by_the_longest(void **state)
{
    struct histogram histogram = {0};

    (void)state;
    histogram_record(&histogram, 1);
    histogram_record(&histogram, UINT64_MAX);
    assert_int_equal(histogram.count, 2);
    assert_int_equal(histogram_permille_ns(&histogram, 500), 1);
    assert_int_equal(histogram.max_ns, UINT64_MAX);
    assert_int_equal(histogram_permille_ns(&histogram, 1000), ((uint64_t)1 << 44) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_histogram_has_percentiles_of_zero),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(percentiles_are_within_a_thirty_second_of_the_exact_ones),
        cmocka_unit_test(a_merge_equals_recording_everything_in_one),
        cmocka_unit_test(a_duration_beyond_the_last_bucket_is_counted_and_bounded_by_the_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
