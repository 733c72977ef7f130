/* Opening what is at a path; see file.h. */
#include "kernel/file/file.h"
#include <linux/fcntl.h>
#include <linux/stat.h>

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
        return writes && v->mount && v->mount->read_only ? -EROFS : 0;
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

int file_open(const struct path_start *start, const char *path, uint32_t flags, uint32_t mode,
              struct file **out)
{
    struct vnode *v;

    if ((flags & O_TMPFILE) == O_TMPFILE)
        return -EOPNOTSUPP;
    if (flags & O_PATH)
        flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int err = find_or_create(start, path, flags, mode & 07777, &v);
    if (err)
        return err;
    err = check_opening(v, flags);
    if (!err && (flags & O_TRUNC) && vnode_is(v, S_IFREG))
        err = v->ops->resize(v, 0);
    if (!err)
        err = file_make(v, flags, out);
    vnode_put(v);
    return err;
}
