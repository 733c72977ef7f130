/* See vnode.h. */
#include "kernel/fs/vnode.h"
#if __STDC_HOSTED__
#include <poll.h>
#else
#include <linux/poll.h>
#endif

uint64_t proc_user;

int vnode_no_lookup(UNUSED struct vnode *folder, UNUSED const char *name, UNUSED size_t n,
                    UNUSED struct vnode **out)
{
    return -ENOTDIR;
}

struct vnode *vnode_no_parent(UNUSED struct vnode *v)
{
    return NULL;
}

int vnode_no_list(UNUSED struct vnode *folder, UNUSED uint64_t cursor, UNUSED vnode_entry *take,
                  UNUSED void *to)
{
    return -ENOTDIR;
}

int64_t vnode_no_readlink(UNUSED struct vnode *link, UNUSED char *to, UNUSED size_t room)
{
    return -EINVAL;
}

int vnode_no_follow(UNUSED struct vnode *link, UNUSED struct vnode **out)
{
    return -ENOSYS;
}

void vnode_stat(struct vnode *v, struct vnode_stat *out)
{
    *out = (struct vnode_stat){.id = v->id,
                               .size = v->size,
                               .blocks = (v->size + 511) / 512,
                               .mode = v->mode,
                               .links = vnode_is(v, S_IFDIR) ? 2 : 1,
                               .uid = v->uid,
                               .gid = v->gid,
                               .major = v->major,
                               .minor = v->minor,
                               .accessed = v->accessed,
                               .modified = v->modified,
                               .changed = v->changed};
}

int vnode_open(UNUSED struct vnode *v, UNUSED unsigned flags, UNUSED void **state)
{
    return 0;
}

void vnode_close(UNUSED struct vnode *v, UNUSED void *state)
{
}

int64_t vnode_no_read(struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                      UNUSED uint64_t at, UNUSED void *to, UNUSED size_t n)
{
    return vnode_is(v, S_IFDIR) ? -EISDIR : -EINVAL;
}

int64_t vnode_no_write(UNUSED struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                       UNUSED uint64_t at, UNUSED const void *from, UNUSED size_t n)
{
    return -EINVAL;
}

int64_t vnode_read_data(struct vnode *v, UNUSED void *state, UNUSED unsigned flags, uint64_t at,
                        void *to, size_t n)
{
    if (vnode_is(v, S_IFDIR))
        return -EISDIR;
    if (at >= v->size)
        return 0;
    n = MIN(n, v->size - at);
    memcpy(to, (const char *)v->data + at, n);
    return (int64_t)n;
}

unsigned vnode_poll(UNUSED struct vnode *v, UNUSED void *state)
{
    return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
}

int64_t vnode_no_ioctl(UNUSED struct vnode *v, UNUSED void *state, UNUSED uint32_t request,
                       UNUSED uint64_t arg)
{
    return -ENOTTY;
}

int vnode_no_create(UNUSED struct vnode *folder, UNUSED const char *name, UNUSED size_t n,
                    UNUSED uint32_t mode, UNUSED const char *target, UNUSED struct vnode **out)
{
    return -EROFS;
}

int vnode_no_remove(UNUSED struct vnode *folder, UNUSED const char *name, UNUSED size_t n,
                    UNUSED bool is_folder)
{
    return -EROFS;
}

int vnode_no_rename(UNUSED struct vnode *from, UNUSED const char *name, UNUSED size_t n,
                    UNUSED struct vnode *to, UNUSED const char *new_name, UNUSED size_t new_n)
{
    return -EROFS;
}

int vnode_no_exchange_names(UNUSED struct vnode *a, UNUSED const char *a_name, UNUSED size_t a_n,
                            UNUSED struct vnode *b, UNUSED const char *b_name, UNUSED size_t b_n)
{
    return -EINVAL;
}

int vnode_no_resize(UNUSED struct vnode *v, UNUSED uint64_t size)
{
    return -EROFS;
}

int vnode_no_change(UNUSED struct vnode *v, UNUSED uint32_t mode)
{
    return -EROFS;
}

int vnode_no_give(UNUSED struct vnode *v, UNUSED uint32_t uid, UNUSED uint32_t gid)
{
    return -EROFS;
}

int vnode_no_own(UNUSED struct vnode *v, UNUSED bool copied, UNUSED struct vnode **out)
{
    return -EROFS;
}

int vnode_no_stamp(UNUSED struct vnode *v, UNUSED const struct vnode_time *accessed,
                   UNUSED const struct vnode_time *modified)
{
    return -EROFS;
}

int vnode_no_link(UNUSED struct vnode *folder, UNUSED const char *name, UNUSED size_t n,
                  UNUSED struct vnode *v)
{
    return -EROFS;
}

int vnode_no_object(UNUSED struct vnode *v, UNUSED struct object **out)
{
    return -ENODEV;
}

int64_t vnode_no_find(struct vnode *v, uint64_t at, bool hole)
{
    struct vnode_stat s;

    v->ops->stat(v, &s);
    return at >= s.size ? -ENXIO : (int64_t)(hole ? s.size : at);
}

int vnode_no_create_apart(UNUSED struct vnode *folder, UNUSED uint32_t mode, UNUSED bool linked,
                          UNUSED struct vnode **out)
{
    return -EOPNOTSUPP;
}

int vnode_no_punch(UNUSED struct vnode *v, UNUSED uint64_t at, UNUSED uint64_t n)
{
    return -EOPNOTSUPP;
}

int vnode_sync(UNUSED struct vnode *v, UNUSED void *state, UNUSED bool data)
{
    return 0;
}

void vnode_no_release(UNUSED struct vnode *v)
{
}

int mount_no_usage(UNUSED const struct mount *m, struct mount_usage *out)
{
    *out = (struct mount_usage){.block_bytes = (uint32_t)PAGE_SIZE, .name_max = VNODE_NAME_MAX};
    return 0;
}
