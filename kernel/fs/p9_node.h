/* The inside of a folder of the host, for p9*.c only. */
#pragma once
#include "kernel/fs/p9.h"
#include "kernel/fs/p9_client.h"
#include "mm/object.h"

#define P9_BUCKETS 256
#define P9_KEPT    512 /* files that were closed, whose contents are kept in memory */

/* A file of the host that is in use. Locking: [L] the client's lock. */
struct p9_node {
    struct vnode v; /* size, mode, times: [A] as last told */
    struct p9_mount *of;
    struct p9_fid *fid;     /* [L] referenced: for its attributes, and to walk from */
    struct p9_fid *listing; /* [L] the folder, opened, or NULL */
    struct p9_node *parent; /* [L] referenced; NULL: the root, or removed */
    struct p9_node *next;   /* [L] in its bucket */
    uint64_t blocks, links; /* [A] as last told */
    struct object *object;  /* [A] contents of a file that has been opened, made once, or NULL */
    bool stale;             /* [A] the host has changed the file since its contents were read */
    bool wrote;             /* [A] this machine has, since its attributes were told */
    bool kept;              /* [L] among the mount's `kept` */
    uint32_t name_n;        /* [L] */
    char name[P9_NAME_MAX]; /* [L] */
};

struct p9_mount {
    struct mount mount;
    struct p9_client client;
    struct p9_node *buckets[P9_BUCKETS]; /* [L] by id */
    struct object_store store;
    struct mutex refreshing; /* around dropping contents that the host has changed, and cuts */
    struct p9_node *kept[P9_KEPT]; /* [L] referenced, or NULL */
    unsigned next_kept;            /* [L] */
};

static inline struct p9_node *p9_node_of(struct vnode *v)
{
    return container_of(v, struct p9_node, v);
}

/* ---- p9.c ------------------------------------------------------------------------------------ */
/* Returns the node's fid, referenced. */
struct p9_fid *p9_node_fid(struct p9_node *n);
int p9_lookup(struct vnode *v, const char *name, size_t n, struct vnode **out);
/* Makes a fid of its own for what a fid stands for. */
int p9_clone(struct p9_mount *m, struct p9_fid *from, struct p9_fid **out);
/* Notes that what has this name in a folder is in no folder any more, or has moved. */
void p9_removed(struct p9_node *folder, const char *name, size_t n);
void p9_moved(struct p9_node *from, const char *name, size_t n, struct p9_node *to,
              const char *new_name, size_t new_n);
/* Asks for a node's attributes. Returns 0 or an error. */
int p9_ask(struct p9_node *n);

/* ---- p9_file.c: requests about contents ------------------------------------------------------ */
/* Makes a fid of its own for a node, and opens it. */
int p9_open_fid(struct p9_node *n, uint32_t flags, struct p9_fid **out);
/* Reads up to n bytes by one request. Returns their number, 0 at the end, or an error. */
int64_t p9_read_part(struct p9_client *c, const struct p9_fid *fid, uint64_t at, void *to,
                     uint32_t n);
/* Reads n pages by one request; zeros behind the end. Returns 0 or an error. */
int p9_read_pages(struct p9_client *c, const struct p9_fid *fid, uint64_t page, unsigned n,
                  const paddr_t *frames);
/* Writes n bytes. Returns their number or an error. */
int64_t p9_write_all(struct p9_client *c, const struct p9_fid *fid, uint64_t at, const void *from,
                     size_t n);
/* Returns the bytes of data that fit into one message. */
uint32_t p9_io_max(const struct p9_client *c);
int p9_list(struct vnode *v, uint64_t cursor, vnode_entry *take, void *to);
int64_t p9_readlink(struct vnode *v, char *to, size_t room);

/* ---- p9_contents.c: contents in memory ------------------------------------------------------- */
int p9_open(struct vnode *v, unsigned flags, void **state);
void p9_close(struct vnode *v, void *state);
int64_t p9_read(struct vnode *v, void *state, unsigned flags, uint64_t at, void *to, size_t n);
int64_t p9_write(struct vnode *v, void *state, unsigned flags, uint64_t at, const void *from,
                 size_t n);
int p9_sync(struct vnode *v, void *state, bool data);
int p9_object(struct vnode *v, struct object **out);
int p9_resize(struct vnode *v, uint64_t size);
/* Notes what attributes say of the contents, before the node has them. */
void p9_note_contents(struct p9_node *n, const struct p9_attributes *a);
/* Takes a node out of those that are kept. Lock held. Returns whether its reference is to be
 * dropped. */
bool p9_unkeep_locked(struct p9_node *n);

/* ---- p9_change.c: names and attributes ------------------------------------------------------- */
int p9_create(struct vnode *v, const char *name, size_t n, uint32_t mode, const char *target,
              struct vnode **out);
int p9_remove(struct vnode *v, const char *name, size_t n, bool is_folder);
int p9_rename(struct vnode *from, const char *name, size_t n, struct vnode *to,
              const char *new_name, size_t new_n);
int p9_link(struct vnode *folder, const char *name, size_t n, struct vnode *v);
/* Has the host change a file's size. */
int p9_set_size(struct p9_node *n, uint64_t size);
int p9_change(struct vnode *v, uint32_t mode);
int p9_give(struct vnode *v, uint32_t uid, uint32_t gid);
int p9_stamp(struct vnode *v, const struct vnode_time *accessed, const struct vnode_time *modified);
