/* See fs.h. */
#include "kernel/fs/fs.h"
#include "kernel/core/printf.h"
#include "kernel/fs/tree.h"
#include <linux/magic.h>

#define BUNDLE_FOLDER "/bin"

static struct mount *mounts; /* fixed after fs_start() */
static uint32_t last_device;

static void add_mount(struct mount *m, struct vnode *on)
{
    struct mount **at = &mounts;

    while (*at)
        at = &(*at)->next;
    m->device = ++last_device;
    m->on = on;
    if (on)
        on->covered = m;
    *at = m;
}

static void add_initrd(struct tree *root, const void *archive, uint64_t bytes)
{
    const char *why = NULL;
    uint64_t at;
    int err = tree_add_archive(root, archive, bytes, "/", &at, &why);

    if (err)
        kprintf("files: event=refused archive=initrd reason=%s at=%llu: %s; what is before it is "
                "there\n",
                err == -ENOMEM ? "memory" : "broken", (unsigned long long)at,
                err == -ENOMEM ? "out of memory" : why);
}

void fs_start(const void *bundle, uint64_t bundle_bytes, const void *initrd, uint64_t initrd_bytes)
{
    struct tree *root = tree_create("rootfs", TMPFS_MAGIC, true);
    const char *why = NULL;
    uint64_t at;

    if (!root)
        panic("no memory for the tree of files");
    int err = tree_add_archive(root, bundle, bundle_bytes, BUNDLE_FOLDER, &at, &why);
    if (err)
        panic("bundle: broken at byte %llu: %s", (unsigned long long)at,
              err == -ENOMEM ? "out of memory" : why);
    if (initrd_bytes)
        add_initrd(root, initrd, initrd_bytes);
    add_mount(tree_mount(root), NULL);
}

struct vnode *fs_root(void)
{
    return mounts->root;
}

int fs_open(const char *path, struct vnode **out)
{
    struct path_start start = {fs_root(), fs_root()};

    return path_walk(&start, path, 0, out);
}

const struct mount *fs_mounts(void)
{
    return mounts;
}
