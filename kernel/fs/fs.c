/* See fs.h. */
#include "kernel/fs/fs.h"
#include "kernel/core/printf.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/disk.h"
#include "kernel/fs/sys.h"
#include "kernel/fs/tree.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include <linux/magic.h>

#define BUNDLE_FOLDER "/bin"
#define DEV_FOLDER    "/dev/"

static struct mount *mounts; /* fixed after fs_start() */
static uint32_t last_device;
static struct tree *root, *dev, *apart; /* fixed after fs_start(); `apart`: no folder leads there */

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

static struct vnode *make_folder(const char *path, uint32_t mode)
{
    struct vnode *on = tree_make_folder(root, path, mode);

    if (!on)
        panic("%s: no memory for this folder, or something else is there", path);
    return on;
}

static struct tree *mount_tree(const char *path, const char *type, uint32_t magic, bool read_only)
{
    struct tree *t = tree_create(type, magic, read_only);

    if (!t)
        panic("%s: no memory for the file system there", path);
    add_mount(tree_mount(t), make_folder(path, 0755));
    return t;
}

/* Lets programs write to a tree, up to a quarter of memory. */
static void limit_tree(struct tree *t)
{
    struct frame_stats frames;

    frame_stats(&frames);
    tree_set_limit(t, frames.total_pages * PAGE_SIZE / 4);
}

static struct tree *make_writable(void)
{
    struct tree *t = tree_create("tmpfs", TMPFS_MAGIC, false);

    if (!t)
        panic("no memory for a folder that can be written");
    limit_tree(t);
    tree_mount(t)->root->mode = S_IFDIR | 01777;
    return t;
}

static void add_initrd(const void *archive, uint64_t bytes)
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
    const char *why = NULL;
    uint64_t at;

    root = tree_create("rootfs", TMPFS_MAGIC, false);
    if (!root)
        panic("no memory for the tree of files");
    limit_tree(root);
    int err = tree_add_archive(root, bundle, bundle_bytes, BUNDLE_FOLDER, &at, &why);
    if (err)
        panic("bundle: broken at byte %llu: %s", (unsigned long long)at,
              err == -ENOMEM ? "out of memory" : why);
    if (initrd_bytes)
        add_initrd(initrd, initrd_bytes);
    add_mount(tree_mount(root), NULL);
    dev = mount_tree("/dev", "devtmpfs", TMPFS_MAGIC, true);
    dev_fill(dev);
    disk_fill(dev);
    fs_mount("/sys", &sys_fs);
    make_folder("/tmp", 01777);
    add_mount(tree_mount(make_writable()), tree_make_folder(dev, "shm", 01777));
    apart = make_writable();
    tree_mount(apart)->device = ++last_device;
}

struct vnode *fs_make_memory(const char *name)
{
    return tree_make_apart(apart, name, 0777);
}

void fs_mount(const char *path, struct pseudo *fs)
{
    if (pseudo_start(fs))
        panic("%s: no memory for the file system there", path);
    add_mount(&fs->mount, make_folder(path, 0755));
}

int fs_mount_on(const char *path, struct mount *m)
{
    const size_t n = sizeof(DEV_FOLDER) - 1;
    bool in_dev = text_length(path) > n && !memcmp(path, DEV_FOLDER, n);
    struct vnode *on =
        in_dev ? tree_make_folder(dev, path + n, 0755) : tree_make_folder(root, path, 0755);

    if (!on || on->covered)
        return -ENOTDIR;
    add_mount(m, on);
    return 0;
}

struct vnode *fs_add_device(const char *name, uint32_t mode, uint32_t major, uint32_t minor,
                            const struct vnode_ops *ops)
{
    return tree_make_device(dev, name, S_IFCHR | mode, major, minor, ops)
               ?: (panic("no memory for the device %s", name), NULL);
}

void fs_add_link(const char *path, const char *target)
{
    tree_make_link(root, path, target);
}

struct vnode *fs_root(void)
{
    return mounts->root;
}

int fs_open(const char *path, struct vnode **out)
{
    struct path_start start = {.root = fs_root(), .here = fs_root()};

    return path_walk(&start, path, 0, out);
}

const struct mount *fs_mounts(void)
{
    return mounts;
}
