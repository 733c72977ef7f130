/* The kernel's memory functions against loops over bytes: each length up to some words, at each
 * alignment of both arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define memcpy        kernel_memcpy
#define memmove       kernel_memmove
#define memset        kernel_memset
#define memcmp        kernel_memcmp
#define __popcountdi2 kernel_popcountdi2
#include "kernel/lib/string.c"

#define LENGTHS    90
#define ALIGNMENTS 9

/* Allocates exactly `n` bytes, filled, so that the sanitizer sees accesses beyond. */
static uint8_t *filled(size_t n)
{
    uint8_t *p = malloc(n ? n : 1);

    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)rand();
    return p;
}

static void for_each_shape(void (*check)(size_t to, size_t from, size_t n))
{
    for (size_t n = 0; n < LENGTHS; n++)
        for (size_t to = 0; to < ALIGNMENTS; to++)
            for (size_t from = 0; from < ALIGNMENTS; from++)
                check(to, from, n);
}

static void check_copy(size_t to, size_t from, size_t n)
{
    uint8_t *s = filled(from + n), *d = filled(to + n + 1), behind = d[to + n];

    assert_ptr_equal(kernel_memcpy(d + to, s + from, n), d + to);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(d[to + i], s[from + i]);
    assert_int_equal(d[to + n], behind);
    free(s);
    free(d);
}

static void check_move(size_t to, size_t from, size_t n)
{
    size_t bytes = to + from + n;
    uint8_t *m = filled(bytes), *expected = malloc(bytes + 1);

    for (size_t i = 0; i < bytes; i++)
        expected[i] = i - to < n ? m[from + i - to] : m[i];
    assert_ptr_equal(kernel_memmove(m + to, m + from, n), m + to);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(m[i], expected[i]);
    free(m);
    free(expected);
}

static void check_set(size_t to, size_t byte, size_t n)
{
    uint8_t *d = filled(to + n + 1), behind = d[to + n];

    assert_ptr_equal(kernel_memset(d + to, (int)byte + 0x1f8, n), d + to);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(d[to + i], (byte + 0xf8) & 0xff);
    assert_int_equal(d[to + n], behind);
    free(d);
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static void check_compare(size_t a, size_t b, size_t n)
{
    uint8_t *x = filled(a + n), *y = filled(b + n);

    for (size_t i = 0; i < n; i++)
        y[b + i] = x[a + i];
    assert_int_equal(kernel_memcmp(x + a, y + b, n), 0);
    for (size_t i = 0; i < n; i += 1 + i / 4) {
        y[b + i] ^= 0x81;
        if (i + 1 < n)
            y[b + n - 1] ^= 0xff; /* a later difference does not matter */
        assert_int_equal(sign(kernel_memcmp(x + a, y + b, n)), sign(x[a + i] - y[b + i]));
        y[b + i] = x[a + i];
        y[b + n - 1] = x[a + n - 1];
    }
    free(x);
    free(y);
}

static void copies_each_byte(void **fixture)
{
    (void)fixture;
    for_each_shape(check_copy);
}

static void moves_what_overlaps(void **fixture)
{
    (void)fixture;
    for_each_shape(check_move);
}

static void sets_each_byte(void **fixture)
{
    (void)fixture;
    for_each_shape(check_set);
}

static void compares_by_the_first_that_differs(void **fixture)
{
    (void)fixture;
    for_each_shape(check_compare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_each_byte),
        cmocka_unit_test(moves_what_overlaps),
        cmocka_unit_test(sets_each_byte),
        cmocka_unit_test(compares_by_the_first_that_differs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
