/*
 * ELF64 programs and interpreters (System V ABI, chapters 4 and 5): checks every header field that
 * matters and says what is to be mapped where.
 *
 * Accepted: little-endian ET_EXEC and ET_DYN for one machine, with PT_LOAD segments in ascending
 * order inside the limits given. Segments may share a page, as linkers make them for alignments
 * larger than a page. Maps nothing.
 */
#pragma once
#include "kernel/lib/base.h"

#define ELF_SEGMENTS_MAX    16
#define ELF_INTERPRETER_MAX 256 /* bytes of the interpreter's path, including its NUL */

enum { ELF_R = 4, ELF_W = 2, ELF_X = 1 }; /* p_flags */

struct elf_segment {
    vaddr_t va;           /* of the first byte, not rounded; relative if `relative` */
    uint64_t memory_size; /* the bytes behind file_size are zero */
    uint64_t file_offset, file_size;
    uint32_t flags;
};

struct elf_limits {
    uint16_t machine;  /* e_machine */
    vaddr_t low, high; /* all segments of a program that cannot be moved lie in [low, high) */
    uint64_t memory_size_max; /* of a whole program, and of one segment */
    bool writes_code;         /* segments may be writable and executable */
};

struct elf_plan {
    bool relative;      /* may be mapped anywhere: addresses are offsets from there */
    vaddr_t low, end;   /* of all segments, low rounded down to a page */
    uint64_t alignment; /* of the place: a power of two, a page at least */
    vaddr_t entry;
    vaddr_t headers; /* address of the program headers, 0: they are not in memory */
    unsigned header_count, header_size;
    unsigned count;
    struct elf_segment segments[ELF_SEGMENTS_MAX];
    char interpreter[ELF_INTERPRETER_MAX]; /* empty: none */
};

/* A file, which may lie anywhere. */
struct elf_file {
    uint64_t size;
    /* Reads n bytes, which the file has. Returns whether they came. */
    bool (*read_bytes)(const void *of, uint64_t at, void *to, size_t n);
    const void *of;
};

/* Returns 0; -ENOEXEC with the reason in `why`; or -EIO: the file could not be read. */
int elf_plan(const struct elf_file *file, const struct elf_limits *limits, struct elf_plan *out,
             const char **why);
