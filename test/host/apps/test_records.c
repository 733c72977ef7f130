/* Records for programs: what is quoted and escaped, what is left out, when columns are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/record.h"

/* ---- What is printed ------------------------------------------------------------------------- */

static char *said; /* what was printed since listen() */
static size_t length;
static FILE *usual;

static void listen(void)
{
    usual = stdout;
    stdout = open_memstream(&said, &length);
    assert_non_null(stdout);
}

/* Returns it, until the next call. */
static const char *heard(void)
{
    static char text[16384];

    fclose(stdout);
    stdout = usual;
    snprintf(text, sizeof text, "%s", said);
    free(said);
    return text;
}

static const char *json_of(const char *text)
{
    listen();
    record_begin(RECORD_JSON, "tool", "kind");
    record_text("t", text);
    record_end();
    return heard();
}

/* Each has a kind of its own, so that its columns are named. */
static const char *csv_of(const char *kind, const char *text)
{
    listen();
    record_begin(RECORD_CSV, "tool", kind);
    record_text("t", text);
    record_end();
    return heard();
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void columns_are_named_once_for_each_kind(void **state)
{
    (void)state;
    listen();
    for (unsigned i = 0; i < 4; i++) {
        record_begin(RECORD_CSV, "tool", i % 2 ? "odd" : "even");
        record_number("n", i);
        record_end();
    }
    assert_string_equal(heard(), "tool,even,n\ntool,even,0\ntool,odd,n\ntool,odd,1\n"
                                 "tool,even,2\ntool,odd,3\n");
}

static void what_there_is_not_is_empty_or_null(void **state)
{
    static const char *const expected[] = {
        [RECORD_CSV] = "tool,gaps,a,b,c,d,e,f,g,h\ntool,gaps,,,,,,,0,0.5\n",
        [RECORD_JSON] = "{\"tool\":\"gaps\",\"a\":null,\"b\":null,\"c\":null,\"d\":null,\"e\":null,"
                        "\"f\":null,\"g\":0,\"h\":0.5}\n"};

    (void)state;
    for (enum record_format f = RECORD_CSV; f <= RECORD_JSON; f++) {
        listen();
        record_begin(f, "tool", "gaps");
        record_number_if("a", false, 7);
        record_real_if("b", false, 7, 1);
        record_real("c", NAN, 1);
        record_real("d", INFINITY, 1);
        record_text_if("e", "?");
        record_text_if("f", NULL);
        record_number_if("g", true, 0);
        record_real_if("h", true, 0.5, 1);
        record_end();
        assert_string_equal(heard(), expected[f]);
    }
}

static void texts_are_escaped(void **state)
{
    (void)state;
    assert_string_equal(json_of("a\"b\\c\td\x7f"),
                        "{\"tool\":\"kind\",\"t\":\"a\\\"b\\\\c\\u0009d\\u007f\"}\n");
    assert_string_equal(csv_of("plain", "a b"), "tool,plain,t\ntool,plain,a b\n");
    assert_string_equal(csv_of("comma", "a,b"), "tool,comma,t\ntool,comma,\"a,b\"\n");
    assert_string_equal(csv_of("quote", "a\"b"), "tool,quote,t\ntool,quote,\"a\"\"b\"\n");
    assert_string_equal(csv_of("return", "a\rb"), "tool,return,t\ntool,return,\"a\rb\"\n");
}

static void bytes_that_are_no_utf8_are_replaced(void **state)
{
#define GONE "\xef\xbf\xbd"
    static const char *const pairs[][2] = {
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xff", GONE},                            /* no first byte */
        {"\xa9z", GONE "z"},                       /* a further byte first */
        {"\xc3", GONE},                            /* cut short */
        {"\xe2\x82", GONE GONE},                   /* the same, of three */
        {"\xc0\x80", GONE GONE},                   /* a longer form of NUL */
        {"\xe0\x80\x80", GONE GONE GONE},          /* the same, of three */
        {"\xed\xa0\x80", GONE GONE GONE},          /* half of a pair of UTF-16 */
        {"\xf4\x90\x80\x80", GONE GONE GONE GONE}, /* beyond U+10FFFF */
    };
    char expected[64];

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        snprintf(expected, sizeof expected, "{\"tool\":\"kind\",\"t\":\"%s\"}\n", pairs[i][1]);
        assert_string_equal(json_of(pairs[i][0]), expected);
    }
}

static void a_long_text_is_cut_and_the_record_is_whole(void **state)
{
    static char text[20000];
    size_t n;

    (void)state;
    memset(text, '\n', sizeof text - 1);
    const char *line = json_of(text);
    n = strlen(line);
    assert_true(n > 1000 && n < 1100);
    assert_string_equal(line + n - 3, "\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_named_once_for_each_kind),
        cmocka_unit_test(what_there_is_not_is_empty_or_null),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(a_long_text_is_cut_and_the_record_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
