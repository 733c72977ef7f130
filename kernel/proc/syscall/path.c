/* System calls on paths: what is there. change.c beside it has those that make and remove. */
#include "kernel/arch/arch.h"
#include "kernel/fs/fs.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/user.h"
#include "mm/object.h"
#include <asm/stat.h>
#include <asm/statfs.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <linux/fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>

/* ---- Paths ----------------------------------------------------------------------------------- */

int path_take(char **out, vaddr_t from)
{
    int err = user_take_string(out, VNODE_PATH_MAX, from);

    return err == -E2BIG ? -ENAMETOOLONG : err;
}

int path_begin(const struct call *c, uint64_t dirfd, const char *path, struct path_start *out)
{
    *out = (struct path_start){.root = fs_root()};
    if (path[0] == '/') {
        out->here = vnode_get(out->root);
        return 0;
    }
    if ((int)dirfd == AT_FDCWD) {
        out->here = files_here(c->p->files);
        return 0;
    }
    struct file *f = files_find_any(c->p->files, (uint32_t)dirfd);
    int err = !f ? -EBADF : vnode_is(f->v, S_IFDIR) ? 0 : -ENOTDIR;
    if (!err)
        out->here = vnode_get(f->v);
    file_put(f);
    return err;
}

/* Finds what a descriptor has: the empty path. */
static int find_open(const struct call *c, uint64_t dirfd, struct vnode **out)
{
    if ((int)dirfd == AT_FDCWD) {
        *out = files_here(c->p->files);
        return 0;
    }
    struct file *f = files_find_any(c->p->files, (uint32_t)dirfd);
    if (!f)
        return -EBADF;
    *out = vnode_get(f->v);
    file_put(f);
    return 0;
}

int path_find(const struct call *c, uint64_t dirfd, vaddr_t path, uint64_t at, struct vnode **out)
{
    struct path_start start;
    char *text;
    int err = path_take(&text, path);

    if (err)
        return err;
    if (!text[0]) {
        err = at & AT_EMPTY_PATH ? find_open(c, dirfd, out) : -ENOENT;
    } else {
        err = path_begin(c, dirfd, text, &start);
        if (!err) {
            err = path_walk(&start, text, at & AT_SYMLINK_NOFOLLOW ? PATH_NOFOLLOW : 0, out);
            vnode_put(start.here);
        }
    }
    kfree(text);
    return err;
}

/* ---- Opening --------------------------------------------------------------------------------- */

_Static_assert(PATH_NO_MOUNTS == RESOLVE_NO_XDEV && PATH_NO_JUMPS == RESOLVE_NO_MAGICLINKS &&
                   PATH_NO_LINKS == RESOLVE_NO_SYMLINKS && PATH_BENEATH == RESOLVE_BENEATH &&
                   PATH_IN_ROOT == RESOLVE_IN_ROOT,
               "rules of walks");

/* Opens what is at a path, of whose walk `rules` holds. */
static int64_t open_at(const struct call *c, uint64_t dirfd, vaddr_t path,
                       const struct open_how *how)
{
    uint64_t flags = how->flags, mode = how->mode;
    unsigned rules = (unsigned)how->resolve & ~(unsigned)RESOLVE_CACHED;
    struct path_start start;
    struct file *f;
    char *text;
    int err = path_take(&text, path);

    if (err)
        return err;
    /* In a root of its own, an absolute path begins where others do. */
    err = path_begin(c, dirfd, rules & PATH_IN_ROOT ? "" : text, &start);
    if (!err) {
        start.rules = rules;
        if (rules & PATH_IN_ROOT)
            start.root = start.here;
        uint32_t umask = __atomic_load_n(&c->p->files->umask, __ATOMIC_RELAXED);
        err = file_open(&start, text, (uint32_t)flags | O_LARGEFILE, (uint32_t)mode & ~umask, &f);
        vnode_put(start.here);
    }
    kfree(text);
    return err ? err : file_give(c, f, flags & O_CLOEXEC);
}

int64_t sys_open(const struct call *c)
{
    return open_at(c, (uint64_t)AT_FDCWD, c->a[0],
                   &(struct open_how){.flags = (uint32_t)c->a[1], .mode = c->a[2]});
}

