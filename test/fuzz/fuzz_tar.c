/* Any bytes as an archive: the tree made of it is sound, and its files lie inside. The first byte
 * says whether checksums are made right, so that more than headers is tried. */
#include <stdlib.h>
#include <string.h>
#include "kernel/fs/path.h"
#include "kernel/fs/tree.h"
#include "test/host/double/archive.h"
#include "test/host/double/fs_kernel.h"

static uint8_t *copy;
static size_t copied;

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static bool check_entry(void *to, const char *name, size_t n, uint64_t id, uint32_t type,
                        uint64_t cursor)
{
    (void)type;
    if (!n || n > VNODE_NAME_MAX || memchr(name, '/', n) || !id || !cursor)
        abort();
    ++*(unsigned *)to;
    return true;
}

static void check_file(struct vnode *v)
{
    const uint8_t *data = v->data;

    if (data && (data < copy || data > copy + copied || v->size > (size_t)(copy + copied - data)))
        abort();
}

/* Looks at what each name in the archive's headers leads to. */
static void look_around(struct tree *t)
{
    struct vnode *root = tree_mount(t)->root, *v;
    char path[102], text[VNODE_PATH_MAX];
    unsigned entries = 0;

    root->ops->list(root, 0, check_entry, &entries);
    for (size_t at = 0; at + 512 <= copied; at += 512) {
        memcpy(path, copy + at, 100);
        path[100] = '\0';
        if (path_walk(&(struct path_start){.root = root, .here = root}, path, at / 512 & 1, &v))
            continue;
        check_file(v);
        if (path_of(v, text, sizeof(text)) <= 0)
            abort();
        if (vnode_is(v, S_IFDIR))
            v->ops->list(v, 0, check_entry, &entries);
        vnode_put(v);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why;
    uint64_t at;

    if (size < 512)
        return 0;
    copied = size - 1;
    copy = malloc(copied);
    memcpy(copy, data + 1, copied);
    for (size_t i = 0; (data[0] & 1) && i + 512 <= copied; i += 512) {
        memcpy(copy + i + 257, "ustar", 5);
        archive_sum(copy + i);
    }
    struct tree *t = tree_create("fuzz", 0, true);
    tree_add_archive(t, copy, copied, "/", &at, &why);
    look_around(t);
    tree_destroy_for_test(t);
    if (fs_allocated)
        abort();
    free(copy);
    return 0;
}
