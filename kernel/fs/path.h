/*
 * Walks along paths, over the operations of vnodes alone. Thread context, no lock held.
 */
#pragma once
#include "kernel/fs/vnode.h"

#define PATH_LINKS_MAX 40 /* symbolic links followed by one walk */

/* Where paths begin: both are referenced while a walk lasts. */
struct path_start {
    struct vnode *root; /* of absolute paths; `..` does not lead out of it */
    struct vnode *here; /* of others */
    unsigned rules;     /* PATH_NO_MOUNTS ... */
};

/* Bits of `rules`: what a walk does not pass, as `resolve` of openat2(2). A walk that would leave a
 * file system, or `here`, is -EXDEV; one that would follow such a link -ELOOP. */
enum {
    PATH_NO_MOUNTS = 1, /* into another file system */
    PATH_NO_JUMPS = 2,  /* links that lead somewhere without a path, as /proc/self/fd/0 */
    PATH_NO_LINKS = 4,  /* links */
    PATH_BENEATH = 8,   /* out of `here` */
    PATH_IN_ROOT = 16,  /* out of `here`, which is also where absolute paths begin: as `root` */
};

/* Bits of `flags`. A path that ends in '/' leads to a folder, through a link. */
enum {
    PATH_NOFOLLOW = 1, /* a link at the end is not followed */
    PATH_FOLDER = 2,   /* it must lead to a folder */
};

/* Finds what the path leads to. Returns 0 with a reference; -ENOENT, also of the empty path;
 * -ENOTDIR; -ELOOP: more than PATH_LINKS_MAX links; -ENAMETOOLONG; -ENOMEM. */
int path_walk(const struct path_start *start, const char *path, unsigned flags, struct vnode **out);

/* The last name of a path, and its folder: for what is made, removed or renamed. */
struct path_last {
    struct vnode *folder; /* referenced */
    const char *name;     /* in the path; n 0: the path is "/" */
    size_t n;
    bool slash; /* the path ends in '/' */
};
/* Splits the path at its last name, and finds the folder. Returns 0 or an error as above. */
int path_last(const struct path_start *start, const char *path, struct path_last *out);

/* Stores the path from the root of all to a folder or file, with a NUL. Returns its length;
 * -ENOENT: it is a folder that has been removed; -ERANGE: it needs more than `room` bytes. A vnode
 * that is in no folder, such as a pipe, has its name alone, with " (deleted)" if it is a file. */
int64_t path_of(struct vnode *v, char *to, size_t room);
/* Gives the file's object its path as a name, if it has none: it is to be mapped. Without memory it
 * has none. Thread context, no lock held. */
void path_name_object(struct vnode *v, struct object *o);
