/*
 * The applications inside the image: a ustar archive (POSIX.1-1988, "ustar Interchange Format").
 * Only regular files count; names are compared whole. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

#define BUNDLE_NAME_MAX 100

struct bundle_file {
    char name[BUNDLE_NAME_MAX + 1];
    const void *data;
    uint64_t size;
};

/* The next regular file at or behind *cursor (0 at first). 0; -ENOENT at the end; -EINVAL and *why
 * when the archive is broken. */
int bundle_next(const void *archive, uint64_t size, uint64_t *cursor, struct bundle_file *out,
                const char **why);
/* The file of this name: 0, -ENOENT, -EINVAL as above. */
int bundle_find(const void *archive, uint64_t size, const char *name, struct bundle_file *out,
                const char **why);
