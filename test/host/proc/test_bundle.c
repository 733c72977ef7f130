/* Archives made byte by byte: files are found by name, broken archives are refused with the
 * reason. */
#include "test/host/double/expect_panic.h"
#include "kernel/proc/bundle.h"

static uint8_t archive[8192];
static uint64_t size;
static struct bundle_file file;
static const char *why;

static void sum_header(uint8_t *h)
{
    unsigned sum = 0;

    memset(h + 148, ' ', 8);
    for (unsigned i = 0; i < 512; i++)
        sum += h[i];
    snprintf((char *)h + 148, 8, "%06o", sum);
}

static void add(const char *name, const char *text, char type)
{
    uint8_t *h = archive + size;

    memset(h, 0, 512);
    memcpy(h, name, MIN(strlen(name), (size_t)100));
    snprintf((char *)h + 124, 12, "%011o", (unsigned)strlen(text));
    h[156] = type;
    memcpy(h + 257, "ustar\00000", 8);
    sum_header(h);
    memcpy(h + 512, text, strlen(text));
    size += 512 + ALIGN_UP(strlen(text), (size_t)512);
}

static int two_programs(void **state)
{
    (void)state;
    memset(archive, 0, sizeof(archive));
    size = 0;
    add("hello", "first", '0');
    add("folder", "", '5');
    add("warehouse", "second", '\0');
    size += 1024;
    return 0;
}

static int find(const char *name)
{
    return bundle_find(archive, size, name, &file, &why);
}

static void a_file_is_found_by_its_whole_name(void **state)
{
    (void)state;
    assert_int_equal(find("warehouse"), 0);
    assert_int_equal(file.size, 6);
    assert_memory_equal(file.data, "second", 6);
    assert_int_equal(find("hello"), 0);
    assert_memory_equal(file.data, "first", 5);
    assert_int_equal(find("hell"), -ENOENT);
    assert_int_equal(find("hello2"), -ENOENT);
    assert_int_equal(find(""), -ENOENT);
}

static void only_regular_files_count(void **state)
{
    (void)state;
    assert_int_equal(find("folder"), -ENOENT);
}

static void a_name_may_fill_its_field(void **state)
{
    (void)state;
    char name[BUNDLE_NAME_MAX + 1];
    memset(name, 'n', BUNDLE_NAME_MAX);
    name[BUNDLE_NAME_MAX] = '\0';
    size = 0;
    add(name, "x", '0');
    assert_int_equal(find(name), 0);
    assert_string_equal(file.name, name);
}

static void an_archive_that_ends_without_zeros_ends_all_the_same(void **state)
{
    (void)state;
    size -= 1024;
    assert_int_equal(find("warehouse"), 0);
    assert_int_equal(find("nothing"), -ENOENT);
    size = 0;
    assert_int_equal(find("hello"), -ENOENT);
}

static void broken_headers_are_refused_by_name(void **state)
{
    (void)state;
    archive[257] = 'v';
    assert_int_equal(find("warehouse"), -EINVAL);
    assert_string_equal(why, "not a ustar archive");
    two_programs(NULL);
    archive[0] = 'j';
    assert_int_equal(find("warehouse"), -EINVAL);
    assert_string_equal(why, "wrong checksum in a header");
    two_programs(NULL);
    archive[124] = '9';
    sum_header(archive);
    assert_int_equal(find("warehouse"), -EINVAL);
    assert_string_equal(why, "malformed size in a header");
    two_programs(NULL);
    memcpy(archive + 124, "77777777777", 11);
    sum_header(archive);
    assert_int_equal(find("warehouse"), -EINVAL);
    assert_string_equal(why, "file beyond the end of the archive");
    two_programs(NULL);
    archive[345] = 'd';
    sum_header(archive);
    assert_int_equal(find("warehouse"), -EINVAL);
    assert_string_equal(why, "file in a folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_file_is_found_by_its_whole_name, two_programs),
        cmocka_unit_test_setup(only_regular_files_count, two_programs),
        cmocka_unit_test_setup(a_name_may_fill_its_field, two_programs),
        cmocka_unit_test_setup(an_archive_that_ends_without_zeros_ends_all_the_same, two_programs),
        cmocka_unit_test_setup(broken_headers_are_refused_by_name, two_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
