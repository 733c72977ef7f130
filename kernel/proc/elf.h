/*
 * Static ELF64 programs (System V ABI, chapters 4 and 5): checks every header field that matters
 * and says what is to be mapped where.
 *
 * Accepted: little-endian ET_EXEC for one machine, with PT_LOAD segments in ascending order, on
 * pages of their own, inside the limits given, and never writable and executable at once. Pure:
 * reads the file, maps nothing.
 */
#pragma once
#include "kernel/lib/base.h"

#define ELF_SEGMENTS_MAX 8

enum { ELF_R = 4, ELF_W = 2, ELF_X = 1 }; /* p_flags */

struct elf_segment {
    vaddr_t va;           /* of the first byte, not rounded */
    uint64_t memory_size; /* the bytes behind file_size are zero */
    uint64_t file_offset, file_size;
    uint32_t flags;
};

struct elf_limits {
    uint16_t machine;         /* e_machine */
    vaddr_t low, high;        /* all segments lie in [low, high) */
    uint64_t memory_size_max; /* of one segment */
};

struct elf_plan {
    vaddr_t entry;
    unsigned count;
    struct elf_segment segments[ELF_SEGMENTS_MAX];
};

/* Returns 0, or -ENOEXEC with the reason in `why`. */
int elf_plan(const void *file, uint64_t size, const struct elf_limits *limits, struct elf_plan *out,
             const char **why);
