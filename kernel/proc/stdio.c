/* The descriptors that a process starts with: 0, 1 and 2 are one opening of the console. */
#include "kernel/file/file.h"
#include "kernel/fs/fs.h"
#include "kernel/proc/internal.h"

int stdio_open(struct process *p, struct process *parent)
{
    struct vnode *here = parent ? files_here(parent->files) : vnode_get(fs_root());
    struct file *console = NULL;
    int err = tty_open(&console) ?: files_create(&p->kernel, console, here, &p->files);

    file_put(console);
    vnode_put(here);
    return err;
}

void stdio_flush(struct process *p)
{
    for (unsigned fd = 1; fd <= 2; fd++) {
        struct file *f = files_find(p->files, fd);
        if (f)
            tty_flush(f);
        file_put(f);
    }
}
