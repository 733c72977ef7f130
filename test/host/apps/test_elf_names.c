/* Names and lines in ELF files: this test's own, its libraries', cut short and made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/tools/measuring/elf_lines.h"
#include "apps/tools/measuring/elf_names.h"
#include "apps/tools/measuring/images.h"

uint64_t a_variable_of_this_test[4] = {1};
uint64_t a_function_of_this_test(void);

static const uint32_t line_of_function = __LINE__ + 2;

uint64_t __attribute__((noinline)) a_function_of_this_test(void)
{
    return a_variable_of_this_test[0] + 1;
}

static void is(const void *address, unsigned into, const char *wanted)
{
    struct images_found found;

    assert_true(images_find((uint32_t)getpid(), (uintptr_t)address + into, &found));
    assert_string_equal(found.name, wanted);
    assert_int_equal(found.offset, into);
}

static void a_process_has_names_of_its_program_and_libraries(void **state)
{
    struct images_found found;

    (void)state;
    is(a_variable_of_this_test, 0, "a_variable_of_this_test");
    is(a_variable_of_this_test, 31, "a_variable_of_this_test");
    is((const void *)(uintptr_t)a_function_of_this_test, 1, "a_function_of_this_test");
    is((const void *)(uintptr_t)_cmocka_run_group_tests, 2, "_cmocka_run_group_tests");
    for (unsigned i = 0; i <= IMAGES_EVERY; i++)
        assert_false(images_find((uint32_t)getpid(), 8, &found));
    assert_false(images_find((uint32_t)getpid(), (uintptr_t)&found, &found));
    assert_false(images_find(UINT32_MAX, (uintptr_t)a_variable_of_this_test, &found));
}

static void its_code_has_lines(void **state)
{
    struct images_found found;

    (void)state;
    assert_true(images_find((uint32_t)getpid(), (uintptr_t)a_function_of_this_test, &found));
    assert_non_null(found.file);
    assert_non_null(strstr(found.file, "test_elf_names.c"));
    /* Its first instruction may belong to its head or its body. */
    assert_in_range(found.line, line_of_function, line_of_function + 2);
    assert_true(images_find((uint32_t)getpid(), (uintptr_t)a_variable_of_this_test, &found));
    assert_null(found.file);
    assert_int_equal(found.line, 0);
}

static uint8_t *own_file(size_t *bytes)
{
    FILE *in = fopen("/proc/self/exe", "rb");
    uint8_t *at = NULL;

    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    *bytes = (size_t)ftell(in);
    rewind(in);
    at = malloc(*bytes + 1);
    assert_int_equal(fread(at, 1, *bytes, in), *bytes);
    at[*bytes] = '\0';
    fclose(in);
    return at;
}

/* As it is read it ends anywhere; its tables are at its end. */
static void a_file_that_is_cut_short_is_refused(void **state)
{
    struct elf_names names;
    size_t bytes;
    uint8_t *file = own_file(&bytes);

    (void)state;
    assert_true(elf_names_read(file, bytes, &names));
    assert_true(names.count > 20 && names.low < names.high);
    for (size_t i = 1; i < names.count; i++)
        assert_true(names.name[i - 1].start < names.name[i].start);
    assert_null(elf_names_find(&names, names.name[0].start - 1));
    assert_null(elf_names_find(&names, names.high));
    elf_names_free(&names);
    for (size_t cut = 0; cut < bytes; cut = cut < 200 ? cut + 1 : cut * 5 / 4) {
        uint8_t *part = malloc(cut + 1);
        memcpy(part, file, cut);
        part[cut] = '\0';
        assert_false(elf_names_read(part, cut, &names));
        assert_int_equal(names.count, 0);
        free(part);
    }
    free(file);
}

/* Its table of sections is at its end. Bytes of any value anywhere do no harm. */
static void broken_lines_are_read_within_the_file(void **state)
{
    struct elf_lines lines, other;
    size_t bytes;
    uint8_t *file = own_file(&bytes);

    (void)state;
    assert_true(elf_lines_read(file, bytes, &lines));
    assert_true(lines.lines > 50);
    for (size_t i = 1; i < lines.lines; i++)
        assert_true(lines.line[i - 1].start < lines.line[i].start);
    for (unsigned i = 0; i < 2000; i++) { /* the sanitizer sees what is read beyond */
        uint8_t *broken = malloc(bytes);
        memcpy(broken, file, bytes);
        for (unsigned k = 0; k < 1 + i % 40; k++)
            broken[(uint64_t)rand() * 977 % bytes] = (uint8_t)rand();
        elf_lines_read(broken, bytes, &other);
        elf_lines_free(&other);
        free(broken);
    }
    assert_false(elf_lines_read(file, bytes / 2, &other));
    elf_lines_free(&lines);
    free(file);
}

