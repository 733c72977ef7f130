/*
 * A tree of files in memory: the root, made of archives, and file systems that programs write to.
 *
 * An archive's files stay where they lie in it, and so do names and targets of links: it must stay
 * in memory. A file that is to be written is copied, and the copy takes its place: openings and
 * mappings keep the old contents, and so do other names of a hard link. Archives added later
 * overlay earlier ones, as if unpacked over them: files replace files, folders are joined.
 */
#pragma once
#include "kernel/fs/vnode.h"

struct tree;

/* Makes a tree of an empty folder. `type` and `magic` describe it as in struct mount; `read_only`:
 * programs cannot write to it. Thread context. Returns NULL without memory. */
struct tree *tree_create(const char *type, uint32_t magic, bool read_only);
struct mount *tree_mount(struct tree *t);
/* Sets how many bytes programs may write to it. Before others know it. */
void tree_set_limit(struct tree *t, uint64_t bytes);
/* Adds an archive below the folder `under`, an absolute path. What is added before an error stays.
 * At boot, or before others know the tree. Returns 0; -ENOMEM; or -EINVAL with the reason in `why`
 * and the archive's byte in `at`. */
int tree_add_archive(struct tree *t, const void *archive, uint64_t bytes, const char *under,
                     uint64_t *at, const char **why);
/* Makes a folder, and those above it, if there is none. `path` must stay in memory. At boot.
 * Returns it, not referenced, or NULL: without memory, or something else is there. */
struct vnode *tree_make_folder(struct tree *t, const char *path, uint32_t mode);
/* Makes a link or a device in a tree; `path` and `target` must stay in memory. A device's mode says
 * of which kind it is; its operations `ops` have tree_parent(), tree_name() and vnode_no_release().
 * At boot. Return it, not referenced, or NULL. */
struct vnode *tree_make_link(struct tree *t, const char *path, const char *target);
struct vnode *tree_make_device(struct tree *t, const char *path, uint32_t mode, uint32_t major,
                               uint32_t minor, const struct vnode_ops *ops);
/* Makes an empty file in no folder, which has a name all the same. Thread context. Returns it,
 * referenced, or NULL: no memory. */
struct vnode *tree_make_apart(struct tree *t, const char *name, uint32_t mode);
struct vnode *tree_parent(struct vnode *v);
size_t tree_name(struct vnode *v, char *to, size_t room);
/* Frees a tree that is not mounted, of which no vnode is referenced from elsewhere. */
void tree_destroy_for_test(struct tree *t);
