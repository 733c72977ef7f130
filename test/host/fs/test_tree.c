/* Trees made of archives: of those that tar makes, in each of its formats, and of two that overlay
 * each other. */
#define _XOPEN_SOURCE 700
#include "test/host/double/expect_panic.h"
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <unistd.h>
#include "test/host/double/archive.h"
#include "test/host/double/fs_kernel.h"
#include "kernel/fs/path.h"
#include "kernel/fs/tree.h"
#include "mm/object.h"

static struct archive first, second;
static struct tree *tree;
static const char *why;
static uint64_t at;

static int begin(void **state)
{
    (void)state;
    first.size = second.size = 0;
    tree = tree_create("test", 0, true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tree_destroy_for_test(tree);
    assert_int_equal(fs_allocated, 0);
    return 0;
}

static int add(const struct archive *a, const char *under)
{
    return tree_add_archive(tree, a->bytes, a->size, under, &at, &why);
}

/* Returns what is at the path, not referenced, or NULL. */
static struct vnode *find(const char *path, unsigned flags)
{
    struct vnode *root = tree_mount(tree)->root, *v;

    if (path_walk(&(struct path_start){.root = root, .here = root}, path, flags, &v))
        return NULL;
    vnode_put(v);
    return v;
}

static void assert_contents(const char *path, const char *text)
{
    struct vnode *v = find(path, 0);

    assert_non_null(v);
    assert_int_equal(v->size, strlen(text));
    assert_memory_equal(v->data, text, v->size);
}

/* ---- Archives that tar makes ----------------------------------------------------------------- */

static char folder[] = "/tmp/vigil-test-tree-XXXXXX", command[4 * PATH_MAX];
static unsigned compared;

static int compare_with_host(const char *path, const struct stat *s, UNUSED int type,
                             UNUSED struct FTW *f)
{
    struct vnode_stat here;
    char target[PATH_MAX];
    const char *name = path + strlen(folder);
    struct vnode *v = find(*name ? name : "/", PATH_NOFOLLOW);

    if (!v)
        fail_msg("%s is not there", name);

    v->ops->stat(v, &here);
    assert_int_equal(here.mode, s->st_mode);
    assert_int_equal(here.links, s->st_nlink);
    assert_int_equal(here.modified.s, s->st_mtime);
    if (S_ISREG(s->st_mode)) {
        FILE *file = fopen(path, "r");
        static char contents[1 << 17];
        size_t n = fread(contents, 1, sizeof(contents), file);
        fclose(file);
        assert_int_equal(v->size, n);
        assert_memory_equal(v->data, contents, n);
    } else if (S_ISLNK(s->st_mode)) {
        ssize_t n = readlink(path, target, sizeof(target));
        assert_int_equal(v->size, n);
        assert_memory_equal(v->data, target, n);
    }
    compared++;
    return 0;
}

static void run(const char *text)
{
    snprintf(command, sizeof(command), "set -e; cd %s; %s", folder, text);
    if (system(command))
        fail_msg("failed: %s", command);
}

static void formats_of_tar_are_read(void **state)
{
    static const char *const formats[] = {"ustar", "pax", "gnu", "oldgnu"};
    static const char *const files =
        "mkdir -p a/b/c empty; echo one >a/one; ln a/one a/b/two; ln -s ../one a/b/link; "
        "mkfifo -m 600 pipe; head -c 100000 /dev/zero >a/zeros; : >nothing; chmod 4755 a/one; "
        "touch -d '2001-02-03 04:05:06 UTC' a/one a/b; "
        "l=a/$(printf 'x%.0s' $(seq 60))/$(printf 'y%.0s' $(seq 60)); mkdir -p $l; echo >$l/file";
    static const char *const long_files =
        "l=$(printf 'z%.0s' $(seq 200)); echo long >a/$l; ln a/$l $l; ln -s $l to-$l; "
        "touch -d '1960-01-01 UTC' a/b/c";
    (void)state;
    assert_non_null(mkdtemp(folder));
    run(files);
    for (unsigned i = 0; i < ARRAY_SIZE(formats); i++) {
        char text[256];
        begin(NULL);
        if (i == 1)
            run(long_files);
        snprintf(text, sizeof(text), "tar --format=%s --sort=name -cf ../$(basename $PWD).tar .",
                 formats[i]);
        run(text);
        snprintf(text, sizeof(text), "%s.tar", folder);
        FILE *file = fopen(text, "r");
        first.size = fread(first.bytes, 1, sizeof(first.bytes), file);
        fclose(file);
        unlink(text);
        assert_true(first.size < sizeof(first.bytes));
        if (add(&first, "/"))
            fail_msg("%s: %s at %llu", formats[i], why, (unsigned long long)at);
        compared = 0;
        nftw(folder, compare_with_host, 8, FTW_PHYS);
        assert_true(compared >= 13);
        end(NULL);
    }
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- Overlays -------------------------------------------------------------------------------- */

static void later_archives_overlay_earlier_ones(void **state)
{
    (void)state;
    archive_file(&first, "hello", "first");
    archive_file(&first, "other", "stays");
    archive_file(&second, "bin/hello", "second");
    archive_file(&second, "etc/deep/file", "x");
    assert_int_equal(add(&first, "/bin"), 0);
    assert_int_equal(add(&second, "/"), 0);
    assert_contents("/bin/hello", "second");
    assert_contents("/bin/other", "stays");
    assert_int_equal(find("/etc/deep", 0)->mode, S_IFDIR | 0755);
}

static void a_link_takes_the_place_of_a_folder(void **state)
{
    (void)state;
    archive_file(&first, "hello", "bundled");
    archive_file(&first, "lua", "bundled");
    archive_add(&second, '2', "bin", "usr/bin", "", 0);
    archive_file(&second, "usr/bin/lua", "Debian's");
    archive_file(&second, "bin/sh", "sh");
    archive_add(&second, '5', "bin/", "", "", 0);
    assert_int_equal(add(&first, "/bin"), 0);
    assert_int_equal(add(&second, "/"), 0);
    assert_true(vnode_is(find("/bin", PATH_NOFOLLOW), S_IFLNK));
    assert_contents("/bin/hello", "bundled");
    assert_contents("/bin/lua", "Debian's");
    assert_contents("/usr/bin/sh", "sh");
}

static void files_and_links_replace_each_other(void **state)
{
    (void)state;
    archive_file(&first, "f", "one");
    archive_add(&first, '1', "g", "f", "", 0);
    archive_file(&first, "f", "two");
    archive_add(&first, '2', "l", "f", "", 0);
    archive_file(&first, "l", "three");
    archive_add(&first, '5', "d", "", "", 0);
    archive_add(&first, '2', "d", "g", "", 0);
    archive_add(&first, '1', "f", "f", "", 0);
    assert_int_equal(add(&first, "/"), 0);
    assert_contents("/g", "one");
    assert_contents("/f", "two");
    assert_contents("/l", "three");
    assert_contents("/d", "one");
    struct vnode_stat s;
    find("/g", 0)->ops->stat(find("/g", 0), &s);
    assert_int_equal(s.links, 1);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const struct {
        char type;
        const char *name, *target, *why;
    } bad[] = {
        {'0', "../up", "", "a path with '..'"},
        {'0', "a/../b", "", "a path with '..'"},
        {'0', "a/..", "", "a path with '..'"},
        {'0', "file/in", "", "a path through a file"},
        {'0', "folder", "", "a file where a folder is"},
        {'0', ".", "", "an entry without a name"},
        {'1', "new", "missing", "a hard link to a file that is not there"},
        {'1', "new", "folder", "a hard link to a file that is not there"},
        {'2', "folder", "folder/in", "a link that leads into the folder that it replaces"},
        {'0', "loop/in", "", "a path through a file, or through links that lead nowhere"},
    };
    (void)state;
    archive_file(&first, "file", "x");
    archive_file(&first, "folder/in/f", "x");
    archive_add(&first, '2', "loop", "loop", "", 0);
    assert_int_equal(add(&first, "/"), 0);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        static struct archive archives[ARRAY_SIZE(bad)]; /* they stay in memory */
        struct archive *a = &archives[i];
        archive_add(a, '5', "fine", "", "", 0);
        archive_add(a, bad[i].type, bad[i].name, bad[i].target, "", 0);
        assert_int_equal(add(a, "/"), -EINVAL);
        assert_string_equal(why, bad[i].why);
        assert_int_equal(at, 512);
    }
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    archive_file(&first, "a/b/c/d", "x");
    archive_add(&first, '2', "l", "a/b", "", 0);
    archive_file(&first, "l/f", "x");
    archive_add(&first, '1', "g", "l/f", "", 0);
    for (unsigned i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "l/%u", i);
        archive_file(&first, name, "");
    }
    unsigned refused = 0;
    for (int err = -ENOMEM; err; refused++) {
        fs_allocations_left = refused;
        err = add(&first, "/");
        fs_allocations_left = UINT64_MAX;
        assert_true(!err || err == -ENOMEM);
        tree_destroy_for_test(tree);
        assert_int_equal(fs_allocated, 0);
        tree = tree_create("test", 0, true);
    }
    assert_true(refused > 100);
}

