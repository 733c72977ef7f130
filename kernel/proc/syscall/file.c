/* System calls on descriptors. */
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/file/pipe.h"
#include "kernel/proc/limits.h"
#include "kernel/proc/perf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/syscall/sockets.h"
#include "mm/object.h"
#include <asm/ioctls.h>
#include <asm/signal.h>
#include <linux/close_range.h>
#include <linux/fadvise.h>
#include <linux/falloc.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/uio.h>

#define SETTABLE (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | FASYNC)

int64_t file_give(const struct call *c, struct file *f, bool closes)
{
    int fd = files_add(c->p->files, f, 0, closes);

    if (fd < 0)
        file_put(f);
    return fd;
}

/* Nothing is read ahead: what a file has lies in memory, or is the host's. */
int64_t sys_readahead(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int64_t result = !f || (__atomic_load_n(&f->flags, __ATOMIC_RELAXED) & O_ACCMODE) == O_WRONLY
                         ? -EBADF
                     : vnode_is(f->v, S_IFREG) ? 0
                                               : -EINVAL;

    file_put(f);
    return result;
}

int64_t sys_lseek(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int64_t result = f ? file_seek(f, (int64_t)c->a[1], (unsigned)c->a[2]) : -EBADF;

    file_put(f);
    return result;
}

int64_t sys_getdents64(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int64_t result = -EBADF;

    if (f) {
        file_enter(f, FILE_HERE, false);
        result = file_list(f, c->a[1], (uint32_t)c->a[2]);
        file_leave(f, FILE_HERE, NULL);
    }
    file_put(f);
    return result;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* Returns the socket that a descriptor leads to, referenced, if its close is to wait; else NULL. */
static struct socket *find_lingering(const struct call *c, uint32_t fd)
{
    struct file *f = files_find(c->p->files, fd);
    struct socket *s = f ? socket_of(f) : NULL;
    bool lingers = s && s->options.lingers && s->options.linger_s;

    if (lingers)
        socket_get(s);
    file_put(f);
    return lingers ? s : NULL;
}

int64_t sys_close(const struct call *c)
{
    uint32_t fd = (uint32_t)c->a[0];
    struct socket *s = find_lingering(c, fd);
    int64_t result = files_close(c->p->files, fd);

    if (s && !result)
        s->ops->linger(s);
    socket_put(s);
    return result;
}

int64_t sys_close_range(const struct call *c)
{
    uint32_t first = (uint32_t)c->a[0], last = (uint32_t)c->a[1], flags = (uint32_t)c->a[2];

    if (first > last || (flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)))
        return -EINVAL;
    files_close_range(c->p->files, first, last, flags & CLOSE_RANGE_CLOEXEC);
    return 0;
}

static int64_t duplicate(const struct call *c, uint64_t least, bool closes)
{
    struct file *f = files_find_any(c->p->files, c->a[0]);

    if (!f)
        return -EBADF;
    int64_t fd = least >= c->p->files->limit ? -EINVAL : files_add(c->p->files, f, least, closes);
    if (fd < 0)
        file_put(f);
    return fd;
}

int64_t sys_dup(const struct call *c)
{
    return duplicate(c, 0, false);
}

static int64_t duplicate_to(const struct call *c, bool closes)
{
    struct file *f = files_find_any(c->p->files, c->a[0]);

    if (!f)
        return -EBADF;
    int64_t fd = files_replace(c->p->files, f, (uint32_t)c->a[1], closes);
    if (fd < 0)
        file_put(f);
    return fd;
}

int64_t sys_dup2(const struct call *c)
{
    if ((uint32_t)c->a[0] == (uint32_t)c->a[1]) {
        int closes = files_closes(c->p->files, (uint32_t)c->a[0]);
        return closes < 0 ? closes : (int64_t)(uint32_t)c->a[0];
    }
    return duplicate_to(c, false);
}

int64_t sys_dup3(const struct call *c)
{
    if ((uint32_t)c->a[0] == (uint32_t)c->a[1] || (c->a[2] & ~(uint64_t)O_CLOEXEC))
        return -EINVAL;
    return duplicate_to(c, c->a[2] & O_CLOEXEC);
}