int64_t sys_openat(const struct call *c)
{
    return open_at(c, c->a[0], c->a[1],
                   &(struct open_how){.flags = (uint32_t)c->a[2], .mode = c->a[3]});
}

#define OPEN_FLAGS                                                                                 \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | FASYNC | \
     O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH |          \
     __O_TMPFILE)
#define OPEN_PATH_FLAGS (O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC)
#define OPEN_RULES                                                                     \
    (RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | \
     RESOLVE_IN_ROOT | RESOLVE_CACHED)

/* openat2(2) refuses what it does not know. */
static int check_how(const struct open_how *how)
{
    uint64_t both = RESOLVE_BENEATH | RESOLVE_IN_ROOT;
    bool makes = how->flags & (O_CREAT | __O_TMPFILE);

    if (how->flags & ~(uint64_t)OPEN_FLAGS || how->resolve & ~(uint64_t)OPEN_RULES ||
        (how->resolve & both) == both || how->mode & ~07777ull || (how->mode && !makes))
        return -EINVAL;
    if ((how->flags & O_PATH) && (how->flags & ~(uint64_t)OPEN_PATH_FLAGS))
        return -EINVAL;
    /* All is at hand without a wait, but what is made. */
    return (how->resolve & RESOLVE_CACHED) && (makes || (how->flags & O_TRUNC)) ? -EAGAIN : 0;
}

int64_t sys_openat2(const struct call *c)
{
    struct open_how how = {0};
    int err = user_get_struct(&how, sizeof(how), sizeof(how), c->a[2], c->a[3]);

    return err ?: check_how(&how) ?: open_at(c, c->a[0], c->a[1], &how);
}

int64_t sys_memfd_create(const struct call *c)
{
    char name[VNODE_NAME_MAX + 1] = "/memfd:";
    const size_t front = sizeof("/memfd:") - 1;
    struct object *o;
    struct file *f;

    if (c->a[1] & ~(uint64_t)(MFD_CLOEXEC | MFD_ALLOW_SEALING))
        return -EINVAL;
    int err = user_copy_string(name + front, sizeof(name) - front, c->a[0]);
    if (err)
        return err == -E2BIG ? -EINVAL : err;
    struct vnode *v = fs_make_memory(name);
    if (!v)
        return -ENOMEM;
    err = v->ops->object(v, &o);
    if (!err && (c->a[1] & MFD_ALLOW_SEALING))
        object_allow_seals(o);
    err = err ?: file_make(v, O_RDWR, &f);
    vnode_put(v);
    return err ? err : file_give(c, f, c->a[1] & MFD_CLOEXEC);
}

int64_t sys_creat(const struct call *c)
{
    return open_at(c, (uint64_t)AT_FDCWD, c->a[0],
                   &(struct open_how){.flags = O_CREAT | O_WRONLY | O_TRUNC, .mode = c->a[1]});
}

/* ---- stat ------------------------------------------------------------------------------------ */

static void stat_vnode(struct vnode *v, struct vnode_stat *s, uint32_t *device)
{
    v->ops->stat(v, s);
    *device = v->mount ? v->mount->device : 0;
}

