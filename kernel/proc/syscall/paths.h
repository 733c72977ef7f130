/* What calls on files and on paths share. */
#pragma once
#include "kernel/file/file.h"
#include "kernel/proc/syscall/syscall.h"

/* Copies a path from user memory to memory that the caller frees. Returns 0, -EFAULT, -ENAMETOOLONG
 * or -ENOMEM. */
int path_take(char **out, vaddr_t from);
/* Finds where a path begins: at the folder of descriptor `dirfd`, at the working directory if that
 * is AT_FDCWD, or at the root. out->here is referenced. Returns 0, -EBADF or -ENOTDIR. */
int path_begin(const struct call *c, uint64_t dirfd, const char *path, struct path_start *out);
/* Finds what is at a path of user memory. `at` has AT_EMPTY_PATH: an empty path is what dirfd has.
 * AT_SYMLINK_NOFOLLOW: a link at the end is not followed. Returns 0 with a reference, or an
 * error. */
int path_find(const struct call *c, uint64_t dirfd, vaddr_t path, uint64_t at, struct vnode **out);
/* Stores a vnode's struct stat. Returns 0 or -EFAULT. */
int stat_put(vaddr_t to, struct vnode *v);
/* Checks the limit of the caller for a file that is to have `bytes`. Returns 0, or -EFBIG, with a
 * signal. */
int size_check(const struct call *c, const struct vnode *v, uint64_t bytes);
/* Gives a file a descriptor of the caller. Takes the reference, also after an error. */
int64_t file_give(const struct call *c, struct file *f, bool closes);
/* Does what fcntl(c->a[1]) asks for about records of f. */
int64_t lock_records(const struct call *c, struct file *f);
/* A device's number as the calls have it. */
static inline uint64_t device_number(uint32_t major, uint32_t minor)
{
    return (minor & 0xff) | (uint64_t)major << 8 | (uint64_t)(minor & ~0xffu) << 12;
}
