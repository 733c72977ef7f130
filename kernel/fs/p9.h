/*
 * Folders of the host, by 9P2000.L (Linux, Documentation/filesystems/9p.rst).
 *
 * Names and attributes are asked for at each step of a path and each stat. Contents are kept in
 * memory (p9_contents.c): what is written here is the host's when the write returns, what is stored
 * to a shared mapping when msync or fsync returns, or when the mapping ends. What another program
 * of the host writes is seen at the next opening; a file that grew, also at the next read there.
 * vnode_ops.sync has the host put a file on its disk.
 */
#pragma once
#include "kernel/fs/vnode.h"

/* Connects to the device with this tag; `tag` stays in memory. Thread context, at boot. Returns 0
 * and the file system, whose vnodes are the host's; -ENODEV: no device has the tag; -ENOMEM; -EIO,
 * and the reason was printed. */
int p9_mount(const char *tag, bool read_only, struct mount **out);
/* Returns the number of files that the host knows for this file system: of vnodes and openings. */
uint32_t p9_files(const struct mount *m);
/* Lets go of files that are closed, whose contents are kept in memory. Thread context. */
void p9_let_go(struct mount *m);
/* Frees a file system of which no vnode is referenced, and no request in flight. */
void p9_destroy_for_test(struct mount *m);
