/* The inside of a tree of files, for tree*.c only. */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/fs/tree.h"
#include "kernel/lib/list.h"
#include "mm/object.h"

/*
 * [T] = the tree's lock; of a tree that is read-only once it is built, nothing changes. A node in a
 * folder is referenced by it, and references it in turn.
 */
struct node {
    struct vnode v;
    struct tree *tree;
    struct node *parent; /* [T] NULL: the root, or it has been removed */
    const char *name;    /* [T] not ended by NUL */
    uint32_t name_n;     /* [T] */
    bool own_name;       /* [T] `name` is freed with the node */
    bool nameless;       /* [T] it was made without a name, and may get one */
    uint32_t links;      /* [T] names of a file; of a folder 2, and one for each folder in it */
    uint64_t cursor;     /* [T] of its entry, ascending in a folder's list */
    struct list beside;  /* [T] in the folder's children */
    struct list children;
    struct node *listed;   /* [T] of a folder: the child that was listed last, or NULL */
    struct node *next;     /* [T] in its bucket */
    struct object *object; /* [A] contents of a file, made once; NULL: none */
    char *own_target;      /* [-] of a link that a program made: freed with the node */
    struct node *same; /* the node that has its contents, referenced, for a hard link; or NULL */
};

struct tree {
    struct mount mount;
    struct spinlock lock;
    struct node **buckets; /* [T] of nodes by folder and name */
    uint64_t bucket_count, node_count, last_id, last_cursor;
    struct object_store store, archived; /* of all contents that were written, or are archives' */
};

extern const struct vnode_ops tree_ops;

static inline struct node *node_of(struct vnode *v)
{
    return container_of(v, struct node, v);
}

/* Returns the node with the contents of a name: of a hard link to a file that was written, or that
 * can be, the first one. Lock held. */
static inline struct node *node_file(struct node *n)
{
    return n->same && !n->same->v.data ? n->same : n;
}
/* Notes that the node's contents, `contents`, or else its attributes, have changed. Lock held. */
void node_changed(struct node *n, bool contents);
/* Takes the lock of a tree that can be written. Returns what tree_unlock() needs. */
bool tree_lock(struct tree *t);
void tree_unlock(struct tree *t, bool irq);
/* Makes room for one more node in the table. No lock held. Returns 0 or -ENOMEM. */
int tree_reserve(struct tree *t);
/* Makes a node that is in no folder, with one reference. Returns NULL without memory. */
struct node *node_make(struct tree *t, uint32_t mode);
/* Returns the child of this name, not referenced, or NULL. Lock held. */
struct node *node_child(const struct node *folder, const char *name, size_t n);
/* Puts a node into a folder that has none of this name; its reference becomes the folder's. After
 * tree_reserve(), lock held. */
void node_enter(struct node *folder, struct node *child, const char *name, size_t n, bool own);
/* Takes a node out of its folder. The caller drops the folder's reference, and the node's to its
 * parent, which is returned, without the lock. Lock held. */
struct node *node_leave(struct node *child);

/* ---- tree_object.c --------------------------------------------------------------------------- */
int node_object(struct vnode *v, struct object **out);
/* Returns the node's object, or NULL. Any context. */
static inline struct object *node_contents(const struct node *f)
{
    return __atomic_load_n(&f->object, __ATOMIC_ACQUIRE);
}
/* Frees the contents of a node that has no reference left. */
void node_free_contents(struct node *f);

/* ---- tree_write.c: operations that read and change what was written -------------------------- */
int64_t node_read(struct vnode *v, void *state, unsigned flags, uint64_t at, void *to, size_t n);
int64_t node_write(struct vnode *v, void *state, unsigned flags, uint64_t at, const void *from,
                   size_t n);
int node_resize(struct vnode *v, uint64_t size);
int node_create(struct vnode *v, const char *name, size_t n, uint32_t mode, const char *target,
                struct vnode **out);
int node_remove(struct vnode *v, const char *name, size_t n, bool is_folder);
int node_rename(struct vnode *from, const char *name, size_t n, struct vnode *to,
                const char *new_name, size_t new_n);
int node_exchange_names(struct vnode *a, const char *a_name, size_t a_n, struct vnode *b,
                        const char *b_name, size_t b_n);
int node_change(struct vnode *v, uint32_t mode);
int node_give(struct vnode *v, uint32_t uid, uint32_t gid);
int node_stamp(struct vnode *v, const struct vnode_time *accessed,
               const struct vnode_time *modified);
int node_link(struct vnode *folder, const char *name, size_t n, struct vnode *v);
int node_own(struct vnode *v, bool copied, struct vnode **out);
int node_create_apart(struct vnode *v, uint32_t mode, bool linked, struct vnode **out);
int64_t node_find(struct vnode *v, uint64_t at, bool hole);
int node_punch(struct vnode *v, uint64_t at, uint64_t n);
