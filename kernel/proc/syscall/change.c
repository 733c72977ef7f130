/* System calls on paths that make, move, change and remove. */
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/syscall/paths.h"
#include <linux/fcntl.h>
#include <linux/fs.h>

/* A path of user memory, split at its last name. */
struct place {
    char *text;
    struct path_last last;
};

static void leave_place(struct place *p)
{
    vnode_put(p->last.folder);
    kfree(p->text);
}

static int find_place(const struct call *c, uint64_t dirfd, vaddr_t path, struct place *out)
{
    struct path_start start;
    int err = path_take(&out->text, path);

    if (err)
        return err;
    err = path_begin(c, dirfd, out->text, &start);
    if (!err) {
        err = path_last(&start, out->text, &out->last);
        vnode_put(start.here);
    }
    if (err)
        kfree(out->text);
    return err;
}

static bool is_dots(const struct path_last *l)
{
    return !l->n || (l->name[0] == '.' && (l->n == 1 || (l->n == 2 && l->name[1] == '.')));
}

static bool is_read_only(const struct vnode *v)
{
    return !v->mount || v->mount->read_only;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static int64_t make_at(const struct call *c, uint64_t dirfd, vaddr_t path, uint32_t mode,
                       const char *target)
{
    struct vnode *v, *there;
    struct place p;
    int err = find_place(c, dirfd, path, &p);

    if (err)
        return err;
    struct vnode *folder = p.last.folder;
    if (is_dots(&p.last)) {
        err = -EEXIST;
    } else if (!folder->ops->lookup(folder, p.last.name, p.last.n, &there)) {
        vnode_put(there);
        err = -EEXIST;
    } else if (is_read_only(folder)) {
        err = -EROFS;
    } else if (p.last.slash && (mode & S_IFMT) != S_IFDIR) {
        err = -ENOENT;
    } else {
        err = folder->ops->create(folder, p.last.name, p.last.n, mode, target, &v);
        if (!err)
            vnode_put(v);
    }
    leave_place(&p);
    return err;
}

static int64_t make_folder(const struct call *c, uint64_t dirfd, vaddr_t path, uint64_t mode)
{
    uint32_t umask = __atomic_load_n(&c->p->files->umask, __ATOMIC_RELAXED);

    return make_at(c, dirfd, path, S_IFDIR | ((uint32_t)mode & 01777 & ~umask), NULL);
}

int64_t sys_mkdir(const struct call *c)
{
    return make_folder(c, (uint64_t)AT_FDCWD, c->a[0], c->a[1]);
}

int64_t sys_mkdirat(const struct call *c)
{
    return make_folder(c, c->a[0], c->a[1], c->a[2]);
}

static int64_t make_link(const struct call *c, vaddr_t target, uint64_t dirfd, vaddr_t path)
{
    char *text;
    int err = path_take(&text, target);

    if (err)
        return err;
    int64_t result = text[0] ? make_at(c, dirfd, path, S_IFLNK | 0777, text) : -ENOENT;
    kfree(text);
    return result;
}

int64_t sys_symlink(const struct call *c)
{
    return make_link(c, c->a[0], (uint64_t)AT_FDCWD, c->a[1]);
}

int64_t sys_symlinkat(const struct call *c)
{
    return make_link(c, c->a[0], c->a[1], c->a[2]);
}

/* Gives what is at path a[1] of a[0] one more name, a[3] of a[2]. */
static int64_t link_at(const struct call *c, const uint64_t *a, uint64_t flags)
{
    struct place p;
    struct vnode *v, *there;

    if (flags & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    int err = path_find(
        c, a[0], a[1],
        (flags & AT_EMPTY_PATH) | (flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW), &v);
    if (err)
        return err;
    err = find_place(c, a[2], a[3], &p);
    if (!err) {
        struct vnode *folder = p.last.folder;
        if (is_dots(&p.last)) {
            err = -EEXIST;
        } else if (!folder->ops->lookup(folder, p.last.name, p.last.n, &there)) {
            vnode_put(there);
            err = -EEXIST;
        } else {
            err = v->mount != folder->mount ? -EXDEV
                  : is_read_only(folder)    ? -EROFS
                  : vnode_is(v, S_IFDIR)    ? -EPERM
                  : p.last.slash            ? -ENOENT
                                            : folder->ops->link(folder, p.last.name, p.last.n, v);
        }
        leave_place(&p);
    }
    vnode_put(v);
    return err;
}

int64_t sys_link(const struct call *c)
{
    const uint64_t a[] = {(uint64_t)AT_FDCWD, c->a[0], (uint64_t)AT_FDCWD, c->a[1]};

    return link_at(c, a, 0);
}

int64_t sys_linkat(const struct call *c)
{
    return link_at(c, c->a, (uint32_t)c->a[4]);
}

/* Makes a file or a FIFO; there are no devices that programs make. */
static int64_t make_node(const struct call *c, uint64_t dirfd, vaddr_t path, uint64_t mode)
{
    uint32_t umask = __atomic_load_n(&c->p->files->umask, __ATOMIC_RELAXED), type = mode & S_IFMT;

    if (type && type != S_IFREG && type != S_IFIFO)
        return type == S_IFDIR || type == S_IFLNK ? -EINVAL : -EPERM;
    return make_at(c, dirfd, path, (type ?: S_IFREG) | ((uint32_t)mode & 07777 & ~umask), NULL);
}

int64_t sys_mknod(const struct call *c)
{
    return make_node(c, (uint64_t)AT_FDCWD, c->a[0], c->a[1]);
}

int64_t sys_mknodat(const struct call *c)
{
    return make_node(c, c->a[0], c->a[1], c->a[2]);
}

/* ---- Removing and renaming ------------------------------------------------------------------- */

static int64_t remove_at(const struct call *c, uint64_t dirfd, vaddr_t path, bool is_folder)
{
    struct vnode *there;
    struct place p;
    int err = find_place(c, dirfd, path, &p);

    if (err)
        return err;
    struct vnode *folder = p.last.folder;
    if (is_dots(&p.last))
        err = !is_folder ? -EISDIR : !p.last.n ? -EBUSY : p.last.n == 1 ? -EINVAL : -ENOTEMPTY;
    else
        err = folder->ops->lookup(folder, p.last.name, p.last.n, &there);
    if (!err) {
        err = p.last.slash && !is_folder && !vnode_is(there, S_IFDIR) ? -ENOTDIR
              : there->covered                                        ? -EBUSY
              : is_read_only(folder)
                  ? -EROFS
                  : folder->ops->remove(folder, p.last.name, p.last.n, is_folder);
        vnode_put(there);
    }
    leave_place(&p);
    return err;
}

int64_t sys_unlink(const struct call *c)
{
    return remove_at(c, (uint64_t)AT_FDCWD, c->a[0], false);
}

int64_t sys_rmdir(const struct call *c)
{
    return remove_at(c, (uint64_t)AT_FDCWD, c->a[0], true);
}

int64_t sys_unlinkat(const struct call *c)
{
    if (c->a[2] & ~(uint64_t)AT_REMOVEDIR)
        return -EINVAL;
    return remove_at(c, c->a[0], c->a[1], c->a[2] & AT_REMOVEDIR);
}

static int rename_places(const struct path_last *from, const struct path_last *to, uint64_t flags)
{
    struct vnode *there;

    if (is_dots(from) || is_dots(to))
        return -EBUSY;
    if (from->folder->mount != to->folder->mount)
        return -EXDEV;
    if (is_read_only(from->folder))
        return -EROFS;
    if ((flags & RENAME_NOREPLACE) &&
        !to->folder->ops->lookup(to->folder, to->name, to->n, &there)) {
        vnode_put(there);
        return -EEXIST;
    }
    if (flags & RENAME_EXCHANGE)
        return from->folder->ops->exchange_names(from->folder, from->name, from->n, to->folder,
                                                 to->name, to->n);
    return from->folder->ops->rename(from->folder, from->name, from->n, to->folder, to->name,
                                     to->n);
}

static int64_t rename_at(const struct call *c, uint64_t from_fd, vaddr_t from, uint64_t to_fd,
                         vaddr_t to, uint64_t flags)
{
    struct place source, goal;

    if (flags & ~(uint64_t)(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
        (flags & RENAME_NOREPLACE && flags & RENAME_EXCHANGE))
        return -EINVAL;
    int err = find_place(c, from_fd, from, &source);
    if (err)
        return err;
    err = find_place(c, to_fd, to, &goal);
    if (!err) {
        err = rename_places(&source.last, &goal.last, flags);
        leave_place(&goal);
    }
    leave_place(&source);
    return err;
}

int64_t sys_rename(const struct call *c)
{
    return rename_at(c, (uint64_t)AT_FDCWD, c->a[0], (uint64_t)AT_FDCWD, c->a[1], 0);
}

int64_t sys_renameat(const struct call *c)
{
    return rename_at(c, c->a[0], c->a[1], c->a[2], c->a[3], 0);
}

int64_t sys_renameat2(const struct call *c)
{
    return rename_at(c, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4]);
}

/* ---- Changing -------------------------------------------------------------------------------- */

static int change_mode(struct vnode *v, uint64_t mode)
{
    return is_read_only(v) ? -EROFS : v->ops->change(v, (uint32_t)mode);
}

static int64_t change_at(const struct call *c, uint64_t dirfd, vaddr_t path, uint64_t mode)
{
    struct vnode *v;
    int err = path_find(c, dirfd, path, 0, &v);

    if (err)
        return err;
    err = change_mode(v, mode);
    vnode_put(v);
    return err;
}

int64_t sys_chmod(const struct call *c)
{
    return change_at(c, (uint64_t)AT_FDCWD, c->a[0], c->a[1]);
}

int64_t sys_fchmodat(const struct call *c)
{
    return change_at(c, c->a[0], c->a[1], c->a[2]);
}

int64_t sys_fchmod(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int err = f ? change_mode(f->v, c->a[1]) : -EBADF;

    file_put(f);
    return err;
}

/* A new owner's program runs as no other: the bits for that go, but of a group that may not execute
 * it. */
static int give_vnode(struct vnode *v, uint64_t uid, uint64_t gid)
{
    int err = is_read_only(v) ? -EROFS : v->ops->give(v, (uint32_t)uid, (uint32_t)gid);
    uint32_t lost = S_ISUID | (v->mode & S_IXGRP ? S_ISGID : 0);

    if (!err && !vnode_is(v, S_IFDIR) && !vnode_is(v, S_IFLNK) && v->mode & lost)
        err = v->ops->change(v, v->mode & 07777 & ~lost);
    return err;
}

/* Gives what is at path a[0] to user a[1] and group a[2]. */
static int64_t give_at(const struct call *c, uint64_t dirfd, const uint64_t *a, uint64_t flags)
{
    struct vnode *v;

    if (flags & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    int err = path_find(c, dirfd, a[0], flags, &v);
    if (err)
        return err;
    err = give_vnode(v, a[1], a[2]);
    vnode_put(v);
    return err;
}

int64_t sys_chown(const struct call *c)
{
    return give_at(c, (uint64_t)AT_FDCWD, c->a, 0);
}

int64_t sys_lchown(const struct call *c)
{
    return give_at(c, (uint64_t)AT_FDCWD, c->a, AT_SYMLINK_NOFOLLOW);
}

int64_t sys_fchownat(const struct call *c)
{
    return give_at(c, c->a[0], c->a + 1, (uint32_t)c->a[4]);
}

int64_t sys_fchown(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int err = f ? give_vnode(f->v, c->a[1], c->a[2]) : -EBADF;

    file_put(f);
    return err;
}

/* Puts a file that can be written in place of one of an archive. */
static int own_file(struct vnode **v)
{
    struct vnode *old = *v;

    if (!old->data)
        return 0;
    int err = old->ops->own(old, true, v);
    if (!err)
        vnode_put(old);
    return err;
}

int64_t sys_truncate(const struct call *c)
{
    struct vnode *v;

    if (c->a[1] > INT64_MAX)
        return -EINVAL;
    int err = path_find(c, (uint64_t)AT_FDCWD, c->a[0], 0, &v);
    if (err)
        return err;
    err = vnode_is(v, S_IFDIR)    ? -EISDIR
          : !vnode_is(v, S_IFREG) ? -EINVAL
          : v->running            ? -ETXTBSY
          : is_read_only(v)       ? -EROFS
                                  : size_check(c, v, c->a[1]) ?: own_file(&v);
    err = err ?: v->ops->set_size(v, c->a[1]);
    vnode_put(v);
    return err;
}
