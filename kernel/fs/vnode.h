/*
 * What a name in the tree of files stands for: a file, folder, link or device. File systems are
 * tables of operations; path.c and kernel/file know vnodes by these alone.
 *
 * A vnode is found by lookup, referenced, and freed by its file system when the last reference
 * goes. What the fields say is fixed, but for size and times of files that can be written, which
 * are read without a lock.
 *
 * Operations run in thread context with no lock or gate held, and may sleep. They touch no user
 * memory; but `ioctl` does, by the copies of arch.h. None is NULL: vnode_no_*() stand for those
 * that a kind of vnode lacks.
 */
#pragma once
#include "kernel/lib/base.h"
#if __STDC_HOSTED__
#include <sys/stat.h>
#else
#include <linux/stat.h>
#endif

#define VNODE_NAME_MAX 255  /* bytes of one name */
#define VNODE_PATH_MAX 4096 /* bytes of a path, including its NUL */

struct vnode;
struct mount;
struct poll_source; /* kernel/file/file.h */
struct object;      /* mm/object.h */

/* Since 1970. */
struct vnode_time {
    int64_t s;
    uint32_t ns;
};
#define VNODE_TIME_NOW UINT32_MAX /* in place of ns: the time at which it is set */

/* What stat tells. */
struct vnode_stat {
    uint64_t id, size, blocks; /* blocks: of 512 bytes */
    uint32_t mode, links, uid, gid;
    uint32_t major, minor; /* of the device that it stands for */
    struct vnode_time accessed, modified, changed;
};

/* Takes an entry of a folder: its name, the vnode's id, the type as bits of S_IFMT, and the cursor
 * behind the entry. Returns whether it was taken. May be called with a lock held: it only stores to
 * kernel memory. */
typedef bool vnode_entry(void *to, const char *name, size_t n, uint64_t id, uint32_t type,
                         uint64_t cursor);

/* Bits of `flags` of open, read and write. APPEND: writes go to the end. NO_CONTROL: a terminal
 * does not become the caller's by being opened. */
enum {
    VNODE_READ = 1,
    VNODE_WRITE = 2,
    VNODE_NONBLOCK = 4,
    VNODE_APPEND = 8,
    VNODE_NO_CONTROL = 16
};

struct vnode_ops {
    bool stream;   /* it has no positions: reads and writes take what comes next */
    bool asked;    /* poll must be called again and again to notice what changes: no `changes` */
    bool two_ends; /* an opening that only reads hears no POLLOUT, one that only writes no POLLIN */
    /* Finds a name in a folder. Returns 0 with a reference, -ENOENT, -ENOTDIR or -ENOMEM. `.` and
     * `..` are not asked for. */
    int (*lookup)(struct vnode *folder, const char *name, size_t n, struct vnode **out);
    /* Returns the folder that it is in, referenced; of a file system's root NULL, as of what has
     * been removed. */
    struct vnode *(*parent)(struct vnode *v);
    /* Stores its name in that folder, without a NUL; a vnode without a folder has a name such as
     * "pipe:[7]". Returns its length, up to `room`. */
    size_t (*name)(struct vnode *v, char *to, size_t room);
    /* Calls `take` for entries behind the cursor, 0 at first, until one is not taken. `.` and `..`
     * are not among them. Returns 0 or -ENOTDIR. */
    int (*list)(struct vnode *folder, uint64_t cursor, vnode_entry *take, void *to);
    /* Stores the target of a symbolic link, without a NUL. Returns its length, at most `room`, or
     * -EINVAL: it is none. */
    int64_t (*readlink)(struct vnode *link, char *to, size_t room);
    /* Returns the vnode that a link leads to without a path, or that opening a device opens in its
     * place; referenced. -ENOSYS: follow the link's target, or open the device itself. */
    int (*follow)(struct vnode *link, struct vnode **out);
    void (*stat)(struct vnode *v, struct vnode_stat *out);

    /* Opens and closes it; *state belongs to this opening. Return 0 or an error. */
    int (*open)(struct vnode *v, unsigned flags, void **state);
    void (*close)(struct vnode *v, void *state);
    /* Read and write up to n bytes at an offset. Return the number of bytes, 0 at the end; -EAGAIN
     * if `flags` has VNODE_NONBLOCK and it would sleep; -EINTR; -EISDIR; -EINVAL. */
    int64_t (*read)(struct vnode *v, void *state, unsigned flags, uint64_t at, void *to, size_t n);
    int64_t (*write)(struct vnode *v, void *state, unsigned flags, uint64_t at, const void *from,
                     size_t n);
    /* Returns what of POLLIN, POLLOUT, POLLHUP, POLLERR holds now. */
    unsigned (*poll)(struct vnode *v, void *state);
    /* Returns the call's result; -ENOTTY: no such request. `arg`: a user address mostly. */
    int64_t (*ioctl)(struct vnode *v, void *state, uint32_t request, uint64_t arg);

