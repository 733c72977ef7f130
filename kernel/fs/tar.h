/*
 * Reads archives in memory: ustar (POSIX.1-1988), pax (POSIX.1-2001: path, linkpath, size, mtime),
 * and GNU tar's long names and large numbers. Every field is checked; what is read lies inside the
 * archive. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

/* Text in the archive, without a NUL. */
struct tar_text {
    const char *s;
    size_t n;
};

enum tar_type { TAR_FILE, TAR_HARD_LINK, TAR_LINK, TAR_CHAR, TAR_BLOCK, TAR_FOLDER, TAR_FIFO };

struct tar_entry {
    enum tar_type type;
    /* The path is folder/name, or name alone if folder.n is 0. It may begin with "/" or "./". */
    struct tar_text folder, name;
    struct tar_text target; /* of links */
    uint32_t mode;          /* permissions, 07777 */
    uint32_t uid, gid;
    uint32_t major, minor; /* of devices */
    int64_t time;          /* seconds since 1970; when it was last written */
    const void *data;      /* of a file */
    uint64_t size;         /* bytes of it; 0 of all others */
};

/* Reads the next entry at or behind `cursor`, which is 0 at first, and moves the cursor behind it.
 * Returns 0; -ENOENT: the end; -EINVAL: the archive is broken at the cursor, or has an
 * unsupported entry (sparse files, files in several volumes), with the reason in `why`. */
int tar_next(const void *archive, uint64_t size, uint64_t *cursor, struct tar_entry *out,
             const char **why);
