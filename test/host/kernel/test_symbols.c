/* Tables made by hand: what is found, what is unknown, and which tables are refused. */
#include "test/host/double/expect_panic.h"
#include "kernel/lib/symbols.h"

enum { BASE = 0x401000, FUNCTIONS = 3, LINES = 5, FILES = 2, FRAMES = 3 };

static struct table {
    struct symbols_header header;
    struct symbols_function functions[FUNCTIONS];
    struct symbols_line lines[LINES];
    struct symbols_frame frames[FRAMES];
    uint32_t files[FILES];
    char names[32];
} PACKED table;
static struct symbols symbols;
static struct symbol_found place;
static const char *why;

#define PLACE(file, line) ((file) << SYMBOLS_LINE_BITS | (line))

/* main at 0x10, 0x20 bytes; gap; helper at 0x40, 8; last at 0x100, 0x10. Names: 0 main, 5 helper,
 * 12 last, 17 a.c, 21 dir/b.h. */
static int three_functions(void **state)
{
    (void)state;
    table = (struct table){
        .header = {SYMBOLS_MAGIC, BASE, FUNCTIONS, LINES, FILES, sizeof(table.names), FRAMES, 0},
        .functions = {{0x10, 0x20, 0}, {0x40, 8, 5}, {0x100, 0x10, 12}},
        .lines = {{0x10, PLACE(0u, 7)},
                  {0x14, PLACE(1u, SYMBOLS_LINE_MAX)},
                  {0x20, PLACE(0u, 9)},
                  {0x30, 0},
                  {0x100, PLACE(1u, 1)}},
        .frames = {{0x10, 1, 1, 0}, {0x14, 2, 1, 2}, {0x30, SYMBOLS_FRAME_NONE, 0, 0}},
        .files = {17, 21},
        .names = "main\0helper\0last\0a.c\0dir/b.h",
    };
    assert_int_equal(symbols_open(&table, sizeof(table), &symbols, &why), 0);
    return 0;
}

static void is(uint64_t offset, const char *function, uint64_t into, const char *file,
               uint32_t line)
{
    bool found = symbols_find(&symbols, BASE + offset, &place);

    assert_int_equal(found, function || file);
    assert_int_equal(!place.function, !function);
    assert_int_equal(!place.file, !file);
    if (function)
        assert_string_equal(place.function, function);
    if (file)
        assert_string_equal(place.file, file);
    assert_int_equal(place.offset, into);
    assert_int_equal(place.line, line);
}

static void an_address_has_the_last_entry_before_it(void **state)
{
    (void)state;
    is(0x10, "main", 0, "a.c", 7);
    is(0x13, "main", 3, "a.c", 7);
    is(0x14, "main", 4, "dir/b.h", SYMBOLS_LINE_MAX);
    is(0x1f, "main", 15, "dir/b.h", SYMBOLS_LINE_MAX);
    is(0x2f, "main", 31, "a.c", 9);
    is(0x10f, "last", 15, "dir/b.h", 1);
}

static void an_address_has_the_last_frame_before_it(void **state)
{
    struct symbols_frame frame;

    (void)state;
    assert_ptr_equal(symbols.table, &table);
    assert_true(symbols_frame_at(symbols.table, BASE + 0x13, &frame));
    assert_true(frame.cfa == 1 && frame.link == 1 && frame.fp == 0);
    assert_true(symbols_frame_at(symbols.table, BASE + 0x14, &frame));
    assert_true(frame.cfa == 2 && frame.fp == 2);
    assert_true(symbols_frame_at(symbols.table, BASE + 0x1000, &frame));
    assert_int_equal(frame.cfa, SYMBOLS_FRAME_NONE);
    assert_false(symbols_frame_at(symbols.table, BASE + 0xf, &frame));
    assert_false(symbols_frame_at(symbols.table, BASE - 1, &frame));
    assert_false(symbols_frame_at(symbols.table, UINT64_MAX, &frame));
}

static void what_is_not_known_is_said(void **state)
{
    (void)state;
    is(0, NULL, 0, NULL, 0);
    is(0xf, NULL, 0, NULL, 0);
    is(0x30, NULL, 0, NULL, 0);
    is(0x40, "helper", 0, NULL, 0);
    is(0x48, NULL, 0, NULL, 0);
    is(0x110, NULL, 0, "dir/b.h", 1); /* lines go on to the next entry */
    is((uint64_t)-1, NULL, 0, NULL, 0);
    is(0x100000010, NULL, 0, NULL, 0); /* 4 GB further on */
    assert_false(symbols_find(&symbols, 0, &place));
    assert_false(symbols_find(&symbols, UINT64_MAX, &place));
}

static void a_table_may_be_empty_or_none(void **state)
{
    (void)state;
    struct symbols_header empty = {SYMBOLS_MAGIC, BASE, 0, 0, 0, 0, 0, 0};

    assert_int_equal(symbols_open(&empty, sizeof(empty), &symbols, &why), 0);
    is(0x10, NULL, 0, NULL, 0);
    symbols = (struct symbols){0};
    is(0x10, NULL, 0, NULL, 0);
}

static void refused(uint64_t size, const char *reason)
{
    assert_int_equal(symbols_open(&table, size, &symbols, &why), -EINVAL);
    assert_string_equal(why, reason);
    is(0x10, NULL, 0, NULL, 0);
    three_functions(NULL);
}

static void broken_tables_are_refused_by_name(void **state)
{
    (void)state;
    refused(0, "shorter than its header");
    refused(sizeof(table.header) - 1, "shorter than its header");
    refused(sizeof(table) - 1, "not of the size it says");
    table.header.magic[7]++;
    refused(sizeof(table), "not a table of symbols");
    table.header.functions++;
    refused(sizeof(table), "not of the size it says");
    table.header.lines = UINT32_MAX;
    refused(sizeof(table), "not of the size it says");
    table.names[sizeof(table.names) - 1] = 'x';
    refused(sizeof(table), "its last name has no end");
}

static void numbers_beyond_the_table_are_not_followed(void **state)
{
    (void)state;
    table.functions[0].name = sizeof(table.names);
    table.lines[0].place = PLACE(2u, 7);
    is(0x10, NULL, 0, NULL, 0);
    table.functions[0].name = UINT32_MAX;
    table.lines[0].place = PLACE(0u, 7);
    table.files[0] = sizeof(table.names);
    is(0x10, NULL, 0, NULL, 0);
    three_functions(NULL);
    table.header.files = 1; /* one file less, its entry among the names */
    table.header.name_bytes += sizeof(table.files[0]);
    assert_int_equal(symbols_open(&table, sizeof(table), &symbols, &why), 0);
    assert_true(symbols_find(&symbols, BASE + 0x14, &place));
    assert_null(place.file);
    assert_int_equal(place.line, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_address_has_the_last_entry_before_it, three_functions),
        cmocka_unit_test_setup(an_address_has_the_last_frame_before_it, three_functions),
        cmocka_unit_test_setup(what_is_not_known_is_said, three_functions),
        cmocka_unit_test_setup(a_table_may_be_empty_or_none, three_functions),
        cmocka_unit_test_setup(broken_tables_are_refused_by_name, three_functions),
        cmocka_unit_test_setup(numbers_beyond_the_table_are_not_followed, three_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
