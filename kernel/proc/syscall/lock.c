/* System calls that lock files: records by fcntl(2), whole files by flock(2). */
#include "kernel/file/lock.h"
#include "kernel/arch/arch.h"
#include "kernel/proc/syscall/paths.h"
#include <asm-generic/fcntl.h>
#include <linux/fs.h>

#define NO_PID (-1) /* that F_GETLK tells of an opening's records */

/* Finds the range that a program describes. Returns 0, -EINVAL or -EOVERFLOW. */
static int find_range(struct file *f, const struct flock *l, struct range_lock *out)
{
    struct vnode_stat s = {.size = 0};
    int64_t first, last;

    if (l->l_whence == SEEK_END)
        f->v->ops->stat(f->v, &s);
    int64_t from = l->l_whence == SEEK_CUR ? file_seek(f, 0, SEEK_CUR) : (int64_t)s.size;
    if (l->l_whence != SEEK_SET && l->l_whence != SEEK_CUR && l->l_whence != SEEK_END)
        return -EINVAL;
    if (__builtin_add_overflow(MAX(from, 0l), l->l_start, &first))
        return -EOVERFLOW;
    if (l->l_len > 0) {
        if (first < 0)
            return -EINVAL;
        if (__builtin_add_overflow(first, l->l_len - 1, &last))
            return -EOVERFLOW;
    } else if (l->l_len < 0) {
        last = first - 1;
        first += l->l_len;
    } else {
        last = RANGE_END;
    }
    if (first < 0)
        return -EINVAL;
    out->first = (uint64_t)first;
    out->last = (uint64_t)last;
    return 0;
}

static int64_t test_records(struct file *f, struct range_lock *want, struct flock *l, vaddr_t to)
{
    struct range_lock other;

    if (l->l_type == F_UNLCK)
        return -EINVAL;
    if (!lock_test(f, want, &other)) {
        l->l_type = F_UNLCK;
    } else {
        l->l_type = other.exclusive ? F_WRLCK : F_RDLCK;
        l->l_whence = SEEK_SET;
        l->l_start = (int64_t)other.first;
        l->l_len = other.last == RANGE_END ? 0 : (int64_t)(other.last - other.first + 1);
        l->l_pid = other.pid == LOCK_NO_PID ? NO_PID : (int)other.pid;
    }
    return arch_copy_to_user(to, l, sizeof(*l)) ? -EFAULT : 0;
}

int64_t lock_records(const struct call *c, struct file *f)
{
    unsigned how = (uint32_t)c->a[1], access = f->flags & O_ACCMODE;
    bool by_opening = how == F_OFD_GETLK || how == F_OFD_SETLK || how == F_OFD_SETLKW;
    struct flock l;

    if (f->flags & O_PATH)
        return -EBADF;
    if (arch_copy_from_user(&l, c->a[2], sizeof(l)))
        return -EFAULT;
    if ((l.l_type != F_RDLCK && l.l_type != F_WRLCK && l.l_type != F_UNLCK) ||
        (by_opening && l.l_pid))
        return -EINVAL;
    struct range_lock want = {.owner = by_opening ? (void *)f : (void *)c->p->files,
                              .pid = by_opening ? LOCK_NO_PID : c->p->pid,
                              .exclusive = l.l_type == F_WRLCK};
    int err = find_range(f, &l, &want);
    if (err)
        return err;
    if (how == F_GETLK || how == F_OFD_GETLK)
        return test_records(f, &want, &l, c->a[2]);
    if ((l.l_type == F_RDLCK && access == O_WRONLY) || (l.l_type == F_WRLCK && access == O_RDONLY))
        return -EBADF;
    return lock_set(f, LOCK_RECORDS, &want, l.l_type != F_UNLCK,
                    how == F_SETLKW || how == F_OFD_SETLKW);
}

int64_t sys_flock(const struct call *c)
{
    uint32_t operation = (uint32_t)c->a[1], kind = operation & ~(uint32_t)LOCK_NB;
    struct range_lock want = {.last = RANGE_END, .pid = LOCK_NO_PID, .exclusive = kind == LOCK_EX};

    if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN)
        return -EINVAL;
    struct file *f = files_find(c->p->files, c->a[0]);
    if (!f)
        return -EBADF;
    want.owner = f;
    int err = lock_set(f, LOCK_WHOLE, &want, kind != LOCK_UN, false);
    if (err == -EAGAIN) { /* as with Linux, the opening's lock of the other kind is gone, then */
        lock_set(f, LOCK_WHOLE, &want, false, false);
        if (!(operation & LOCK_NB))
            err = lock_set(f, LOCK_WHOLE, &want, true, true);
    }
    file_put(f);
    return err;
}
