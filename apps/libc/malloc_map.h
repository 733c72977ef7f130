/* Mappings for malloc: some are kept for reuse, and none is made beyond what the process can fill.
 * Any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "apps/libc/names.h"

#define SPAN ((size_t)65536)

struct mapping {
    char *at; /* a multiple of SPAN; NULL: there is none */
    size_t size;
    bool used; /* may hold bytes other than 0 */
};

/* Returns a mapping of `size` bytes, whole pages, or up to a fourth more. Its address is NULL if
 * the process cannot have that much memory. */
struct mapping mapping_take(size_t size) VIGIL(mapping_take);
/* Returns a mapping for reuse by any thread, or to the kernel. */
void mapping_give(char *at, size_t size) VIGIL(mapping_give);
