/*
 * The first contents of a program's stack (System V ABI, "Process Initialization"): the number of
 * arguments, their addresses, those of the environment, the auxiliary vector; behind these the
 * strings. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

#define PROGRAM_STACK_MAX (128 * KIB) /* bytes of all contents */
#define PROGRAM_RANDOM    16          /* bytes at AT_RANDOM */

/* An entry of the auxiliary vector (getauxval(3)). */
struct auxv_entry {
    uint64_t type, value;
};

struct program_stack {
    const char *const *argv, *const *envp; /* each ended by NULL */
    const char *path;                      /* AT_EXECFN */
    const char *platform;                  /* AT_PLATFORM */
    uint8_t random[PROGRAM_RANDOM];
    const struct auxv_entry *auxv; /* further entries; without AT_NULL */
    unsigned auxv_count;
};

/* Builds the contents, which end at `top`, in the last bytes of `buffer`, which has
 * PROGRAM_STACK_MAX bytes. Stores the stack pointer, a multiple of 16. Returns the number of bytes
 * from there to `top`, or -E2BIG. */
int64_t program_stack_build(const struct program_stack *s, vaddr_t top, uint8_t *buffer,
                            vaddr_t *sp);
