/* Archives made byte by byte: what is in their fields is read, what is broken is refused with the
 * reason. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/archive.h"
#include "kernel/fs/tar.h"

static struct archive archive;
static struct tar_entry entry;
static uint64_t cursor;
static const char *why;

static int begin(void **state)
{
    (void)state;
    archive.size = cursor = 0;
    return 0;
}

static int next(void)
{
    return tar_next(archive.bytes, archive.size, &cursor, &entry, &why);
}

static void assert_text(struct tar_text t, const char *text)
{
    assert_int_equal(t.n, strlen(text));
    assert_memory_equal(t.s, text, t.n);
}

static void assert_refused(const char *reason)
{
    uint64_t before = cursor;

    assert_int_equal(next(), -EINVAL);
    assert_string_equal(why, reason);
    assert_int_equal(cursor, before);
}

static void entries_come_in_order(void **state)
{
    (void)state;
    archive_add(&archive, '5', "d/", "", "", 0);
    archive_file(&archive, "d/f", "contents");
    archive_add(&archive, '2', "l", "d/f", "", 0);
    archive_add(&archive, '1', "h", "d/f", "", 0);
    archive.size += 1024;
    memset(archive.bytes + archive.size - 1024, 0, 1024);
    assert_int_equal(next(), 0);
    assert_int_equal(entry.type, TAR_FOLDER);
    assert_int_equal(entry.mode, 0755);
    assert_int_equal(next(), 0);
    assert_int_equal(entry.type, TAR_FILE);
    assert_text(entry.name, "d/f");
    assert_int_equal(entry.size, 8);
    assert_int_equal(entry.time, 1000);
    assert_memory_equal(entry.data, "contents", 8);
    assert_int_equal(next(), 0);
    assert_int_equal(entry.type, TAR_LINK);
    assert_text(entry.target, "d/f");
    assert_int_equal(next(), 0);
    assert_int_equal(entry.type, TAR_HARD_LINK);
    assert_int_equal(next(), -ENOENT);
    assert_int_equal(next(), -ENOENT);
}

static void a_name_is_in_two_fields(void **state)
{
    (void)state;
    uint8_t *h = archive_file(&archive, "name", "x");
    strcpy((char *)h + 345, "long/folder");
    archive_sum(h);
    assert_int_equal(next(), 0);
    assert_text(entry.folder, "long/folder");
    assert_text(entry.name, "name");
    /* GNU tar's own format has times there. */
    begin(NULL);
    h = archive_file(&archive, "name", "x");
    memcpy(h + 257, "ustar  ", 8);
    strcpy((char *)h + 345, "12345");
    archive_sum(h);
    assert_int_equal(next(), 0);
    assert_int_equal(entry.folder.n, 0);
}

static void a_name_may_fill_its_field(void **state)
{
    (void)state;
    char name[101];
    memset(name, 'n', 100);
    name[100] = '\0';
    archive_file(&archive, name, "x");
    assert_int_equal(next(), 0);
    assert_text(entry.name, name);
}

static void pax_records_replace_fields(void **state)
{
    (void)state;
    archive_pax(&archive, "path", "a/long/one");
    archive_pax(&archive, "mtime", "1700000000.123456789");
    archive_pax(&archive, "comment", "no matter");
    archive_file(&archive, "short", "x");
    archive_pax(&archive, "linkpath", "else/where");
    archive_pax(&archive, "mtime", "-5");
    archive_add(&archive, '2', "l", "here", "", 0);
    archive_file(&archive, "next", "y");
    assert_int_equal(next(), 0);
    assert_text(entry.name, "a/long/one");
    assert_int_equal(entry.time, 1700000000);
    assert_int_equal(next(), 0);
    assert_text(entry.target, "else/where");
    assert_int_equal(entry.time, -5);
    assert_int_equal(next(), 0);
    assert_text(entry.name, "next");
    assert_int_equal(entry.time, 1000);
}

static void a_size_in_pax_is_of_the_entry_alone(void **state)
{
    (void)state;
    archive_pax(&archive, "size", "4");
    archive_add(&archive, 'L', "././@LongLink", "", "by the long name", 17);
    uint8_t *h = archive_file(&archive, "f", "abcd");
    memcpy(h + 124, "00000000000", 11);
    archive_sum(h);
    assert_int_equal(next(), 0);
    assert_text(entry.name, "by the long name");
    assert_int_equal(entry.size, 4);
    assert_memory_equal(entry.data, "abcd", 4);
    assert_int_equal(next(), -ENOENT);
}