struct listed {
    unsigned room, taken;
    uint64_t cursor;
    char names[64];
};

static bool take(void *to, const char *name, size_t n, UNUSED uint64_t id, uint32_t type,
                 uint64_t cursor)
{
    struct listed *l = to;

    if (l->taken == l->room)
        return false;
    l->taken++;
    l->cursor = cursor;
    strncat(l->names, name, n);
    strcat(l->names, type == S_IFDIR ? "/" : " ");
    return true;
}

static void folders_are_listed_in_pieces(void **state)
{
    (void)state;
    archive_file(&first, "one", "");
    archive_file(&first, "two/x", "");
    archive_file(&first, "three", "");
    assert_int_equal(add(&first, "/"), 0);
    struct vnode *root = tree_mount(tree)->root;
    struct listed l = {.room = 2};
    assert_int_equal(root->ops->list(root, 0, take, &l), 0);
    assert_string_equal(l.names, "one two/");
    l.taken = 0;
    assert_int_equal(root->ops->list(root, l.cursor, take, &l), 0);
    assert_string_equal(l.names, "one two/three ");
    assert_int_equal(l.taken, 1);
    assert_int_equal(find("/one", 0)->ops->list(find("/one", 0), 0, take, &l), -ENOTDIR);
}

/* ---- Files of archives that are written ------------------------------------------------------ */

