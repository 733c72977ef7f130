/* What watchd keeps of a program's output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/watchd/output.h"

static struct output o;

static int clear(void **state)
{
    (void)state;
    output_clear(&o);
    return 0;
}

static void add(const char *text)
{
    output_add(&o, text, strlen(text));
}

static void what_was_written_is_there_from_any_byte_on(void **state)
{
    size_t n;

    (void)state;
    add("one\n");
    add("two\n");
    assert_memory_equal(output_from(&o, 0, &n), "one\ntwo\n", 8);
    assert_int_equal(n, 8);
    assert_memory_equal(output_from(&o, 5, &n), "wo\n", 3);
    assert_int_equal(n, 3);
    output_from(&o, 8, &n);
    assert_int_equal(n, 0);
    output_from(&o, UINT64_MAX, &n);
    assert_int_equal(n, 0);
}

static void the_oldest_is_left_out_and_counted(void **state)
{
    static char piece[4096];
    const unsigned pieces = 3 * OUTPUT_KEPT / sizeof piece + 1;
    size_t n;

    (void)state;
    for (unsigned i = 0; i < pieces; i++) {
        memset(piece, 'a' + (int)(i % 26), sizeof piece);
        output_add(&o, piece, sizeof piece);
        uint64_t out = output_left_out(&o);
        const char *at = output_from(&o, 0, &n);
        assert_true(n <= OUTPUT_KEPT && out + n == o.bytes && o.bytes == (i + 1) * sizeof piece);
        assert_true(!out || n >= OUTPUT_KEPT / 2);
        for (uint64_t b = 0; b < n; b += sizeof piece)
            assert_int_equal(at[b], 'a' + (int)((out + b) / sizeof piece % 26));
    }
    assert_true(output_left_out(&o) > 0);
}

static void result_lines_are_kept_however_they_arrive(void **state)
{
    static const char text[] = "RESULT a=1\nRESULTS no\n RESULT no\nRESULTRESULT no\nRESUL\n\n"
                               "RESULT \nno RESULT no\nRESULT b=2";

    (void)state;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        output_clear(&o);
        for (size_t at = 0; at < sizeof text - 1; at += piece) {
            size_t left = sizeof text - 1 - at;
            output_add(&o, text + at, piece < left ? piece : left);
        }
        assert_string_equal(o.results.at, "RESULT a=1\nRESULT \nRESULT b=2");
    }
}

static void result_lines_outlive_the_output_around_them(void **state)
{
    (void)state;
    add("RESULT a=1\n");
    for (unsigned i = 0; i < OUTPUT_KEPT / 8; i++)
        add("0123456789abcdef");
    assert_true(output_left_out(&o) > 0);
    assert_string_equal(o.results.at, "RESULT a=1\n");
}

static void result_lines_without_an_end_are_cut(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * OUTPUT_RESULTS / 8; i++)
        add("RESULT \n");
    assert_true(o.results.n <= OUTPUT_RESULTS + 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_was_written_is_there_from_any_byte_on, clear),
        cmocka_unit_test_teardown(the_oldest_is_left_out_and_counted, clear),
        cmocka_unit_test_teardown(result_lines_are_kept_however_they_arrive, clear),
        cmocka_unit_test_teardown(result_lines_outlive_the_output_around_them, clear),
        cmocka_unit_test_teardown(result_lines_without_an_end_are_cut, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