int stat_put(vaddr_t to, struct vnode *v)
{
    struct vnode_stat s;
    uint32_t device;

    stat_vnode(v, &s, &device);
    struct stat out = {.st_dev = device_number(0, device),
                       .st_ino = s.id,
                       .st_mode = s.mode,
                       .st_nlink = s.links,
                       .st_uid = s.uid,
                       .st_gid = s.gid,
                       .st_rdev = device_number(s.major, s.minor),
                       .st_size = (int64_t)s.size,
                       .st_blksize = PAGE_SIZE,
                       .st_blocks = (int64_t)s.blocks,
                       .st_atime = (unsigned long)s.accessed.s,
                       .st_atime_nsec = s.accessed.ns,
                       .st_mtime = (unsigned long)s.modified.s,
                       .st_mtime_nsec = s.modified.ns,
                       .st_ctime = (unsigned long)s.changed.s,
                       .st_ctime_nsec = s.changed.ns};
    return arch_copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

static int64_t stat_at(const struct call *c, uint64_t dirfd, vaddr_t path, uint64_t at, vaddr_t to)
{
    struct vnode *v;
    int err = path_find(c, dirfd, path, at, &v);

    if (err)
        return err;
    err = stat_put(to, v);
    vnode_put(v);
    return err;
}

int64_t sys_stat(const struct call *c)
{
    return stat_at(c, (uint64_t)AT_FDCWD, c->a[0], 0, c->a[1]);
}

int64_t sys_lstat(const struct call *c)
{
    return stat_at(c, (uint64_t)AT_FDCWD, c->a[0], AT_SYMLINK_NOFOLLOW, c->a[1]);
}

int64_t sys_newfstatat(const struct call *c)
{
    if (c->a[3] & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT))
        return -EINVAL;
    return stat_at(c, c->a[0], c->a[1], c->a[3], c->a[2]);
}

static int put_statx(vaddr_t to, struct vnode *v)
{
    struct vnode_stat s;
    uint32_t device;

    stat_vnode(v, &s, &device);
    struct statx out = {.stx_mask = STATX_BASIC_STATS,
                        .stx_blksize = PAGE_SIZE,
                        .stx_nlink = s.links,
                        .stx_uid = s.uid,
                        .stx_gid = s.gid,
                        .stx_mode = (uint16_t)s.mode,
                        .stx_ino = s.id,
                        .stx_size = s.size,
                        .stx_blocks = s.blocks,
                        .stx_atime = {.tv_sec = s.accessed.s, .tv_nsec = s.accessed.ns},
                        .stx_ctime = {.tv_sec = s.changed.s, .tv_nsec = s.changed.ns},
                        .stx_mtime = {.tv_sec = s.modified.s, .tv_nsec = s.modified.ns},
                        .stx_rdev_major = s.major,
                        .stx_rdev_minor = s.minor,
                        .stx_dev_minor = device};
    return arch_copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

int64_t sys_statx(const struct call *c)
{
    struct vnode *v;

    if ((c->a[2] &
         ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE)) ||
        (c->a[3] & STATX__RESERVED))
        return -EINVAL;
    int err = path_find(c, c->a[0], c->a[1], c->a[2], &v);
    if (err)
        return err;
    err = put_statx(c->a[4], v);
    vnode_put(v);
    return err;
}

