/* The names of machine and firmware, from a small invented memory; each single error is refused or
 * ends the reading. */
#include "test/host/double/expect_panic.h"
#include "kernel/firmware/smbios.h"

#define BASE     0xf0000
#define ENTRY_AT 0xf0010
#define TABLE_AT 0xf0100

static uint8_t memory[1024];
static uint64_t table_size;
static struct smbios names;

static const void *map(void *ctx, paddr_t pa, uint64_t size)
{
    (void)ctx;
    return pa < BASE || pa - BASE > sizeof(memory) || size > sizeof(memory) - (pa - BASE)
               ? NULL
               : memory + (pa - BASE);
}
static const struct acpi_memory window = {.map = map, .end = (paddr_t)1 << 40};

static uint8_t *at(paddr_t pa)
{
    return memory + (pa - BASE);
}

static void put(paddr_t pa, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at(pa)[i] = (uint8_t)(v >> 8 * i);
}

static void seal(uint32_t size, uint32_t sum_at)
{
    uint8_t sum = 0;

    at(ENTRY_AT)[sum_at] = 0;
    for (uint32_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + at(ENTRY_AT)[i]);
    at(ENTRY_AT)[sum_at] = (uint8_t)-sum;
}

/* Appends a structure and its strings, each with its NUL, and one more NUL at the end. */
static void structure(const char *formatted, unsigned length, const char *strings, unsigned bytes)
{
    memcpy(at(TABLE_AT) + table_size, formatted, length);
    memcpy(at(TABLE_AT) + table_size + length, strings, bytes);
    table_size += length + bytes;
}
#define STRUCTURE(formatted, strings) \
    structure(formatted, sizeof(formatted) - 1, strings "\0", sizeof(strings "\0"))

static void make_entry3(void)
{
    memset(at(ENTRY_AT), 0, 32);
    memcpy(at(ENTRY_AT), "_SM3_", 5);
    put(ENTRY_AT + 6, 24, 1);
    put(ENTRY_AT + 12, table_size, 4);
    put(ENTRY_AT + 16, TABLE_AT, 8);
    seal(24, 5);
}

static void make_entry2(void)
{
    memset(at(ENTRY_AT), 0, 32);
    memcpy(at(ENTRY_AT), "_SM_", 4);
    put(ENTRY_AT + 5, 31, 1);
    memcpy(at(ENTRY_AT + 16), "_DMI_", 5);
    put(ENTRY_AT + 22, table_size, 2);
    put(ENTRY_AT + 24, TABLE_AT, 4);
    seal(31, 4);
}

static int good(void **state)
{
    (void)state;
    memset(memory, 0, sizeof(memory));
    table_size = 0;
    STRUCTURE("\x00\x0a\x00\x00\x01\x02\x00\x00\x03\x00",
              "Maker of firmware\0v1.2  \0\x30\x36/15/2025");
    STRUCTURE("\x04\x06\x01\x00\x01\x02", "a processor\0nobody asked for");
    structure("\x11\x04\x02\x00", 4, "\0", 2); /* without strings */
    STRUCTURE("\x01\x08\x03\x00\x01\x02\x00\x00", "Maker\0A m\xe4"
                                                  "chine");
    STRUCTURE("\x02\x06\x04\x00\x02\x01", "X-570\0Boards Inc.");
    STRUCTURE("\x02\x06\x05\x00\x01\x01", "a second board");
    structure("\x7f\x04\x06\x00", 4, "\0", 2);
    STRUCTURE("\x01\x08\x07\x00\x01\x01\x01\x01", "behind the end");
    make_entry3();
    return 0;
}

static void expect_names(void)
{
    assert_string_equal(names.firmware_vendor, "Maker of firmware");
    assert_string_equal(names.firmware_version, "v1.2");
    assert_string_equal(names.firmware_date, "06/15/2025");
    assert_string_equal(names.vendor, "Maker");
    assert_string_equal(names.product, "A m?chine");
    assert_string_equal(names.version, "");
    assert_string_equal(names.board_vendor, "Boards Inc.");
    assert_string_equal(names.board, "X-570");
}