static int begin_writable(void **state)
{
    begin(state);
    tree_destroy_for_test(tree);
    tree = tree_create("test", 0, false);
    tree_set_limit(tree, 16 * PAGE_SIZE);
    archive_file(&first, "f", "old");
    archive_add(&first, '1', "g", "f", "", 0);
    archive_file(&first, "large", "");
    assert_int_equal(add(&first, "/"), 0);
    return 0;
}

static void assert_read(const char *path, const char *text)
{
    struct vnode *v = find(path, 0);
    char got[64];

    assert_non_null(v);
    assert_int_equal(v->ops->read(v, NULL, 0, 0, got, sizeof(got)), strlen(text));
    assert_memory_equal(got, text, strlen(text));
}

static struct vnode *own(const char *path, bool copied)
{
    struct vnode *v = find(path, 0), *out = NULL;

    assert_int_equal(v->ops->own(v, copied, &out), 0);
    return out;
}

static void a_file_that_is_written_is_a_copy(void **state)
{
    (void)state;
    struct vnode *old = vnode_get(find("/f", 0)), *new = own("/f", true);
    struct vnode_stat s;
    assert_ptr_equal(find("/f", 0), new);
    assert_int_equal(new->mode, old->mode);
    assert_int_equal(new->ops->write(new, NULL, 0, 1, "NEWS", 4), 4);
    assert_read("/f", "oNEWS");
    assert_int_equal(old->size, 3);
    assert_memory_equal(old->data, "old", 3); /* for who has it open */
    assert_read("/g", "old");                 /* another name of it */
    find("/g", 0)->ops->stat(find("/g", 0), &s);
    assert_int_equal(s.links, 1);
    assert_int_equal(old->ops->write(old, NULL, 0, 0, "x", 1), -EROFS);
    assert_int_equal(old->ops->set_size(old, 0), -EROFS);
    struct vnode *again = NULL;
    assert_int_equal(old->ops->own(old, true, &again), -ESTALE);
    vnode_put(old);
    vnode_put(new);
    new = own("/g", false);
    assert_read("/g", "");
    vnode_put(new);
}