static int put_statfs(vaddr_t to, const struct vnode *v)
{
    struct mount_usage u = {.block_bytes = (uint32_t)PAGE_SIZE, .name_max = VNODE_NAME_MAX};
    const struct mount *m = v->mount;
    int err = m ? m->usage(m, &u) : 0;
    struct statfs out = {.f_type = m ? m->magic : 0,
                         .f_bsize = u.block_bytes,
                         .f_frsize = u.block_bytes,
                         .f_blocks = (__statfs_word)u.blocks,
                         .f_bfree = (__statfs_word)u.free,
                         .f_bavail = (__statfs_word)u.available,
                         .f_files = (__statfs_word)u.files,
                         .f_ffree = (__statfs_word)u.files_free,
                         .f_namelen = u.name_max,
                         .f_flags = 0x20 | (m && m->read_only)}; /* ST_VALID, ST_RDONLY */

    return err ? err : arch_copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

int64_t sys_statfs(const struct call *c)
{
    struct vnode *v;
    int err = path_find(c, (uint64_t)AT_FDCWD, c->a[0], 0, &v);

    if (err)
        return err;
    err = put_statfs(c->a[1], v);
    vnode_put(v);
    return err;
}

int64_t sys_fstatfs(const struct call *c)
{
    struct file *f = files_find_any(c->p->files, c->a[0]);
    int err = f ? put_statfs(c->a[1], f->v) : -EBADF;

    file_put(f);
    return err;
}

/* ---- Rights and links ------------------------------------------------------------------------ */

/* The one user may do everything; but execute a file only if there is one who may. */
static int64_t access_at(const struct call *c, uint64_t dirfd, vaddr_t path, uint64_t mode,
                         uint64_t at)
{
    struct vnode *v;

    if (mode & ~7ull)
        return -EINVAL;
    int err = path_find(c, dirfd, path, at, &v);
    if (err)
        return err;
    bool file = vnode_is(v, S_IFREG);
    if ((mode & 2) && (file || vnode_is(v, S_IFDIR)) && v->mount && v->mount->read_only)
        err = -EROFS;
    else if ((mode & 1) && file && !(v->mode & 0111))
        err = -EACCES;
    vnode_put(v);
    return err;
}

int64_t sys_access(const struct call *c)
{
    return access_at(c, (uint64_t)AT_FDCWD, c->a[0], c->a[1], 0);
}

int64_t sys_faccessat(const struct call *c)
{
    return access_at(c, c->a[0], c->a[1], c->a[2], 0);
}

int64_t sys_faccessat2(const struct call *c)
{
    if (c->a[3] & ~(uint64_t)(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    return access_at(c, c->a[0], c->a[1], c->a[2], c->a[3]);
}

static int64_t readlink_at(const struct call *c, uint64_t dirfd, vaddr_t path, vaddr_t to,
                           uint64_t room)
{
    struct vnode *v;

    if ((int)room <= 0)
        return -EINVAL;
    int err = path_find(c, dirfd, path, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, &v);
    if (err)
        return err;
    char *text = kmalloc_unfilled(VNODE_PATH_MAX);
    int64_t n = text ? v->ops->readlink(v, text, VNODE_PATH_MAX) : -ENOMEM;
    n = n < 0 ? n : MIN(n, (int64_t)(int)room);
    if (n > 0 && arch_copy_to_user(to, text, (size_t)n))
        n = -EFAULT;
    kfree(text);
    vnode_put(v);
    return n;
}

int64_t sys_readlink(const struct call *c)
{
    return readlink_at(c, (uint64_t)AT_FDCWD, c->a[0], c->a[1], c->a[2]);
}

int64_t sys_readlinkat(const struct call *c)
{
    return readlink_at(c, c->a[0], c->a[1], c->a[2], c->a[3]);
}

/* ---- The working directory ------------------------------------------------------------------- */

int64_t sys_getcwd(const struct call *c)
{
    struct vnode *here = files_here(c->p->files);
    char *text = kmalloc_unfilled(VNODE_PATH_MAX);
    int64_t n = text ? path_of(here, text, VNODE_PATH_MAX) : -ENOMEM;

    if (n >= 0 && (uint64_t)n + 1 > c->a[1])
        n = -ERANGE;
    if (n >= 0)
        n = arch_copy_to_user(c->a[0], text, (size_t)n + 1) ? -EFAULT : n + 1;
    kfree(text);
    vnode_put(here);
    return n;
}

/* Takes the reference to v. */
static int64_t go_to(const struct call *c, struct vnode *v)
{
    if (!vnode_is(v, S_IFDIR)) {
        vnode_put(v);
        return -ENOTDIR;
    }
    files_go(c->p->files, v);
    return 0;
}

int64_t sys_chdir(const struct call *c)
{
    struct vnode *v;
    int err = path_find(c, (uint64_t)AT_FDCWD, c->a[0], 0, &v);

    return err ? err : go_to(c, v);
}

int64_t sys_fchdir(const struct call *c)
{
    struct vnode *v;
    int err = (int)c->a[0] == AT_FDCWD ? -EBADF : find_open(c, c->a[0], &v);

    return err ? err : go_to(c, v);
}

int64_t sys_umask(const struct call *c)
{
    return __atomic_exchange_n(&c->p->files->umask, (uint32_t)c->a[0] & 0777, __ATOMIC_RELAXED);
}

/* ---- Extended attributes --------------------------------------------------------------------- */

/* No file system has them. */
int64_t sys_no_attributes(UNUSED const struct call *c)
{
    return -EOPNOTSUPP;
}

/* The same by descriptor. */
int64_t sys_no_attributes_open(const struct call *c)
{
    struct file *f = files_find(c->p->files, c->a[0]);

    file_put(f);
    return f ? -EOPNOTSUPP : -EBADF;
}
