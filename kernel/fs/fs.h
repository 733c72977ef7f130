/*
 * The tree of all files: what it is made of, and how the kernel finds a file in it.
 *
 * Its root has the programs of the bundle in /bin, overlaid by the archive that the boot loader
 * passes (initrd). A file's contents lie in memory: `data` and `size` of its vnode; `mode` has type
 * and permissions. Programs can write everywhere but to /dev, /proc and /sys, and what they write
 * is gone at the end; a file of an archive that is opened for writing is copied then.
 */
#pragma once
#include "kernel/fs/path.h"

/* Makes the tree. `bundle` and `initrd` are archives that stay in memory; no initrd: NULL, 0. At
 * boot, thread context. Panics if the bundle is broken, as then the image is; prints a line if the
 * initrd is, and takes what is before the error. */
void fs_start(const void *bundle, uint64_t bundle_bytes, const void *initrd, uint64_t initrd_bytes);
/* Returns the root, not referenced; it stays. Any context after fs_start(). */
struct vnode *fs_root(void);
/* Finds the file or folder at `path`, which may be absolute or begin at the root, following links.
 * Returns 0 with a reference, which vnode_put() drops, or an error as path_walk(). Thread context,
 * no lock held. */
int fs_open(const char *path, struct vnode **out);
/* Makes an empty file in memory, in no folder, of this name. Thread context, no lock held. Returns
 * it, referenced, or NULL: no memory. */
struct vnode *fs_make_memory(const char *name);
/* Adds a character device to /dev, as tree_make_device() does. At boot, after fs_start(). Panics
 * without memory. Returns it, not referenced. */
struct vnode *fs_add_device(const char *name, uint32_t mode, uint32_t major, uint32_t minor,
                            const struct vnode_ops *ops);
/* Makes a link, unless something is at `path` already. Both stay in memory. At boot, after
 * fs_start(). */
void fs_add_link(const char *path, const char *target);
/* Mounts a file system of pseudo.h at a folder of the root, which is made if there is none; `path`
 * stays in memory. At boot, after fs_start(). Panics without memory. */
struct pseudo;
void fs_mount(const char *path, struct pseudo *fs);
/* The same for a file system of another kind, also at a folder of /dev. Returns 0, or -ENOTDIR:
 * there is no memory for the folder, or something else is there. */
int fs_mount_on(const char *path, struct mount *m);
/* Returns the first file system mounted; the others follow by `next`. */
const struct mount *fs_mounts(void);
