/*
 * Folders of the host, by 9P2000.L (Linux, Documentation/filesystems/9p.rst).
 *
 * Nothing is cached but what vnodes say between two questions: attributes are asked for at each
 * stat and each step of a path, contents at each read. So what another program of the host writes
 * is seen at the next read, and what is written here is the host's when the write returns;
 * vnode_ops.sync has the host put it on its disk.
 */
#pragma once
#include "kernel/fs/vnode.h"

/* Connects to the device with this tag; `tag` stays in memory. Thread context, at boot. Returns 0
 * and the file system, whose vnodes are the host's; -ENODEV: no device has the tag; -ENOMEM; -EIO,
 * and the reason was printed. */
int p9_mount(const char *tag, bool read_only, struct mount **out);
/* Returns the number of files that the host knows for this file system: of vnodes and openings. */
uint32_t p9_files(const struct mount *m);
/* Frees a file system of which no vnode is referenced, and no request in flight. */
void p9_destroy_for_test(struct mount *m);
