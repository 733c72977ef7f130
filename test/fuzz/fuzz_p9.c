/* Any bytes as the replies of a host that shares a folder: whatever they are, operations end, and
 * with an error if the bytes are no reply. */
#include <stdlib.h>
#include <string.h>
#include "kernel/fs/p9_message.h"
#include "kernel/fs/path.h"
#include "test/host/double/fs_kernel.h"
#include "test/host/double/share_host.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static bool check_entry(void *to, const char *name, size_t n, uint64_t id, uint32_t type,
                        uint64_t cursor)
{
    (void)id, (void)type, (void)cursor;
    if (!p9_name_is_good(name, n))
        abort();
    return ++*(unsigned *)to < 50;
}

static void use(struct vnode *v)
{
    struct vnode_stat st;
    struct vnode *made;
    unsigned entries = 0;
    char bytes[64];
    void *opened = NULL;

    v->ops->stat(v, &st);
    if (v->ops->readlink(v, bytes, sizeof(bytes)) > (int64_t)sizeof(bytes))
        abort();
    v->ops->list(v, 0, check_entry, &entries);
    if (vnode_is(v, S_IFREG) && !v->ops->open(v, VNODE_READ | VNODE_WRITE, &opened)) {
        if (v->ops->read(v, opened, 0, 0, bytes, sizeof(bytes)) > (int64_t)sizeof(bytes) ||
            v->ops->write(v, opened, 0, 0, bytes, sizeof(bytes)) > (int64_t)sizeof(bytes))
            abort();
        v->ops->sync(v, opened, false);
        v->ops->close(v, opened);
    }
    if (vnode_is(v, S_IFDIR)) {
        if (!v->ops->create(v, "made", 4, S_IFDIR | 0755, NULL, &made))
            vnode_put(made);
        v->ops->rename(v, "made", 4, v, "moved", 5);
        v->ops->remove(v, "moved", 5, true);
    }
    path_of(v, bytes, sizeof(bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"/a", "/a/b/c", "/", "/a/b"};
    struct vnode *kept[ARRAY_SIZE(paths)] = {NULL};
    struct mount_usage usage;
    struct mount *m;

    host_restart(1);
    if (p9_mount("share", false, &m))
        abort();
    host_bytes = data;
    host_bytes_left = size;
    struct path_start start = {.root = m->root, .here = m->root};
    for (unsigned i = 0; i < ARRAY_SIZE(paths); i++)
        if (!path_walk(&start, paths[i], i & 1, &kept[i]))
            use(kept[i]);
        else
            kept[i] = NULL;
    m->usage(m, &usage);
    for (unsigned i = 0; i < ARRAY_SIZE(paths); i++)
        vnode_put(kept[i]);
    host_bytes_left = 0;
    host_finish();
    p9_destroy_for_test(m);
    host_free_frames();
    if (fs_allocated)
        abort();
    return 0;
}
