/* See pid_file.h. The process stays as a number, though not in the tree, while the file is open. */
#include "kernel/proc/pid_file.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include <linux/fcntl.h>
#include <linux/poll.h>

struct pid_file {
    struct vnode v;
    struct process *process; /* referenced */
};

static struct pid_file *pid_of(struct vnode *v)
{
    return container_of(v, struct pid_file, v);
}

static unsigned poll_pid(struct vnode *v, UNUSED void *state)
{
    return proctree_has_ended(pid_of(v)->process) ? POLLIN | POLLRDNORM : 0;
}

static size_t name_pid(UNUSED struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "anon_inode:[pidfd]"), room);
}

static void release_pid(struct vnode *v)
{
    process_put(pid_of(v)->process);
    kfree(pid_of(v));
}

static const struct vnode_ops pid_file_ops = {
    VNODE_OPS_NOWHERE,       .name = name_pid,       .stat = vnode_stat,      .open = vnode_open,
    .close = vnode_close,    .read = vnode_no_read,  .write = vnode_no_write, .poll = poll_pid,
    .ioctl = vnode_no_ioctl, .release = release_pid,
};

int pid_file_make(struct process *p, uint32_t flags, struct file **out)
{
    struct pid_file *f = kmalloc(sizeof(*f));

    if (!f)
        return -ENOMEM;
    f->v = (struct vnode){.ops = &pid_file_ops, .refs = 1, .mode = 0600, .changes = &p->tree.ends};
    f->process = p;
    process_get(p);
    int err = file_make(&f->v, O_RDWR | flags, out);
    vnode_put(&f->v);
    return err;
}

struct process *pid_file_process(const struct file *f)
{
    return f->v->ops == &pid_file_ops ? pid_of(f->v)->process : NULL;
}
