/* An instruction set for host tests of code above arch: nothing to save, and what there is to map
 * is a double's. */
#pragma once
#include "kernel/lib/base.h"

#define ARCH_MARKS_FAULT 0
#define ARCH_USER_CODE   ((1ull << 47) - 1)

struct arch_cpu {
    int unused;
};
struct arch_context {
    int unused;
};
struct arch_user {
    int unused;
};
struct arch_space {
    struct table_double *table; /* test/host/double/mm_double.c */
};
