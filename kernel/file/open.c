/* Opening what is at a path; see file.h. */
#include "kernel/file/file.h"
#include <linux/fcntl.h>
#include <linux/stat.h>

#define OWN_TRIES 8

static bool writes_to(const struct vnode *v, uint32_t flags)
{
    return vnode_is(v, S_IFREG) && !(flags & O_PATH) &&
           ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC));
}

/* Returns whether a vnode can be opened so. */
static int check_opening(const struct vnode *v, uint32_t flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);

    if ((flags & O_DIRECTORY) && !vnode_is(v, S_IFDIR))
        return vnode_is(v, S_IFLNK) && !(flags & O_PATH) ? -ELOOP : -ENOTDIR;
    if (flags & O_PATH)
        return 0;
    switch (v->mode & S_IFMT) {
    case S_IFLNK:
        return -ELOOP;
    case S_IFDIR:
        return writes || (flags & O_CREAT) ? -EISDIR : 0;
    case S_IFREG:
        if (!writes)
            return 0;
        if (__atomic_load_n(&v->running, __ATOMIC_RELAXED))
            return -ETXTBSY;
        return v->mount && v->mount->read_only ? -EROFS : 0;
    case S_IFSOCK:
        return -ENXIO;
    default:
        return 0;
    }
}

/* Makes a file where there is none. */
static int create_file(const struct path_start *start, const char *path, uint32_t mode,
                       struct vnode **out)
{
    struct path_last last;
    int err = path_last(start, path, &last);

    if (err)
        return err;
    if (last.slash)
        err = -EISDIR;
    else if (!last.folder->mount || last.folder->mount->read_only)
        err = -EROFS;
    else
        err = last.folder->ops->create(last.folder, last.name, last.n, S_IFREG | mode, NULL, out);
    vnode_put(last.folder);
    return err;
}

static int find_or_create(const struct path_start *start, const char *path, uint32_t flags,
                          uint32_t mode, struct vnode **out)
{
    bool once = (flags & O_CREAT) && (flags & O_EXCL);
    int err = path_walk(start, path, once || (flags & O_NOFOLLOW) ? PATH_NOFOLLOW : 0, out);

    if (!err && once) {
        vnode_put(*out);
        return -EEXIST;
    }
    if (err != -ENOENT || !(flags & O_CREAT))
        return err;
    err = create_file(start, path, mode, out);
    /* Another thread was faster. */
    return err == -EEXIST && !once ? path_walk(start, path, 0, out) : err;
}

/* Finds what is to be opened. A file of an archive is replaced by one that can be written, if it is
 * to be. */
static int find_to_open(const struct path_start *start, const char *path, uint32_t flags,
                        uint32_t mode, struct vnode **out)
{
    for (unsigned tries = 0; tries < OWN_TRIES; tries++) {
        struct vnode *v;
        int err = find_or_create(start, path, flags, mode, &v);
        if (err)
            return err;
        err = check_opening(v, flags);
        if (!err && (!writes_to(v, flags) || !v->data)) {
            *out = v;
            return 0;
        }
        err = err ?: v->ops->own(v, !(flags & O_TRUNC), out);
        vnode_put(v);
        if (err != -ESTALE) /* else another thread was faster */
            return err;
    }
    return -ESTALE;
}

/* Makes and opens a file without a name (O_TMPFILE) in the folder at the path. */
static int open_apart(const struct path_start *start, const char *path, uint32_t flags,
                      uint32_t mode, struct file **out)
{
    struct vnode *folder, *v;

    if (!(flags & O_DIRECTORY) || (flags & O_CREAT) || (flags & O_ACCMODE) == O_RDONLY)
        return -EINVAL;
    int err = path_walk(start, path, PATH_FOLDER, &folder);
    if (err)
        return err;
    err = !folder->mount || folder->mount->read_only
              ? -EROFS
              : folder->ops->create_apart(folder, mode, !(flags & O_EXCL), &v);
    vnode_put(folder);
    if (err)
        return err;
    err = file_make(v, flags, out);
    vnode_put(v);
    return err;
}

/* Finds what is opened in the place of a FIFO or a device; others are opened themselves. */
static int find_opened(struct vnode *v, struct vnode **out)
{
    if (vnode_is(v, S_IFIFO))
        return fifo_find(v, out);
    int err = vnode_is(v, S_IFCHR) ? v->ops->follow(v, out) : -ENOSYS;
    if (err != -ENOSYS)
        return err;
    *out = vnode_get(v);
    return 0;
}

int file_open(const struct path_start *start, const char *path, uint32_t flags, uint32_t mode,
              struct file **out)
{
    struct vnode *v;

    if (flags & O_PATH)
        flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (flags & __O_TMPFILE)
        return open_apart(start, path, flags, mode & 07777, out);
    int err = find_to_open(start, path, flags, mode & 07777, &v);
    if (err)
        return err;
    if ((flags & O_TRUNC) && writes_to(v, flags))
        err = v->ops->set_size(v, 0);
    if (!err && !(flags & O_PATH)) {
        struct vnode *named = v;
        err = find_opened(named, &v);
        vnode_put(named);
        if (err)
            return err;
    }
    if (!err)
        err = file_make(v, flags, out);
    vnode_put(v);
    return err;
}
