/* Dates against the C library's calendar, and what is refused. */
#define _GNU_SOURCE
#include "test/host/double/expect_panic.h"
#include "kernel/lib/date.h"
#include <time.h>

static void every_hour_is_as_the_library_has_it(void **state)
{
    (void)state;
    for (uint64_t s = 0; s < DATE_END; s += 3600 + s % 1000003) {
        time_t t = (time_t)s;
        struct tm tm;
        char expected[32], text[DATE_TEXT_MAX];
        uint64_t back;
        assert_non_null(gmtime_r(&t, &tm));
        strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S", &tm);
        assert_string_equal(date_format(s, text), expected);
        assert_true(date_parse(text, &back));
        assert_int_equal(back, s);
    }
}

static void known_texts_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t seconds;
    } known[] = {
        {"0", 0},
        {"1970-01-01", 0},
        {"1970-01-01T00:00:00", 0},
        {"2026-01-01", 1767225600},
        {"2000-02-29T23:59:59", 951868799},
        {"1767225600", 1767225600},
        {"2159-12-31T23:59:59", DATE_END - 1},
        {"5995814399", DATE_END - 1},
        {"2026", 2026},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        uint64_t s = 1;
        assert_true(date_parse(known[i].text, &s));
        assert_int_equal(s, known[i].seconds);
    }
}

static void others_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "0x10",
        "today",
        "1969-12-31",
        "2160-01-01",
        "5995814400",
        "99999999999999999999999999",
        "2026-00-01",
        "2026-13-01",
        "2026-01-00",
        "2026-01-32",
        "2026-02-29",
        "2100-02-29",
        "2026-04-31",
        "2026-1-1",
        "2026-01-01T",
        "2026-01-01T12",
        "2026-01-01T12:00",
        "2026-01-01T24:00:00",
        "2026-01-01T12:60:00",
        "2026-01-01T12:00:60",
        "2026-01-01T12:00:00Z",
        "2026-01-01 12:00:00",
        "20260101T000000",
        "2026-01-01-",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        char *exact = strdup(wrong[i]); /* reading beyond it would be noticed */
        uint64_t s;
        if (date_parse(exact, &s))
            fail_msg("'%s' was read", wrong[i]);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hour_is_as_the_library_has_it),
        cmocka_unit_test(known_texts_are_read),
        cmocka_unit_test(others_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
