/*
 * The disks as files: /dev/vda and the like, with names as the console has them, to be read and
 * mapped. Their pages are objects' (mm/object.h), so what was read once is in memory, evicted by
 * policy, and read ahead.
 *
 * What the kernel itself writes to a disk, pages that are swapped out, a file of it may not show.
 */
#include "kernel/fs/disk.h"
#include "kernel/dev/block/block.h"
#include "kernel/mem/mem.h"
#include "mm/object.h"
#include <linux/fs.h>
#include <linux/major.h>

#define DISK_MAJOR    252 /* of those for local use; Linux takes one of them for virtio disks */
#define MINORS_A_DISK 16  /* as Linux's, which leave room for partitions */
#define SECTOR_BYTES  512
#define DISKS_MAX     16

static struct object_store store;
static struct object *objects[DISKS_MAX]; /* [A] made once, by the number of the disk */

static struct block_device *disk_of(const struct vnode *v)
{
    struct block_device *d = block_first();

    for (uint32_t i = v->minor / MINORS_A_DISK; i; i--)
        d = d->next;
    return d;
}

/* ---- Contents -------------------------------------------------------------------------------- */

static int bring_in(void *of, uint64_t page, unsigned n, const paddr_t *frames)
{
    struct block_device *d = of;
    unsigned there = page < d->pages ? (unsigned)MIN((uint64_t)n, d->pages - page) : 0;

    for (unsigned i = there; i < n; i++)
        memset(phys_to_virt(frames[i]), 0, PAGE_SIZE);
    return there ? block_transfer(d, page, there, false, frames) : 0;
}

static struct block_device *same_disk(void *of)
{
    return of;
}

static const struct object_backing backing = {.bring_in = bring_in, .whole_disk = same_disk};

static int object_of(struct vnode *v, struct object **out)
{
    struct object **of = &objects[v->minor / MINORS_A_DISK];
    int err = __atomic_load_n(of, __ATOMIC_ACQUIRE)
                  ? 0
                  : object_make_once(of, &store, &backing, disk_of(v), v->size);

    *out = __atomic_load_n(of, __ATOMIC_ACQUIRE);
    return err ? -ENOSPC : 0;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static int open_disk(UNUSED struct vnode *v, unsigned flags, UNUSED void **state)
{
    return flags & VNODE_WRITE ? -EROFS : 0;
}

static int64_t read_disk(struct vnode *v, UNUSED void *state, UNUSED unsigned flags, uint64_t at,
                         void *to, size_t n)
{
    struct object *o;
    int err = object_of(v, &o);

    return err ? -ENOMEM : object_read(o, at, to, n);
}

static int64_t control_disk(struct vnode *v, UNUSED void *state, uint32_t request, uint64_t arg)
{
    const struct {
        uint32_t request, bytes;
        uint64_t value;
    } answers[] = {
        {BLKGETSIZE64, 8, v->size},   {BLKGETSIZE, 8, v->size / SECTOR_BYTES},
        {BLKSSZGET, 4, SECTOR_BYTES}, {BLKPBSZGET, 4, PAGE_SIZE},
        {BLKBSZGET, 4, PAGE_SIZE},    {BLKROGET, 4, 1},
    };

    for (unsigned i = 0; i < ARRAY_SIZE(answers); i++)
        if (answers[i].request == request)
            return arch_copy_to_user(arg, &answers[i].value, answers[i].bytes);
    return -ENOTTY;
}

static const struct vnode_ops disk_ops = {
    .lookup = vnode_no_lookup,
    .parent = tree_parent,
    .name = tree_name,
    .list = vnode_no_list,
    .readlink = vnode_no_readlink,
    .follow = vnode_no_follow,
    .stat = vnode_stat,
    .open = open_disk,
    .close = vnode_close,
    .read = read_disk,
    .write = vnode_no_write,
    .poll = vnode_poll,
    .ioctl = control_disk,
    .create = vnode_no_create,
    .remove = vnode_no_remove,
    .rename = vnode_no_rename,
    .exchange_names = vnode_no_exchange_names,
    .set_size = vnode_no_resize,
    .change = vnode_no_change,
    .give = vnode_no_give,
    .stamp = vnode_no_stamp,
    .link = vnode_no_link,
    .create_apart = vnode_no_create_apart,
    .sync = vnode_sync,
    .own = vnode_no_own,
    .object = object_of,
    .find = vnode_no_find,
    .punch = vnode_no_punch,
    .release = vnode_no_release,
};

void disk_fill(struct tree *dev)
{
    uint32_t minor = 0;

    object_store_init(&store, UINT64_MAX);
    for (struct block_device *d = block_first(); d && minor < DISKS_MAX * MINORS_A_DISK;
         d = d->next, minor += MINORS_A_DISK) {
        struct vnode *v =
            tree_make_device(dev, d->name, S_IFBLK | 0440, DISK_MAJOR, minor, &disk_ops);
        if (!v)
            panic("no memory for the files of disks");
        v->size = d->pages * PAGE_SIZE;
    }
}

void disk_print(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    const unsigned sectors = PAGE_SIZE / SECTOR_BYTES;
    typedef unsigned long long ull;
    uint32_t minor = 0;

    for (struct block_device *d = block_first(); d; d = d->next, minor += MINORS_A_DISK) {
        struct block_stats s;
        block_read_stats(d, &s);
        pseudo_print(t, "%4u %7u %s %llu 0 %llu 0 %llu 0 %llu 0 0 0 0\n", DISK_MAJOR, minor,
                     d->name, (ull)s.reads, (ull)s.pages_read * sectors, (ull)s.writes,
                     (ull)s.pages_written * sectors);
    }
}