/* Sets the flags that can be set while a file is open. */
static void set_flags(struct file *f, uint32_t flags)
{
    uint32_t old = __atomic_load_n(&f->flags, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(&f->flags, &old, (old & ~SETTABLE) | (flags & SETTABLE),
                                        true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

_Static_assert(OBJECT_SEAL_SEAL == F_SEAL_SEAL && OBJECT_SEAL_SHRINK == F_SEAL_SHRINK &&
                   OBJECT_SEAL_GROW == F_SEAL_GROW && OBJECT_SEAL_WRITE == F_SEAL_WRITE &&
                   OBJECT_SEAL_FUTURE_WRITE == F_SEAL_FUTURE_WRITE,
               "seals");
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)

static int64_t control_seals(struct file *f, uint32_t command, uint64_t seals)
{
    struct object *o;

    if (vnode_is(f->v, S_IFREG) && f->v->ops->object(f->v, &o))
        return -EINVAL; /* it is not in memory */
    if (!vnode_is(f->v, S_IFREG))
        return -EINVAL;
    if (command == F_GET_SEALS)
        return object_seals(o);
    if ((f->flags & O_ACCMODE) == O_RDONLY)
        return -EPERM;
    return seals & ~(uint64_t)SEALS ? -EINVAL : object_add_seals(o, (uint32_t)seals);
}

/* Finds the owner that F_SETOWN means; id 0: there is none. Returns 0, -ESRCH or -EINVAL. */
static int find_owner(const struct call *c, int32_t type, int32_t id, struct file_owner *out)
{
    struct process *p = NULL;

    *out = (struct file_owner){.type = type, .id = id};
    if (type < F_OWNER_TID || type > F_OWNER_PGRP)
        return -EINVAL;
    if (!id || type == F_OWNER_PGRP)
        return 0;
    if (type == F_OWNER_PID)
        p = process_find((uint32_t)id);
    /* The number of any of its threads also means a process. */
    if (!p)
        p = visible_with_thread(c->p, (uint32_t)id);
    if (!p)
        return -ESRCH;
    out->process = p->pid;
    process_put(p);
    return 0;
}

static int set_owner(const struct call *c, struct file *f, int32_t type, int32_t id)
{
    struct file_owner owner;
    int err = find_owner(c, type, id, &owner);

    if (!err)
        file_set_owner(f, &owner);
    return err;
}

/* F_SETOWN: a negative number is a group's. */
static int set_owner_simple(const struct call *c, struct file *f, int32_t who)
{
    if (who == INT32_MIN)
        return -EINVAL;
    return who < 0 ? set_owner(c, f, F_OWNER_PGRP, -who) : set_owner(c, f, F_OWNER_PID, who);
}

static int set_owner_of(const struct call *c, struct file *f, vaddr_t from)
{
    struct f_owner_ex who;

    if (arch_copy_from_user(&who, from, sizeof(who)))
        return -EFAULT;
    return set_owner(c, f, who.type, who.pid);
}

static int get_owner_of(struct file *f, vaddr_t to)
{
    struct file_owner owner = file_owner(f);
    const struct f_owner_ex who = {owner.type, owner.id};

    return arch_copy_to_user(to, &who, sizeof(who)) ? -EFAULT : 0;
}

static int64_t get_owner(struct file *f)
{
    struct file_owner owner = file_owner(f);

    return owner.type == F_OWNER_PGRP ? -owner.id : owner.id;
}

static int set_signal(struct file *f, uint64_t signal)
{
    if (signal > SIGNALS)
        return -EINVAL;
    file_set_signal(f, (int)signal);
    return 0;
}

/* Notes by which descriptor a file got its flag FASYNC. */
static void set_async(const struct call *c, struct file *f)
{
    if (__atomic_load_n(&f->flags, __ATOMIC_RELAXED) & FASYNC)
        file_set_async(f, (int)c->a[0]);
}

static int64_t control_file(const struct call *c, struct file *f)
{
    switch ((uint32_t)c->a[1]) {
    case F_GETFD:
        return files_closes(c->p->files, c->a[0]) > 0 ? FD_CLOEXEC : 0;
    case F_SETFD:
        return files_set_closes(c->p->files, c->a[0], c->a[2] & FD_CLOEXEC);
    case F_GETFL:
        return __atomic_load_n(&f->flags, __ATOMIC_RELAXED);
    case F_SETFL:
        set_flags(f, (uint32_t)c->a[2]);
        set_async(c, f);
        return 0;
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return lock_records(c, f);
    case F_GETPIPE_SZ:
        return pipe_room(f);
    case F_SETPIPE_SZ:
        return pipe_set_room(f, (uint32_t)c->a[2]);
    case F_GET_SEALS:
    case F_ADD_SEALS:
        return control_seals(f, (uint32_t)c->a[1], c->a[2]);
    case F_SETOWN:
        return set_owner_simple(c, f, (int32_t)c->a[2]);
    case F_GETOWN:
        return get_owner(f);
    case F_SETOWN_EX:
        return set_owner_of(c, f, c->a[2]);
    case F_GETOWN_EX:
        return get_owner_of(f, c->a[2]);
    case F_SETSIG:
        return set_signal(f, c->a[2]);
    case F_GETSIG:
        return file_owner(f).signal;
    default:
        return -EINVAL;
    }
}

static bool changes_owner(uint32_t command)
{
    return command == F_SETFL || command == F_SETOWN || command == F_SETOWN_EX ||
           command == F_SETSIG;
}

int64_t sys_fcntl(const struct call *c)
{
    if (c->a[1] == F_DUPFD || c->a[1] == F_DUPFD_CLOEXEC)
        return duplicate(c, (uint32_t)c->a[2], c->a[1] == F_DUPFD_CLOEXEC);
    struct file *f = files_find_any(c->p->files, c->a[0]);
    int64_t result = f ? control_file(c, f) : -EBADF;
    if (f && perf_is(f) && changes_owner((uint32_t)c->a[1]))
        perf_told_owner(f);
    file_put(f);
    return result;
}

/* Sets or clears a flag, as the int at a user address says. */
static int64_t switch_flag(struct file *f, uint32_t flag, vaddr_t at)
{
    uint32_t flags = __atomic_load_n(&f->flags, __ATOMIC_RELAXED);
    int on;

    if (arch_copy_from_user(&on, at, sizeof(on)))
        return -EFAULT;
    set_flags(f, on ? flags | flag : flags & ~flag);
    return 0;
}

static int64_t bytes_ahead(struct file *f, vaddr_t at)
{
    struct vnode_stat s;

    f->v->ops->stat(f->v, &s);
    int64_t here = file_seek(f, 0, SEEK_CUR), ahead = (int64_t)s.size - here;
    int n = ahead > INT32_MAX ? INT32_MAX : ahead < 0 ? 0 : (int)ahead;
    return arch_copy_to_user(at, &n, sizeof(n)) ? -EFAULT : 0;
}

static int64_t ioctl_file(const struct call *c, struct file *f)
{
    switch ((uint32_t)c->a[1]) {
    case FIOCLEX:
    case FIONCLEX:
        return files_set_closes(c->p->files, c->a[0], c->a[1] == FIOCLEX);
    case FIONBIO:
        return switch_flag(f, O_NONBLOCK, c->a[2]);
    case FIOASYNC: /* of perf events alone it sends SIGIO */
        return f->v->ops->stream ? switch_flag(f, FASYNC, c->a[2]) : -ENOTTY;
    case FIONREAD:
        if (vnode_is(f->v, S_IFREG))
            return bytes_ahead(f, c->a[2]);
        break;
    }
    return f->v->ops->ioctl(f->v, f->state, (uint32_t)c->a[1], c->a[2]);
}

int64_t sys_ioctl(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int64_t result = !f ? -EBADF : ioctl_file(c, f);

    file_put(f);
    return result;
}

/* ---- Files ----------------------------------------------------------------------------------- */

int64_t sys_fstat(const struct call *c)
{
    struct file *f = files_find_any(c->p->files, c->a[0]);
    int64_t result = f ? stat_put(c->a[1], f->v) : -EBADF;

    file_put(f);
    return result;
}

static int64_t sync_file(const struct call *c, bool data)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int64_t result = !f ? -EBADF
                     : f->v->ops->stream || vnode_is(f->v, S_IFCHR)
                         ? -EINVAL
                         : f->v->ops->sync(f->v, f->state, data);

    file_put(f);
    return result;
}

int64_t sys_fsync(const struct call *c)
{
    return sync_file(c, false);
}

int64_t sys_fdatasync(const struct call *c)
{
    return sync_file(c, true);
}

/* Brings to the host what was stored to mappings, of one process after the other, and waits for
 * that of mappings that have ended. What was written is there already. Errors are told by msync(2)
 * and fsync(2). */
int64_t sys_sync(const struct call *c)
{
    uint32_t pid = 0;

    for (struct process *p; !process_ending(c->p) && (p = process_after(pid)); process_put(p)) {
        pid = process_pid(p);
        struct process *looked = process_look(pid);
        if (!looked)
            continue;
        space_sync(looked->space, USER_MIN, USER_MAX);
        process_look_end(looked);
    }
    object_sync_wait();
    return 0;
}

/* Advice changes nothing. */
int64_t sys_fadvise64(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    bool known = (uint32_t)c->a[3] <= POSIX_FADV_NOREUSE && (int64_t)c->a[2] >= 0;
    int64_t result = !f ? -EBADF : f->v->ops->stream ? -ESPIPE : known ? 0 : -EINVAL;

    file_put(f);
    return result;
}

/* What is written needs no start: files in memory are where they stay, and those of the host have
 * it at once. As on Linux, it says nothing of what lasts. */
int64_t sys_sync_file_range(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    bool known = c->a[3] <= (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                             SYNC_FILE_RANGE_WAIT_AFTER) &&
                 (int64_t)c->a[1] >= 0 && (int64_t)c->a[2] >= 0;
    int64_t result = !f                                             ? -EBADF
                     : !known                                       ? -EINVAL
                     : f->v->ops->stream || vnode_is(f->v, S_IFCHR) ? -ESPIPE
                                                                    : 0;

    file_put(f);
    return result;
}

int64_t sys_ftruncate(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int64_t result = !f                                   ? -EBADF
                     : c->a[1] > INT64_MAX                ? -EINVAL
                     : (f->flags & O_ACCMODE) == O_RDONLY ? -EINVAL
                     : !vnode_is(f->v, S_IFREG)           ? -EINVAL
                                                          : size_check(c, f->v, c->a[1]);
    if (!result)
        result = f->v->ops->set_size(f->v, c->a[1]);

    file_put(f);
    return result;
}

/* What fallocate(2) can be asked for, and what of it is done. */
#define FALLOC_DONE (FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)
#define FALLOC_ALL \
    (FALLOC_DONE | FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE | FALLOC_FL_UNSHARE_RANGE)

/* Returns 0, -EOPNOTSUPP or -EINVAL: the flags do not go together. */
static int check_mode(uint64_t mode)
{
    const uint64_t holes = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE,
                   alone = FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE;

    if (mode & ~(uint64_t)FALLOC_ALL || (mode & holes) == holes ||
        ((mode & FALLOC_FL_PUNCH_HOLE) && !(mode & FALLOC_FL_KEEP_SIZE)))
        return -EOPNOTSUPP;
    return (mode & alone && !is_pow2(mode)) ||
                   (mode & FALLOC_FL_UNSHARE_RANGE &&
                    mode & ~(uint64_t)(FALLOC_FL_UNSHARE_RANGE | FALLOC_FL_KEEP_SIZE))
               ? -EINVAL
               : 0;
}

/* Memory is taken when a file is written: a longer file has a hole. */
static int allocate(struct vnode *v, uint64_t mode, uint64_t at, uint64_t n)
{
    struct vnode_stat s;
    int err = mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) ? v->ops->punch(v, at, n) : 0;

    if (err || (mode & FALLOC_FL_KEEP_SIZE))
        return err;
    v->ops->stat(v, &s);
    return at + n > s.size ? v->ops->set_size(v, at + n) : 0;
}

int64_t sys_fallocate(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    uint64_t mode = (uint32_t)c->a[1], end;
    int64_t result = 0;

    if (!f)
        return -EBADF;
    if ((int64_t)c->a[2] < 0 || (int64_t)c->a[3] <= 0)
        result = -EINVAL;
    else if (check_mode(mode))
        result = check_mode(mode);
    else if ((f->flags & O_ACCMODE) == O_RDONLY)
        result = -EBADF;
    else if (f->v->ops->stream)
        result = -ESPIPE;
    else if (!vnode_is(f->v, S_IFREG))
        result = vnode_is(f->v, S_IFDIR) ? -EISDIR : -ENODEV;
    else if (__builtin_add_overflow(c->a[2], c->a[3], &end) || end > INT64_MAX)
        result = -EFBIG;
    else if (mode & ~(uint64_t)FALLOC_DONE)
        result = -EOPNOTSUPP;
    if (!result && !(mode & FALLOC_FL_KEEP_SIZE))
        result = size_check(c, f->v, end);
    if (!result)
        result = allocate(f->v, mode, c->a[2], c->a[3]);
    file_put(f);
    return result;
}
