/*
 * The descriptors that a process starts with: 0, 1 and 2 are one opening of the console, so that a
 * line may be begun by one and ended by the other. On a split console (console.h), which gathers no
 * lines, 2 is an opening of its own, and 0 is the file INPUT of the tree, if there is one. If its
 * parent's 1 or 2 is not the console, but a pipe or a file, the child has the same.
 */
#include "kernel/file/file.h"
#include "kernel/core/console.h"
#include "kernel/fs/fs.h"
#include "kernel/proc/internal.h"
#include <linux/fcntl.h>

#define INPUT "/.vigil/input"

/* Opens INPUT, if it is there. Returns 0 or -ENOMEM. */
static int open_input(struct file **out)
{
    struct path_start start = {.root = fs_root(), .here = fs_root()};
    int err = file_open(&start, INPUT, O_RDONLY | O_LARGEFILE, 0, out);

    return err == -ENOMEM ? err : 0;
}

/* Returns what `parent` writes to by fd, referenced; NULL: the console, or nothing. */
static struct file *inherited(struct process *parent, unsigned fd)
{
    struct file *f = parent ? files_find(parent->files, fd) : NULL;

    if (f && tty_is(f)) {
        file_put(f);
        return NULL;
    }
    return f;
}

int stdio_open(struct process *p, struct process *parent)
{
    struct vnode *here = parent ? files_here(parent->files) : vnode_get(fs_root());
    struct file *console = NULL, *errors = NULL, *input = NULL;
    struct file *const given[2] = {inherited(parent, 1), inherited(parent, 2)};
    int err = tty_open(CONSOLE_PROGRAM, &console);

    if (!err && console_split)
        err = tty_open(CONSOLE_ERRORS, &errors) ?: open_input(&input);
    if (!err) {
        struct file *const first[3] = {input ?: console, given[0] ?: console,
                                       given[1] ?: errors ?: console};
        err = files_create(p->kernel, first, here, &p->files);
    }
    file_put(console);
    file_put(errors);
    file_put(input);
    file_put(given[0]);
    file_put(given[1]);
    vnode_put(here);
    return err;
}

void stdio_flush(struct process *p)
{
    ASSERT(p == thread_current()->process || __atomic_load_n(&p->lookers, __ATOMIC_RELAXED));
    for (unsigned fd = 1; fd <= 2; fd++) {
        struct file *f = files_find(p->files, fd);
        if (f)
            tty_flush(f);
        file_put(f);
    }
}
