/* A folder of the host: what a broken reply gives, and fids over random operations, with errors of
 * the host and ends of processes in between. */
#include "test/host/double/expect_panic.h"
#include "kernel/fs/p9_message.h"
#include "kernel/fs/path.h"
#include "test/host/double/fs_kernel.h"
#include "test/host/double/share_host.h"

#define ROUNDS 40
#define STEPS  400

static struct mount *m;

static void begin(uint64_t seed)
{
    host_restart(seed);
    assert_int_equal(p9_mount("share", false, &m), 0);
    assert_int_equal(p9_files(m), 1);
}

static void destroy(void)
{
    p9_destroy_for_test(m);
    host_free_frames();
    assert_int_equal(fs_allocated, 0);
}

static void end(void)
{
    host_finish();
    assert_int_equal(host_fids, p9_files(m));
    destroy();
}

static struct vnode *at(const char *path)
{
    struct path_start start = {.root = m->root, .here = m->root};
    struct vnode *v;

    return path_walk(&start, path, PATH_NOFOLLOW, &v) ? NULL : v;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int reply_of(const void *bytes, size_t n, struct p9_in *in)
{
    return p9_reply(in, bytes, n, P9_WALK, 3);
}

static void a_reply_must_have_its_size_type_and_tag(void **state)
{
    struct p9_in in;

    (void)state;
    assert_int_equal(reply_of("\x09\0\0\0\x6f\x03\0\0\0", 9, &in), 0);
    assert_int_equal(reply_of("\x09\0\0\0\x6f\x03\0\0\0", 8, &in), -EPROTO);
    assert_int_equal(reply_of("\x08\0\0\0\x6f\x03\0\0\0", 9, &in), -EPROTO);
    assert_int_equal(reply_of("\x09\0\0\0\x6d\x03\0\0\0", 9, &in), -EPROTO);
    assert_int_equal(reply_of("\x09\0\0\0\x6f\x02\0\0\0", 9, &in), -EPROTO);
    assert_int_equal(reply_of("", 0, &in), -EPROTO);
}

static void an_error_must_be_one_of_linux(void **state)
{
    struct p9_in in;

    (void)state;
    assert_int_equal(reply_of("\x0b\0\0\0\x07\x03\0\x02\0\0\0", 11, &in), -ENOENT);
    assert_int_equal(reply_of("\x0b\0\0\0\x07\x03\0\0\0\0\0", 11, &in), -EPROTO);
    assert_int_equal(reply_of("\x0b\0\0\0\x07\x03\0\0\x10\0\0", 11, &in), -EPROTO);
    assert_int_equal(reply_of("\x0a\0\0\0\x07\x03\0\x02\0\0", 10, &in), -EPROTO);
}

static void names_with_a_slash_or_a_zero_are_refused(void **state)
{
    char entry[40] = {0}, long_name[300];
    struct p9_in in = {.at = (uint8_t *)entry, .left = 13 + 8 + 1 + 2 + 3};
    struct p9_entry e;

    (void)state;
    memcpy(entry + 22, "\3\0abc", 5);
    assert_int_equal(p9_next_entry(&in, &e), 0);
    assert_int_equal(e.n, 3);
    assert_int_equal(p9_next_entry(&in, &e), -ENOENT);
    entry[25] = '/';
    in = (struct p9_in){.at = (uint8_t *)entry, .left = 27};
    assert_int_equal(p9_next_entry(&in, &e), -EPROTO);
    entry[25] = '\0';
    in = (struct p9_in){.at = (uint8_t *)entry, .left = 27};
    assert_int_equal(p9_next_entry(&in, &e), -EPROTO);
    in = (struct p9_in){.at = (uint8_t *)entry, .left = 26};
    assert_int_equal(p9_next_entry(&in, &e), -EPROTO);
    memset(long_name, 'x', sizeof(long_name));
    assert_true(p9_name_is_good(long_name, 255));
    assert_false(p9_name_is_good(long_name, 256));
    assert_false(p9_name_is_good("", 0));
}

/* ---- The tree -------------------------------------------------------------------------------- */

static void a_file_is_found_and_read(void **state)
{
    void *opened = NULL;
    char text[8];

    (void)state;
    begin(1);
    struct vnode *v = at("/d/d/file"), *again = at("/d/d/file");
    assert_non_null(v);
    assert_ptr_equal(v, again);
    assert_int_equal(v->ops->open(v, VNODE_READ, &opened), 0);
    assert_int_equal(v->ops->read(v, opened, 0, 0, text, 4), 4);
    assert_memory_equal(text, "abcd", 4);
    v->ops->close(v, opened);
    vnode_put(v);
    assert_true(p9_files(m) > 1);
    vnode_put(again);
    host_finish();
    assert_true(p9_files(m) > 1); /* its contents are kept */
    p9_let_go(m);
    host_finish();
    assert_int_equal(p9_files(m), 1);
    end();
}

static void what_is_renamed_has_its_new_path(void **state)
{
    char path[64];

    (void)state;
    begin(1);
    struct vnode *v = at("/d/file"), *d = at("/d"), *e = at("/de");
    assert_int_equal(d->ops->rename(d, "file", 4, e, "other", 5), 0);
    assert_int_equal(path_of(v, path, sizeof(path)), 9);
    assert_string_equal(path, "/de/other");
    assert_int_equal(e->ops->remove(e, "other", 5, false), 0);
    assert_int_equal(path_of(v, path, sizeof(path)), -ENOENT);
    vnode_put(v);
    vnode_put(d);
    vnode_put(e);
    end();
}

static bool count_entry(void *to, const char *name, size_t n, uint64_t id, uint32_t type,
                        uint64_t cursor)
{
    (void)name, (void)n, (void)id, (void)type, (void)cursor;
    return ++*(unsigned *)to < 100;
}

static void a_folder_is_listed_without_dots(void **state)
{
    unsigned entries = 0;

    (void)state;
    begin(1);
    assert_int_equal(m->root->ops->list(m->root, 0, count_entry, &entries), 0);
    assert_int_equal(entries, 3);
    end();
}

static void a_reply_that_breaks_the_rules_is_an_error_and_a_line(void **state)
{
    (void)state;
    begin(1);
    host_bytes = (const uint8_t *)"\7aaaaaaa";
    host_bytes_left = 8;
    struct vnode *v;
    assert_int_equal(m->root->ops->lookup(m->root, "f", 1, &v), -EIO);
    assert_int_equal(host_lines, 1);
    host_bytes = NULL;
    host_finish();
    destroy();
}

/* Does something to a random path. */
static void step(uint64_t *seed)
{
    static const char *const paths[] = {"/d", "/d/f", "/d/l", "/-", "/d/d/d/f", "/x", "/d/d", "/l"},
                             *const names[] = {"f", "d", "l", "-", "f2", "d2"};
    const char *name = names[test_random(seed) % ARRAY_SIZE(names)];
    struct vnode *v = at(paths[test_random(seed) % ARRAY_SIZE(paths)]), *other;
    struct vnode_stat st;
    unsigned entries = 0;
    char bytes[40];
    void *opened = NULL;

    if (!v)
        return;
    switch (test_random(seed) % 9) {
    case 0:
        if (!v->ops->open(v, VNODE_READ, &opened)) {
            v->ops->read(v, opened, 0, 0, bytes, sizeof(bytes));
            v->ops->close(v, opened);
        }
        break;
    case 1:
        if (vnode_is(v, S_IFREG) && !v->ops->open(v, VNODE_WRITE, &opened)) {
            v->ops->write(v, opened, 0, 0, bytes, sizeof(bytes));
            v->ops->sync(v, opened, true);
            v->ops->close(v, opened);
        }
        break;
    case 2:
        v->ops->list(v, 0, count_entry, &entries);
        break;
    case 3:
        v->ops->readlink(v, bytes, sizeof(bytes));
        break;
    case 4:
        v->ops->stat(v, &st);
        break;
    case 5:
        if (!v->ops->create(v, name, strlen(name), name[0] == 'd' ? S_IFDIR : S_IFREG, NULL,
                            &other))
            vnode_put(other);
        break;
    case 6:
        if (vnode_is(v, S_IFDIR))
            v->ops->remove(v, name, strlen(name), false);
        break;
    case 7:
        other = at("/d");
        if (other && vnode_is(v, S_IFDIR))
            v->ops->rename(v, name, strlen(name), other, "f3", 2);
        vnode_put(other);
        break;
    case 8:
        v->ops->set_size(v, 7);
        break;
    }
    vnode_put(v);
}

/* The host stops the test at a wrong fid. */
static void fids_are_neither_lost_nor_used_twice(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t seed = round + 1;
        begin(seed);
        host_refuses = (unsigned)(round % 4) * 60;
        host_kills = (unsigned)(round % 5) * 40;
        for (unsigned i = 0; i < STEPS; i++)
            step(&seed);
        host_kills = 0;
        p9_let_go(m);
        host_finish();
        /* the root may be listed by one fid more */
        assert_in_range(p9_files(m), 1, 2);
        assert_int_equal(host_fids, p9_files(m));
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_must_have_its_size_type_and_tag),
        cmocka_unit_test(an_error_must_be_one_of_linux),
        cmocka_unit_test(names_with_a_slash_or_a_zero_are_refused),
        cmocka_unit_test(a_file_is_found_and_read),
        cmocka_unit_test(what_is_renamed_has_its_new_path),
        cmocka_unit_test(a_folder_is_listed_without_dots),
        cmocka_unit_test(a_reply_that_breaks_the_rules_is_an_error_and_a_line),
        cmocka_unit_test(fids_are_neither_lost_nor_used_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