    /* Change the file system, which can be written. Names are not `.` or `..`. Errors as of Linux's
     * calls. */
    int (*create)(struct vnode *folder, const char *name, size_t n, uint32_t mode,
                  const char *target, struct vnode **out);
    int (*remove)(struct vnode *folder, const char *name, size_t n, bool is_folder);
    int (*rename)(struct vnode *from, const char *name, size_t n, struct vnode *to,
                  const char *new_name, size_t new_n);
    /* Exchanges two names' files. */
    int (*exchange_names)(struct vnode *a, const char *a_name, size_t a_n, struct vnode *b,
                          const char *b_name, size_t b_n);
    int (*set_size)(struct vnode *v, uint64_t size);
    int (*change)(struct vnode *v, uint32_t mode);            /* permissions */
    int (*give)(struct vnode *v, uint32_t uid, uint32_t gid); /* its owner; UINT32_MAX: stays */
    /* Sets its times; NULL: one stays. */
    int (*stamp)(struct vnode *v, const struct vnode_time *accessed,
                 const struct vnode_time *modified);
    /* Gives `v`, which is no folder, one more name. */
    int (*link)(struct vnode *folder, const char *name, size_t n, struct vnode *v);
    /* Makes a file in the folder's file system that has no name; `linked`: it may get one, by
     * `link`. Returns 0 with a reference. */
    int (*create_apart)(struct vnode *folder, uint32_t mode, bool linked, struct vnode **out);
    /* Returns once what was written has come to where it stays; `data`: attributes need not. */
    int (*sync)(struct vnode *v, void *state, bool data);
    /* Puts a file that can be written in place of one whose contents are `data`, which stay for
     * those that have it open; `copied`: with these contents. Returns 0 with a reference to the new
     * one; -ESTALE: the old one has left its folder; -ENOSPC; -EFBIG; -EROFS. */
    int (*own)(struct vnode *v, bool copied, struct vnode **out);
    /* Stores the object with its contents, to be mapped: it is the vnode's as long as that is
     * referenced. Returns 0; -ENODEV: it has none; -ENOSPC. */
    int (*object)(struct vnode *v, struct object **out);
    /* Returns the first byte from `at` on that is in a hole, or, not `hole`, in none: a hole is
     * what was never written, and what is behind the end. -ENXIO: there is none, or `at` is not in
     * it. */
    int64_t (*find)(struct vnode *v, uint64_t at, bool hole);
    /* Makes bytes of a file that can be written a hole. Its size stays. */
    int (*punch)(struct vnode *v, uint64_t at, uint64_t n);
    /* Frees it, as the last reference is gone. */
    void (*release)(struct vnode *v);
};

/* The one user, as which all programs run: new files are its. [-] after boot. */
extern uint64_t proc_user;

struct vnode {
    const struct vnode_ops *ops;
    struct poll_source *changes; /* tells what poll returns; NULL: it never changes, or is asked */
    struct mount *mount;         /* the file system it is in; NULL: none, as a pipe */
    struct mount *covered;       /* the file system that is mounted on it, or NULL; fixed at boot */
    uint64_t id;                 /* unique in its file system */
    uint32_t refs;               /* atomic */
    uint32_t running;            /* atomic: processes whose program it is; none may write it then */
    uint32_t mode;               /* type and permissions */
    uint32_t uid, gid;
    uint32_t major, minor; /* of a device */
    /* Contents that lie in memory for ever, as of an archive's files; NULL: only ops->read knows
     * them. Of a link: its target. */
    const void *data;
    uint64_t size; /* bytes */
    struct vnode_time accessed, modified, changed;
};

/* What statfs tells. */
struct mount_usage {
    uint32_t block_bytes, name_max;
    uint64_t blocks, free, available; /* of block_bytes */
    uint64_t files, files_free;
};

/* A file system in the tree. Fixed after boot. */
struct mount {
    struct vnode *root;
    struct vnode *on; /* the folder it covers; NULL: it is the root of all */
    const char *type; /* as in /proc/mounts: "tmpfs" */
    const char *of;   /* what it shows there; NULL: the type says it */
    /* Tells how much of it is in use. Thread context. Returns 0 or an error. */
    int (*usage)(const struct mount *m, struct mount_usage *out);
    uint32_t magic;  /* as statfs tells it: TMPFS_MAGIC */
    uint32_t device; /* number, as st_dev's minor */
    bool read_only;
    struct mount *next; /* in fs.h's list */
};

