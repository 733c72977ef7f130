/* See fs.h. */
#include "kernel/fs/fs.h"
#include "kernel/core/printf.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/sys.h"
#include "kernel/fs/tree.h"
#include "kernel/mem/mem.h"
#include "kernel/mem/mem.h"
#include <linux/magic.h>

#define BUNDLE_FOLDER "/bin"

static struct mount *mounts; /* fixed after fs_start() */
static uint32_t last_device;
static struct tree *root, *dev; /* fixed after fs_start() */

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

static struct vnode *mount_point(const char *path)
{
    struct vnode *on = tree_make_folder(root, path, 0755);

    if (!on)
        panic("%s: no memory, or no folder, for the file system there", path);
    return on;
}

static struct tree *mount_tree(const char *path, const char *type, uint32_t magic, bool read_only)
{
    struct tree *t = tree_create(type, magic, read_only);

    if (!t)
        panic("%s: no memory for the file system there", path);
    add_mount(tree_mount(t), mount_point(path));
    return t;
}

/* Mounts a folder that programs can write to, up to a quarter of memory. Returns its root. */
static struct vnode *mount_writable(struct vnode *on)
{
    struct tree *t = tree_create("tmpfs", TMPFS_MAGIC, false);
    struct frame_stats frames;

    if (!t)
        panic("no memory for a folder that can be written");
    frame_stats(&frames);
    tree_set_limit(t, frames.total_pages * PAGE_SIZE / 4);
    tree_mount(t)->root->mode = S_IFDIR | 01777;
    add_mount(tree_mount(t), on);
    return tree_mount(t)->root;
}

/* ---- Archives' files below a folder that can be written -------------------------------------- */

/* An entry of a folder. */
struct entry {
    char name[VNODE_NAME_MAX + 1];
    size_t n;
    uint64_t cursor; /* behind it */
};

static bool take_entry(void *to, const char *name, size_t n, UNUSED uint64_t id,
                       UNUSED uint32_t type, uint64_t cursor)
{
    struct entry *e = to;

    if (e->n)
        return false;
    memcpy(e->name, name, n);
    e->n = n;
    e->cursor = cursor;
    return true;
}

/* Makes a name in the folder `to` that leads to a child of `from`. Returns 0 or an error. */
static int show_child(struct vnode *from, struct vnode *to, const struct entry *e)
{
    struct mount *m = kmalloc(sizeof(*m));
    struct vnode *child = NULL, *on = NULL;
    int err = m ? from->ops->lookup(from, e->name, e->n, &child) : -ENOMEM;

    if (!err)
        err = to->ops->create(to, e->name, e->n, vnode_is(child, S_IFDIR) ? S_IFDIR : S_IFREG, NULL,
                              &on);
    if (err) {
        vnode_put(child);
        kfree(m);
        return err;
    }
    *m = *child->mount;
    m->root = child; /* both references stay */
    m->on = on;
    m->next = NULL;
    on->covered = m;
    return 0;
}

/* Shows what archives have in the folder `from`, which `to` covers: it stays as it is. */
static void show_covered(struct vnode *from, struct vnode *to)
{
    struct entry *e = kmalloc(sizeof(*e));
    int err = e ? 0 : -ENOMEM;

    while (!err) {
        e->n = 0;
        err = from->ops->list(from, e->cursor, take_entry, e);
        if (!err && !e->n)
            break;
        if (!err)
            err = show_child(from, to, e);
    }
    kfree(e);
    if (err)
        kprintf("files: event=refused folder=/tmp reason=%s: files of the archive are missing\n",
                err == -ENOMEM ? "memory" : "error");
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

    root = tree_create("rootfs", TMPFS_MAGIC, true);
    if (!root)
        panic("no memory for the tree of files");
    int err = tree_add_archive(root, bundle, bundle_bytes, BUNDLE_FOLDER, &at, &why);
    if (err)
        panic("bundle: broken at byte %llu: %s", (unsigned long long)at,
              err == -ENOMEM ? "out of memory" : why);
    if (initrd_bytes)
        add_initrd(initrd, initrd_bytes);
    add_mount(tree_mount(root), NULL);
    dev = mount_tree("/dev", "devtmpfs", TMPFS_MAGIC, true);
    dev_fill(dev);
    fs_mount("/sys", &sys_fs);
    struct vnode *tmp = mount_point("/tmp");
    show_covered(tmp, mount_writable(tmp));
    mount_writable(tree_make_folder(dev, "shm", 01777));
}

void fs_mount(const char *path, struct pseudo *fs)
{
    if (pseudo_start(fs))
        panic("%s: no memory for the file system there", path);
    add_mount(&fs->mount, mount_point(path));
}

struct vnode *fs_add_device(const char *name, uint32_t mode, uint32_t major, uint32_t minor,
                            const struct vnode_ops *ops)
{
    return tree_make_device(dev, name, mode, major, minor, ops)
               ?: (panic("no memory for the device %s", name), NULL);
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