static void large_numbers_are_binary(void **state)
{
    (void)state;
    uint8_t *h = archive_file(&archive, "f", "abcd");
    memset(h + 124, 0, 12);
    h[124] = 0x80;
    h[135] = 4;
    memset(h + 136, 0xff, 12); /* 1969 */
    archive_sum(h);
    assert_int_equal(next(), 0);
    assert_int_equal(entry.size, 4);
    assert_int_equal(entry.time, -1);
    begin(NULL);
    h = archive_file(&archive, "f", "abcd");
    memset(h + 124, 0, 12);
    h[124] = 0x80;
    h[126] = 1; /* 2^72 */
    archive_sum(h);
    assert_refused("malformed size in a header");
    memset(h + 124, 0xff, 12);
    archive_sum(h);
    assert_refused("malformed size in a header");
}

static void an_archive_that_ends_without_zeros_ends_all_the_same(void **state)
{
    (void)state;
    archive_file(&archive, "f", "abcd");
    archive.size -= 508; /* nor is the last block whole */
    assert_int_equal(next(), 0);
    assert_int_equal(next(), -ENOENT);
    archive.size = 511;
    cursor = 0;
    assert_int_equal(next(), -ENOENT);
}

static void set_field(unsigned at, const char *text)
{
    begin(NULL);
    uint8_t *h = archive_file(&archive, "file", "x");
    memcpy(h + at, text, strlen(text));
    archive_sum(h);
}

static void broken_headers_are_refused(void **state)
{
    (void)state;
    archive_file(&archive, "file", "x")[0] = 'j';
    assert_refused("wrong checksum in a header");
    set_field(257, "v");
    assert_refused("not a ustar archive");
    set_field(124, "9");
    assert_refused("malformed size in a header");
    set_field(124, "77777777777");
    assert_refused("file beyond the end of the archive");
    set_field(100, "rwx");
    assert_refused("malformed mode in a header");
    set_field(136, "now");
    assert_refused("malformed time in a header");
    set_field(108, "root");
    assert_refused("malformed owner in a header");
    set_field(156, "S");
    assert_refused("a sparse file, volume or listing");
    begin(NULL);
    archive_file(&archive, "", "x");
    assert_refused("an entry without a name");
    begin(NULL);
    archive_add(&archive, '2', "l", "", "", 0);
    assert_refused("a link that leads nowhere");
}

static void add_records(const char *text)
{
    begin(NULL);
    archive_add(&archive, 'x', "pax", "", text, strlen(text));
    archive_file(&archive, "file", "x");
}

static void add_record(const char *key, const char *value)
{
    begin(NULL);
    archive_pax(&archive, key, value);
    archive_file(&archive, "file", "x");
}

static void broken_pax_headers_are_refused(void **state)
{
    static const char *const malformed[] = {
        "path=x\n",  "8 path=xx\n", "9 path=xx", "99 path\n",
        "7 pathx\n", "5 =x\n",      "4 a\n",     "18446744073709551617 path=x\n",
        "0 a=b\n",   "9path=xx\n"};
    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(malformed); i++) {
        add_records(malformed[i]);
        assert_refused("malformed record in a pax header");
    }
    add_record("size", "x");
    assert_refused("malformed size in a pax header");
    add_record("size", "18446744073709551616");
    assert_refused("malformed size in a pax header");
    add_record("size", "18446744073709551615");
    assert_refused("file beyond the end of the archive");
    add_record("mtime", "now");
    assert_refused("malformed time in a pax header");
    add_record("GNU.sparse.major", "1");
    assert_refused("a sparse file");
    begin(NULL);
    archive_add(&archive, 'x', "pax", "", "10 path=\0\n", 10);
    archive_file(&archive, "file", "x");
    assert_refused("a name with a NUL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(entries_come_in_order, begin),
        cmocka_unit_test_setup(a_name_is_in_two_fields, begin),
        cmocka_unit_test_setup(a_name_may_fill_its_field, begin),
        cmocka_unit_test_setup(pax_records_replace_fields, begin),
        cmocka_unit_test_setup(a_size_in_pax_is_of_the_entry_alone, begin),
        cmocka_unit_test_setup(large_numbers_are_binary, begin),
        cmocka_unit_test_setup(an_archive_that_ends_without_zeros_ends_all_the_same, begin),
        cmocka_unit_test_setup(broken_headers_are_refused, begin),
        cmocka_unit_test_setup(broken_pax_headers_are_refused, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
