/* Wide fixed-point arithmetic against the compiler's own. */
#include "test/host/double/expect_panic.h"
#include "kernel/lib/fixed.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Returns numbers of every magnitude, often all ones or a power of two. */
static uint64_t any(uint64_t *seed)
{
    uint64_t x = next_random(seed) >> next_random(seed) % 64;
    unsigned kind = next_random(seed) % 8;

    return kind == 0 ? 1ull << x % 64 : kind == 1 ? ~0ull >> x % 64 : x;
}

static void division_is_exact(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        wide_t n = (wide_t)any(&seed) << 64 | any(&seed);
        uint64_t d = any(&seed), rest;
        if (!d)
            continue;
        assert_true(fixed_div_wide(n, d, &rest) == n / d);
        assert_true(rest == n % d);
    }
}

static void products_and_sums_are_exact_or_saturate(void **state)
{
    uint64_t seed = 2;
    unsigned saturated = 0;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t a = any(&seed), b = any(&seed), c = any(&seed) | 1;
        wide_t w = (wide_t)a << 64 | c, exact = (wide_t)a * b / c;
        assert_int_equal(fixed_muldiv(a, b, c), exact >> 64 ? UINT64_MAX : (uint64_t)exact);
        bool fits = !b || w <= WIDE_MAX / b;
        saturated += !fits;
        assert_true(fixed_mul_wide(w, b) == (fits ? w * b : WIDE_MAX));
        assert_true(fixed_add_wide(w, (wide_t)b << 64) ==
                    (w > WIDE_MAX - ((wide_t)b << 64) ? WIDE_MAX : w + ((wide_t)b << 64)));
        assert_int_equal(fixed_add(a, b), a > UINT64_MAX - b ? UINT64_MAX : a + b);
    }
    assert_in_range(saturated, 20000, 180000);
}

static void roots_are_the_largest_whose_square_fits(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t x = any(&seed), root = fixed_isqrt(x);
        assert_true((wide_t)root * root <= x && (wide_t)(root + 1) * (root + 1) > x);
        wide_t w = (wide_t)any(&seed) << 64 | x;
        root = fixed_isqrt_wide(w);
        assert_true((wide_t)root * root <= w);
        assert_true(root == UINT64_MAX || (wide_t)(root + 1) * (root + 1) > w);
    }
    assert_int_equal(fixed_isqrt_wide(WIDE_MAX), UINT64_MAX);
    assert_int_equal(fixed_isqrt(UINT64_MAX), UINT32_MAX);
    assert_int_equal(fixed_isqrt(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division_is_exact),
        cmocka_unit_test(products_and_sums_are_exact_or_saturate),
        cmocka_unit_test(roots_are_the_largest_whose_square_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
