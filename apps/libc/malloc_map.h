/* Memory that malloc has from the kernel: mappings, some kept for reuse, none beyond what the
 * process can fill. Any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "apps/libc/names.h"

#define SPAN ((size_t)65536)

struct mapping {
    char *at; /* a multiple of SPAN; NULL: there is none */
    size_t size;
    bool used; /* it may hold other than zeros */
};

/* Returns a mapping of size bytes, whole pages, or a fourth more at most; NULL there: the
 * process cannot have that much memory. */
struct mapping mapping_take(size_t size) VIGIL(mapping_take);
/* Gives it back: to the caller's next mapping_take or another's, or to the kernel. */
void mapping_give(char *at, size_t size) VIGIL(mapping_give);
