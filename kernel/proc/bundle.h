/*
 * The applications inside the image: a ustar archive (POSIX.1-1988, "ustar Interchange Format").
 * Only regular files count. Names are compared whole. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

#define BUNDLE_NAME_MAX 100

struct bundle_file {
    char name[BUNDLE_NAME_MAX + 1];
    const void *data;
    uint64_t size;
};

/* Reads the next regular file at or behind `cursor`, which is 0 at first. Returns 0; -ENOENT: the
 * end; -EINVAL: the archive is broken, with the reason in `why`. */
int bundle_next(const void *archive, uint64_t size, uint64_t *cursor, struct bundle_file *out,
                const char **why);
/* Finds the file of this name. Returns as bundle_next(). */
int bundle_find(const void *archive, uint64_t size, const char *name, struct bundle_file *out,
                const char **why);
