/* See dev.h. */
#include "kernel/fs/dev.h"
#include "kernel/core/console.h"
#include "kernel/core/entropy.h"
#include "kernel/core/printf.h"
#include <linux/major.h>

static int64_t read_nothing(UNUSED struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                            UNUSED uint64_t at, UNUSED void *to, UNUSED size_t n)
{
    return 0;
}

static int64_t read_zeros(UNUSED struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                          UNUSED uint64_t at, void *to, size_t n)
{
    memset(to, 0, n);
    return (int64_t)n;
}

static int64_t read_random(UNUSED struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                           UNUSED uint64_t at, void *to, size_t n)
{
    entropy_bytes(NULL, to, n);
    return (int64_t)n;
}

static int64_t write_nowhere(UNUSED struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                             UNUSED uint64_t at, UNUSED const void *from, size_t n)
{
    return (int64_t)n;
}

static int64_t write_full(UNUSED struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                          UNUSED uint64_t at, UNUSED const void *from, size_t n)
{
    return n ? -ENOSPC : 0;
}

/* Prints among the kernel's own lines. A line is not cut by others if it is one write of at most
 * CONSOLE_ROOM bytes. */
static int64_t write_console(UNUSED struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                             UNUSED uint64_t at, const void *from, size_t n)
{
    n = MIN(n, (size_t)CONSOLE_ROOM);
    kwrite(CONSOLE_KERNEL, from, n);
    return (int64_t)n;
}

static int resize_nothing(UNUSED struct vnode *v, UNUSED uint64_t size)
{
    return 0;
}

/* A device without state: what is read and written. */
#define DEVICE_OPS(read_, write_)                                                        \
    {                                                                                    \
        .lookup = vnode_no_lookup, .parent = tree_parent, .name = tree_name,             \
        .list = vnode_no_list, .readlink = vnode_no_readlink, .follow = vnode_no_follow, \
        .stat = vnode_stat, .open = vnode_open, .close = vnode_close, .read = (read_),   \
        .write = (write_), .poll = vnode_poll, .ioctl = vnode_no_ioctl,                  \
        .set_size = resize_nothing, .release = vnode_no_release, VNODE_OPS_FIXED,        \
    }

static const struct device {
    const char *name;
    uint32_t minor;
    struct vnode_ops ops;
} devices[] = {
    {"null", 3, DEVICE_OPS(read_nothing, write_nowhere)},
    {"zero", 5, DEVICE_OPS(read_zeros, write_nowhere)},
    {"full", 7, DEVICE_OPS(read_zeros, write_full)},
    {"random", 8, DEVICE_OPS(read_random, write_nowhere)},
    {"urandom", 9, DEVICE_OPS(read_random, write_nowhere)},
    {"kmsg", 11, DEVICE_OPS(read_nothing, write_console)},
};

static const struct {
    const char *name, *target;
} links[] = {
    {"fd", "/proc/self/fd"},
    {"stdin", "/proc/self/fd/0"},
    {"stdout", "/proc/self/fd/1"},
    {"stderr", "/proc/self/fd/2"},
};

void dev_fill(struct tree *dev)
{
    bool made = tree_make_folder(dev, "shm", 01777) && tree_make_folder(dev, "pts", 0755);

    for (unsigned i = 0; i < ARRAY_SIZE(devices) && made; i++)
        made = tree_make_device(dev, devices[i].name, S_IFCHR | 0666, MEM_MAJOR, devices[i].minor,
                                &devices[i].ops);
    for (unsigned i = 0; i < ARRAY_SIZE(links) && made; i++)
        made = tree_make_link(dev, links[i].name, links[i].target);
    if (!made)
        panic("no memory for the files of /dev");
}