static void names_are_read_by_either_entry_point(void **state)
{
    (void)state;
    assert_int_equal(smbios_read(&window, ENTRY_AT, &names), 0);
    expect_names();
    make_entry2();
    assert_int_equal(smbios_read(&window, ENTRY_AT, &names), 0);
    expect_names();
}

static void an_entry_point_that_is_broken_is_refused(void **state)
{
    (void)state;
    assert_int_equal(smbios_read(&window, 0, &names), -EINVAL);
    assert_int_equal(smbios_read(&window, BASE + sizeof(memory) - 8, &names), -EINVAL);
    assert_int_equal(smbios_read(&window, TABLE_AT, &names), -EINVAL);
    at(ENTRY_AT)[7]++; /* the sum is wrong */
    assert_int_equal(smbios_read(&window, ENTRY_AT, &names), -EINVAL);
    good(state);
    put(ENTRY_AT + 6, 23, 1);
    seal(23, 5);
    assert_int_equal(smbios_read(&window, ENTRY_AT, &names), -EINVAL);
    good(state);
    put(ENTRY_AT + 16, BASE + sizeof(memory) - 4, 8);
    seal(24, 5);
    assert_int_equal(smbios_read(&window, ENTRY_AT, &names), -EINVAL);
    good(state);
    put(ENTRY_AT + 12, 0xffffffff, 4);
    seal(24, 5);
    assert_int_equal(smbios_read(&window, ENTRY_AT, &names), -EINVAL);
    assert_string_equal(names.vendor, "");
}

static void a_table_that_is_broken_is_read_up_to_there(void **state)
{
    static const uint8_t lengths[] = {0, 3, 255};

    for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
        good(state);
        uint8_t *processor = memchr(at(TABLE_AT) + 10, 4, table_size);
        processor[1] = lengths[i];
        assert_int_equal(smbios_read(&window, ENTRY_AT, &names), 0);
        assert_string_equal(names.firmware_vendor, "Maker of firmware");
        assert_string_equal(names.vendor, "");
    }
}

/* Cut to every length, and with changed bytes: nothing outside is read (the sanitizers check). */
static void whatever_is_in_it_nothing_else_is_read(void **state)
{
    uint64_t seed = 5;

    good(state);
    for (uint64_t size = table_size; size--;) {
        /* Right before the end of memory. */
        memmove(memory + sizeof(memory) - size, at(TABLE_AT), size);
        put(ENTRY_AT + 12, size, 4);
        put(ENTRY_AT + 16, BASE + sizeof(memory) - size, 8);
        seal(24, 5);
        smbios_read(&window, ENTRY_AT, &names);
        assert_true(strlen(names.product) < SMBIOS_TEXT_MAX);
    }
    for (unsigned i = 0; i < 20000; i++) {
        good(state);
        for (unsigned n = 0; n < 3; n++)
            at(TABLE_AT)[test_random(&seed) % table_size] = (uint8_t)test_random(&seed);
        assert_int_equal(smbios_read(&window, ENTRY_AT, &names), 0);
        assert_true(strlen(names.product) < SMBIOS_TEXT_MAX);
    }
}

static void a_long_name_is_cut(void **state)
{
    char strings[200];

    (void)state;
    memset(strings, 'x', sizeof(strings));
    strings[198] = strings[199] = '\0';
    table_size = 0;
    structure("\x01\x08\x03\x00\x01\x01\x01\x00", 8, strings, sizeof(strings));
    make_entry3();
    assert_int_equal(smbios_read(&window, ENTRY_AT, &names), 0);
    assert_int_equal(strlen(names.product), SMBIOS_TEXT_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_are_read_by_either_entry_point, good),
        cmocka_unit_test_setup(an_entry_point_that_is_broken_is_refused, good),
        cmocka_unit_test_setup(a_table_that_is_broken_is_read_up_to_there, good),
        cmocka_unit_test_setup(whatever_is_in_it_nothing_else_is_read, good),
        cmocka_unit_test_setup(a_long_name_is_cut, good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