static void a_file_of_an_archive_is_an_object_with_all_its_names(void **state)
{
    (void)state;
    struct vnode *old = vnode_get(find("/f", 0));
    struct object *o, *other;
    char got[4] = "";
    assert_int_equal(old->ops->object(old, &o), 0);
    assert_int_equal(object_bytes(o), 3);
    assert_int_equal(object_read(o, 0, got, 4), 3);
    assert_string_equal(got, "old");
    assert_int_equal(find("/g", 0)->ops->object(find("/g", 0), &other), 0);
    assert_ptr_equal(o, other);
    vnode_put(own("/f", true));
    assert_int_equal(find("/f", 0)->ops->object(find("/f", 0), &other), 0);
    assert_ptr_not_equal(o, other);
    assert_int_equal(object_write(other, 0, "NEW", 3), 3);
    assert_int_equal(object_read(o, 0, got, 3), 3);
    assert_string_equal(got, "old");
    vnode_put(old);
}

static void an_object_without_memory_is_none(void **state)
{
    (void)state;
    struct vnode *v = find("/f", 0);
    struct object *o;
    for (unsigned refused = 0; refused < 2; refused++) {
        fs_allocations_left = refused;
        assert_int_equal(v->ops->object(v, &o), -ENOSPC);
    }
    fs_allocations_left = UINT64_MAX;
    assert_int_equal(v->ops->object(v, &o), 0);
    assert_int_equal(object_bytes(o), 3);
}

static void files_of_archives_are_removed_and_renamed(void **state)
{
    (void)state;
    struct vnode *root = tree_mount(tree)->root;
    struct vnode_stat s;
    assert_int_equal(root->ops->remove(root, "g", 1, false), 0);
    find("/f", 0)->ops->stat(find("/f", 0), &s);
    assert_int_equal(s.links, 1);
    assert_int_equal(root->ops->rename(root, "f", 1, root, "moved", 5), 0);
    vnode_put(own("/moved", true));
    assert_read("/moved", "old");
    assert_null(find("/f", 0));
    assert_int_equal(root->ops->rename(root, "moved", 5, root, "large", 5), 0);
    assert_read("/large", "old");
}

static void a_copy_without_room_changes_nothing(void **state)
{
    (void)state;
    struct vnode *v = find("/f", 0), *out = NULL;
    tree_set_limit(tree, 0);
    assert_int_equal(v->ops->own(v, true, &out), -ENOSPC);
    tree_set_limit(tree, PAGE_SIZE);
    for (unsigned refused = 0; refused < 3; refused++) {
        fs_allocations_left = refused;
        assert_int_equal(v->ops->own(v, true, &out), -ENOSPC);
        fs_allocations_left = UINT64_MAX;
        assert_ptr_equal(find("/f", 0), v);
    }
    vnode_put(own("/f", true));
    assert_read("/f", "old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_of_tar_are_read),
        cmocka_unit_test_setup_teardown(later_archives_overlay_earlier_ones, begin, end),
        cmocka_unit_test_setup_teardown(a_link_takes_the_place_of_a_folder, begin, end),
        cmocka_unit_test_setup_teardown(files_and_links_replace_each_other, begin, end),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(without_memory_it_says_so, begin, end),
        cmocka_unit_test_setup_teardown(folders_are_listed_in_pieces, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_is_written_is_a_copy, begin_writable, end),
        cmocka_unit_test_setup_teardown(a_file_of_an_archive_is_an_object_with_all_its_names,
                                        begin_writable, end),
        cmocka_unit_test_setup_teardown(an_object_without_memory_is_none, begin_writable, end),
        cmocka_unit_test_setup_teardown(files_of_archives_are_removed_and_renamed, begin_writable,
                                        end),
        cmocka_unit_test_setup_teardown(a_copy_without_room_changes_nothing, begin_writable, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