/* One load, sections: none, symbols, names. */
static struct hand {
    uint8_t header[64];
    uint64_t segment[7];
    uint64_t sections[3][8];
    struct {
        uint32_t name;
        uint8_t info, other;
        uint16_t section;
        uint64_t value, bytes;
    } symbol[4];
    char names[16];
} hand;

static void put(unsigned at, uint64_t value, unsigned bytes)
{
    memcpy(hand.header + at, &value, bytes);
}

static void make_by_hand(void)
{
    memset(&hand, 0, sizeof hand);
    memcpy(hand.header, "\177ELF\2\1", 6);
    put(32, offsetof(struct hand, segment), 8);
    put(40, offsetof(struct hand, sections), 8);
    put(54, 56, 2);
    put(56, 1, 2);
    put(58, 64, 2);
    put(60, 3, 2);
    hand.segment[0] = 1;
    hand.segment[2] = 0x10010;
    hand.segment[5] = 0x1000;
    hand.sections[1][0] = (uint64_t)2 << 32;
    hand.sections[1][3] = offsetof(struct hand, symbol);
    hand.sections[1][4] = sizeof hand.symbol;
    hand.sections[1][5] = 2;
    hand.sections[1][7] = 24;
    hand.sections[2][3] = offsetof(struct hand, names);
    hand.sections[2][4] = sizeof hand.names;
    memcpy(hand.names, "\0one\0two\0three", 14);
    hand.symbol[0].name = 1, hand.symbol[0].info = 2, hand.symbol[0].section = 1;
    hand.symbol[0].value = 0x10100, hand.symbol[0].bytes = 16;
    hand.symbol[1].name = 5, hand.symbol[1].info = 1, hand.symbol[1].section = 1;
    hand.symbol[1].value = 0x10200;                   /* without a size */
    hand.symbol[2].name = 9, hand.symbol[2].info = 2; /* of another file */
    hand.symbol[2].value = 0x10300, hand.symbol[2].bytes = 8;
    hand.symbol[3].name = 100, hand.symbol[3].info = 2, hand.symbol[3].section = 1;
    hand.symbol[3].value = 0x10400; /* a name outside the names */
}

static void a_name_reaches_as_far_as_it_says(void **state)
{
    struct elf_names names;

    (void)state;
    make_by_hand();
    assert_true(elf_names_read((const uint8_t *)&hand, sizeof hand, &names));
    assert_int_equal(names.count, 2);
    assert_int_equal(names.low, 0x10000);
    assert_int_equal(names.high, 0x11010);
    assert_string_equal(elf_names_find(&names, 0x1010f)->name, "one");
    assert_null(elf_names_find(&names, 0x10110));
    assert_null(elf_names_find(&names, 0x100ff));
    assert_string_equal(elf_names_find(&names, 0x1100f)->name, "two");
    assert_null(elf_names_find(&names, 0x11010));
    elf_names_free(&names);
    hand.sections[1][5] = 3; /* names in a section that there is not */
    assert_false(elf_names_read((const uint8_t *)&hand, sizeof hand, &names));
}

/* As the linker's note has it, which begins 16 bytes before. */
static void a_file_has_its_build_id(void **state)
{
    uint8_t id[ELF_BUILD_ID_MAX] = {0};
    static const uint8_t head[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
    size_t bytes;
    uint8_t *file = own_file(&bytes);

    (void)state;
    unsigned n = elf_build_id(file, bytes, id);
    assert_int_equal(n, 20);
    size_t at = 0;
    while (memcmp(file + at, head, sizeof head) != 0)
        assert_true(++at + sizeof head + n <= bytes);
    assert_memory_equal(id, file + at + sizeof head, n);
    for (size_t cut = 0; cut < 2000; cut++) { /* the sanitizer sees what is read beyond */
        uint8_t *part = malloc(cut + 1);
        memcpy(part, file, cut);
        n = elf_build_id(part, cut, id);
        assert_true(n == 0 || n == 20);
        free(part);
    }
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_its_build_id),
        cmocka_unit_test(a_process_has_names_of_its_program_and_libraries),
        cmocka_unit_test(its_code_has_lines),
        cmocka_unit_test(broken_lines_are_read_within_the_file),
        cmocka_unit_test(a_file_that_is_cut_short_is_refused),
        cmocka_unit_test(a_name_reaches_as_far_as_it_says),
    };

    return a_function_of_this_test() != 2 || cmocka_run_group_tests(tests, NULL, NULL);
}
