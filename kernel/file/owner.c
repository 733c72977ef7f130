/* Owners of files, who are sent a signal where there is news: fcntl(2), F_SETOWN and its like. */
#include "kernel/file/file.h"
#include <linux/fcntl.h>

void file_set_owner(struct file *f, const struct file_owner *owner)
{
    bool irq = spin_lock(&f->lock);

    f->owner.type = owner->type;
    f->owner.id = owner->id;
    f->owner.process = owner->process;
    spin_unlock(&f->lock, irq);
}

void file_set_signal(struct file *f, int signal)
{
    bool irq = spin_lock(&f->lock);

    f->owner.signal = signal;
    spin_unlock(&f->lock, irq);
}

void file_set_async(struct file *f, int fd)
{
    bool irq = spin_lock(&f->lock);

    f->owner.fd = fd;
    spin_unlock(&f->lock, irq);
}

struct file_owner file_owner(struct file *f)
{
    bool irq = spin_lock(&f->lock);
    struct file_owner owner = f->owner;

    spin_unlock(&f->lock, irq);
    return owner;
}