static inline bool vnode_is(const struct vnode *v, uint32_t type)
{
    return (v->mode & S_IFMT) == type;
}

static inline struct vnode *vnode_get(struct vnode *v)
{
    __atomic_fetch_add(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

/* Drops a reference; of NULL: nothing. */
static inline void vnode_put(struct vnode *v)
{
    if (v && __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL) == 0)
        v->ops->release(v);
}

/* ---- vnode.c: what a kind of vnode lacks ----------------------------------------------------- */
int vnode_no_lookup(struct vnode *folder, const char *name, size_t n, struct vnode **out);
struct vnode *vnode_no_parent(struct vnode *v);
int vnode_no_list(struct vnode *folder, uint64_t cursor, vnode_entry *take, void *to);
int64_t vnode_no_readlink(struct vnode *link, char *to, size_t room);
int vnode_no_follow(struct vnode *link, struct vnode **out);
/* Tells what the fields say. */
void vnode_stat(struct vnode *v, struct vnode_stat *out);
int vnode_open(struct vnode *v, unsigned flags, void **state); /* needs no state */
void vnode_close(struct vnode *v, void *state);
int64_t vnode_no_read(struct vnode *v, void *state, unsigned flags, uint64_t at, void *to,
                      size_t n);
int64_t vnode_no_write(struct vnode *v, void *state, unsigned flags, uint64_t at, const void *from,
                       size_t n);
/* Reads `data`. */
int64_t vnode_read_data(struct vnode *v, void *state, unsigned flags, uint64_t at, void *to,
                        size_t n);
unsigned vnode_poll(struct vnode *v, void *state); /* can be read and written at once */
int64_t vnode_no_ioctl(struct vnode *v, void *state, uint32_t request, uint64_t arg);
/* Of a file system that cannot be written: -EROFS. */
int vnode_no_create(struct vnode *folder, const char *name, size_t n, uint32_t mode,
                    const char *target, struct vnode **out);
int vnode_no_remove(struct vnode *folder, const char *name, size_t n, bool is_folder);
int vnode_no_rename(struct vnode *from, const char *name, size_t n, struct vnode *to,
                    const char *new_name, size_t new_n);
int vnode_no_exchange_names(struct vnode *a, const char *a_name, size_t a_n, struct vnode *b,
                            const char *b_name, size_t b_n);
int vnode_no_resize(struct vnode *v, uint64_t size);
int vnode_no_change(struct vnode *v, uint32_t mode);
int vnode_no_give(struct vnode *v, uint32_t uid, uint32_t gid);
int vnode_no_own(struct vnode *v, bool copied, struct vnode **out);
int vnode_no_stamp(struct vnode *v, const struct vnode_time *accessed,
                   const struct vnode_time *modified);
int vnode_no_link(struct vnode *folder, const char *name, size_t n, struct vnode *v);
int vnode_no_object(struct vnode *v, struct object **out);
int64_t vnode_no_find(struct vnode *v, uint64_t at, bool hole); /* it has no holes */
int vnode_no_create_apart(struct vnode *folder, uint32_t mode, bool linked, struct vnode **out);
int vnode_no_punch(struct vnode *v, uint64_t at, uint64_t n);
int vnode_sync(struct vnode *v, void *state, bool data); /* it is where it stays */
/* The operations that change a file system, of one that cannot be written; but for `set_size`, and
 * in the first list for those that change attributes. */
#define VNODE_OPS_FIXED_BUT_ATTRIBUTES                                                         \
    .create = vnode_no_create, .remove = vnode_no_remove, .rename = vnode_no_rename,           \
    .link = vnode_no_link, .sync = vnode_sync, .own = vnode_no_own, .object = vnode_no_object, \
    .find = vnode_no_find, .punch = vnode_no_punch, .create_apart = vnode_no_create_apart,     \
    .exchange_names = vnode_no_exchange_names
#define VNODE_OPS_FIXED                                                               \
    VNODE_OPS_FIXED_BUT_ATTRIBUTES, .change = vnode_no_change, .give = vnode_no_give, \
                                    .stamp = vnode_no_stamp
/* What the operations of a stream have in common that is in no folder, as of a pipe. */
#define VNODE_OPS_NOWHERE                                                                        \
    .stream = true, .lookup = vnode_no_lookup, .parent = vnode_no_parent, .list = vnode_no_list, \
    .readlink = vnode_no_readlink, .follow = vnode_no_follow, .set_size = vnode_no_resize,       \
    VNODE_OPS_FIXED
void vnode_no_release(struct vnode *v);                             /* it is not freed */
int mount_no_usage(const struct mount *m, struct mount_usage *out); /* nothing is stored in it */
