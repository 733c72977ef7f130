/*
 * Walks along random paths through random trees, compared with a reference that knows whole paths
 * only: it rewrites the text of a path until no link is left in it.
 */
#include "test/host/double/expect_panic.h"
#include "test/host/double/archive.h"
#include "test/host/double/fs_kernel.h"
#include "kernel/fs/path.h"
#include "kernel/fs/tree.h"

#define FILES_MAX 64
#define TREES     300
#define WALKS     400

static struct archive archive;
static struct file {
    char path[256]; /* absolute; the root's is empty */
    char type;      /* of tar */
    char target[256];
} files[FILES_MAX];
static unsigned file_count;
static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
    return test_random(&seed) % n;
}

/* ---- The reference --------------------------------------------------------------------------- */

static const struct file *file_at(const char *path)
{
    for (unsigned i = 0; i < file_count; i++)
        if (!strcmp(files[i].path, path))
            return &files[i];
    return NULL;
}

/* Resolves `rest` in the folder `at`, whose path has no links. */
static int resolve(char at[256], const char *rest, bool nofollow, unsigned *links)
{
    char name[300], path[600], target[256];

    for (;;) {
        bool slash = *rest == '/';
        rest += strspn(rest, "/");
        const struct file *here = file_at(at);
        if (!*rest)
            return slash && here->type != '5' ? -ENOTDIR : 0;
        size_t n = strcspn(rest, "/");
        if (n > 255)
            return -ENAMETOOLONG;
        snprintf(name, sizeof(name), "%.*s", (int)n, rest);
        rest += n;
        if (here->type != '5')
            return -ENOTDIR;
        if (!strcmp(name, "."))
            continue;
        if (!strcmp(name, "..")) {
            if (*at)
                *strrchr(at, '/') = '\0';
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", at, name);
        const struct file *next = file_at(path);
        if (!next)
            return -ENOENT;
        if (next->type != '2' || (!*rest && nofollow)) {
            strcpy(at, next->path);
            continue;
        }
        if (++*links > 40)
            return -ELOOP;
        strcpy(target, next->target);
        if (target[0] == '/')
            *at = '\0';
        /* The target's last name is followed even where the path's is not. */
        int err = resolve(at, target, false, links);
        if (err)
            return err;
    }
}

/* ---- Random trees and paths ------------------------------------------------------------------ */

static const char *random_name(void)
{
    static const char *const names[] = {"a", "b", "c", "d", "ee"};

    return names[random_below(ARRAY_SIZE(names))];
}

static void random_path(char *to, size_t room)
{
    unsigned names = (unsigned)random_below(6);

    snprintf(to, room, "%s", random_below(2) ? "/" : "");
    for (unsigned i = 0; i < names; i++) {
        uint64_t kind = random_below(10);
        size_t n = strlen(to);
        snprintf(to + n, room - n, "%s%s",
                 kind == 0   ? ".."
                 : kind == 1 ? "."
                             : random_name(),
                 i + 1 < names || random_below(8) == 0 ? "/" : "");
        if (kind == 2)
            strncat(to, "/", room - strlen(to) - 1);
    }
}

static struct tree *random_tree(void)
{
    struct tree *t = tree_create("test", 0, true);
    const char *why;
    uint64_t at;

    archive.size = 0;
    file_count = 1;
    files[0] = (struct file){.type = '5'};
    for (unsigned i = 0; i < 40; i++) {
        const struct file *folder = &files[random_below(file_count)];
        struct file *f = &files[file_count];
        if (folder->type != '5' || strlen(folder->path) > 90)
            continue;
        char path[256];
        snprintf(path, sizeof(path), "%.200s/%s", folder->path, random_name());
        strcpy(f->path, path);
        if (file_at(f->path))
            continue;
        f->type = "5520"[random_below(4)];
        f->target[0] = '\0';
        if (f->type == '2')
            random_path(f->target, 90);
        if (f->type == '2' && !f->target[0])
            strcpy(f->target, ".");
        archive_add(&archive, f->type, f->path, f->target, f->path,
                    f->type == '0' ? strlen(f->path) : 0);
        file_count++;
    }
    assert_int_equal(tree_add_archive(t, archive.bytes, archive.size, "/", &at, &why), 0);
    return t;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void compare_walk(struct tree *t, const char *here_path)
{
    struct vnode *root = tree_mount(t)->root, *here, *v = NULL;
    char path[512], at[256], name[VNODE_PATH_MAX];
    bool nofollow = random_below(2);
    unsigned links = 0;

    random_path(path, sizeof(path));
    assert_int_equal(path_walk(&(struct path_start){.root = root, .here = root},
                               *here_path ? here_path : "/", 0, &here),
                     0);
    strcpy(at, path[0] == '/' ? "" : here_path);
    int wanted = path[0] ? resolve(at, path, nofollow, &links) : -ENOENT;
    uint64_t allocated = fs_allocated;
    int err = path_walk(&(struct path_start){.root = root, .here = here}, path,
                        nofollow ? PATH_NOFOLLOW : 0, &v);
    assert_int_equal(fs_allocated, allocated);
    assert_int_equal(err, wanted);
    if (!err) {
        int64_t n = path_of(v, name, sizeof(name));
        assert_int_equal(n, strlen(name));
        assert_string_equal(name, *at ? at : "/");
        vnode_put(v);
    }
    vnode_put(here);
}

static void random_walks_end_where_the_reference_says(void **state)
{
    (void)state;
    for (seed = 1; seed <= TREES; seed++) {
        uint64_t first = seed;
        struct tree *t = random_tree();
        for (unsigned i = 0; i < WALKS; i++) {
            const struct file *here = &files[random_below(file_count)];
            if (here->type == '5')
                compare_walk(t, here->path);
        }
        tree_destroy_for_test(t);
        assert_int_equal(fs_allocated, 0);
        seed = first;
    }
}

static struct tree *links_tree(unsigned count)
{
    char name[16], target[16];
    struct tree *t = tree_create("test", 0, true);
    const char *why;
    uint64_t at;

    archive.size = 0;
    archive_file(&archive, "l0", "end");
    for (unsigned i = 1; i <= count; i++) {
        snprintf(name, sizeof(name), "l%u", i);
        snprintf(target, sizeof(target), "l%u", i - 1);
        archive_add(&archive, '2', name, target, "", 0);
    }
    archive_add(&archive, '2', "loop", "loop", "", 0);
    assert_int_equal(tree_add_archive(t, archive.bytes, archive.size, "/", &at, &why), 0);
    return t;
}

static int walk(struct tree *t, const char *path)
{
    struct vnode *root = tree_mount(t)->root, *v = NULL;
    int err = path_walk(&(struct path_start){.root = root, .here = root}, path, 0, &v);

    if (!err)
        vnode_put(v);
    return err;
}

static void limits_are_linuxs(void **state)
{
    (void)state;
    struct tree *t = links_tree(41);
    char path[8192];

    assert_int_equal(walk(t, "l40"), 0);
    assert_int_equal(walk(t, "l41"), -ELOOP);
    assert_int_equal(walk(t, "loop"), -ELOOP);
    memset(path, 'n', 255);
    path[255] = '\0';
    assert_int_equal(walk(t, path), -ENOENT);
    strcat(path, "n");
    assert_int_equal(walk(t, path), -ENAMETOOLONG);
    memset(path, '/', 4095);
    path[4095] = '\0';
    assert_int_equal(walk(t, path), 0);
    strcat(path, "/");
    assert_int_equal(walk(t, path), -ENAMETOOLONG);
    tree_destroy_for_test(t);
}

static void the_last_name_is_split_off(void **state)
{
    static const struct {
        const char *path, *name;
        int err;
        bool slash;
    } cases[] = {
        {"new", "new", 0, false},      {"/new/", "new", 0, true}, {"/", "", 0, true},
        {"//", "", 0, true},           {"", "", -ENOENT, false},  {"l0/new", "", -ENOTDIR, false},
        {"./../new", "new", 0, false}, {"..", "..", 0, false},    {"no/new", "", -ENOENT, false},
    };
    (void)state;
    struct tree *t = links_tree(1);
    struct vnode *root = tree_mount(t)->root;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        struct path_last last;
        int err = path_last(&(struct path_start){.root = root, .here = root}, cases[i].path, &last);
        assert_int_equal(err, cases[i].err);
        if (err)
            continue;
        assert_int_equal(last.n, strlen(cases[i].name));
        assert_memory_equal(last.name, cases[i].name, last.n);
        assert_int_equal(last.slash, cases[i].slash);
        assert_ptr_equal(last.folder, root);
        vnode_put(last.folder);
    }
    tree_destroy_for_test(t);
}

static void mounts_are_crossed_both_ways(void **state)
{
    (void)state;
    struct tree *lower = links_tree(0), *upper = links_tree(0);
    struct vnode *root = tree_mount(lower)->root, *v, *w;
    struct path_start start = {.root = root, .here = root};
    char text[64];

    struct vnode *on = tree_make_folder(lower, "/sub/mnt", 0755);
    on->covered = tree_mount(upper);
    tree_mount(upper)->on = on;
    assert_int_equal(path_walk(&start, "/sub/mnt/l0", 0, &v), 0);
    assert_ptr_equal(v->mount, tree_mount(upper));
    assert_int_equal(path_of(v, text, sizeof(text)), 11);
    assert_string_equal(text, "/sub/mnt/l0");
    assert_int_equal(path_of(v, text, 12), 11);
    assert_int_equal(path_of(v, text, 11), -ERANGE);
    vnode_put(v);
    assert_int_equal(path_walk(&start, "/sub/mnt", 0, &v), 0);
    assert_ptr_equal(v, tree_mount(upper)->root);
    assert_int_equal(path_walk(&(struct path_start){.root = root, .here = v}, "../../l0", 0, &w),
                     0);
    assert_ptr_equal(w->mount, tree_mount(lower));
    vnode_put(w);
    vnode_put(v);
    tree_destroy_for_test(upper);
    tree_destroy_for_test(lower);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_walks_end_where_the_reference_says),
        cmocka_unit_test(limits_are_linuxs),
        cmocka_unit_test(the_last_name_is_split_off),
        cmocka_unit_test(mounts_are_crossed_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
