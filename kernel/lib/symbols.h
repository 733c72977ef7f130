/*
 * Translates a code address to function, file and line, by a table that tools/symbols.c makes when
 * a program is linked. Each program and the kernel carry one. Pure. Any context.
 *
 * The layout is little-endian; every offset is in bytes:
 * - struct symbols_header
 * - functions: struct symbols_function, ascending
 * - changes of line: struct symbols_line, ascending
 * - the offset of each file's name, 32 bits each
 * - all names, each ended by NUL
 *
 * Offsets of code count from `base`. Inlined code belongs to the function that contains it, but has
 * its own file and lines.
 */
#pragma once
#include "kernel/lib/base.h"

#define SYMBOLS_MAGIC "vigilsy1"

struct symbols_header {
    char magic[8];
    uint64_t base;
    uint32_t functions, lines, files, name_bytes;
};

struct symbols_function {
    uint32_t start, size; /* offset of its first byte; number of bytes */
    uint32_t name;
};

/* Describes the code from `start` to the next entry. */
struct symbols_line {
    uint32_t start;
    uint32_t place; /* file << SYMBOLS_LINE_BITS | line; line 0: unknown */
};

#define SYMBOLS_LINE_BITS 20
#define SYMBOLS_LINE_MAX  ((1u << SYMBOLS_LINE_BITS) - 1)
#define SYMBOLS_FILE_MAX  ((1u << (32 - SYMBOLS_LINE_BITS)) - 1)

/* An opened table; its bytes stay in memory. A zeroed one has no symbols. */
struct symbols {
    struct symbols_header header;
    const uint8_t *functions, *lines, *files;
    const char *names;
};

struct symbol_found {
    const char *function; /* NULL: unknown */
    uint64_t offset;      /* from the function's start */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* from 1; 0 if the file is unknown */
};

/* Opens a table of arbitrary bytes. Returns 0, or -EINVAL with the reason in *why; the table then
 * has no symbols. */
int symbols_open(const void *table, uint64_t size, struct symbols *out, const char **why);
/* Looks up `address`. Returns true if anything is known of it. A corrupt table may give wrong
 * answers, but nothing is read beyond its bytes. */
bool symbols_find(const struct symbols *symbols, vaddr_t address, struct symbol_found *out);

/* ---- image_symbols.c ------------------------------------------------------------------------- */
/* Does the same for the kernel's own code. */
bool symbols_find_kernel(vaddr_t address, struct symbol_found *out);
#define SYMBOLS_TEXT_MAX 224
/* Formats a result as "function+offset file:line" without the parts that are unknown; empty if
 * nothing is known. */
void symbols_describe(const struct symbol_found *place, char *buf, size_t n);
