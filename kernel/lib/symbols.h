/*
 * From an address of code to function, file and line, by a table that is made beside each program
 * when it is linked (tools/symbols.c) and travels in the image. Pure; any context.
 *
 * Layout, little-endian, every offset in bytes: struct symbols_header, then functions (struct
 * symbols_function, ascending), then changes of line (struct symbols_line, ascending), then where
 * each file's name begins, 32 bits each, then all names, each ended by NUL. Offsets of code count
 * from base. A function inlined into another is that one's code, with its own file and lines.
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
    uint32_t start, size; /* offset of its first byte; bytes */
    uint32_t name;
};

/* From start to the next entry. */
struct symbols_line {
    uint32_t start;
    uint32_t place; /* file << SYMBOLS_LINE_BITS | line; line 0: not known */
};

#define SYMBOLS_LINE_BITS 20
#define SYMBOLS_LINE_MAX  ((1u << SYMBOLS_LINE_BITS) - 1)
#define SYMBOLS_FILE_MAX  ((1u << (32 - SYMBOLS_LINE_BITS)) - 1)

/* A table, somewhere in memory that stays. Zeroed: one that knows nothing. */
struct symbols {
    struct symbols_header header;
    const uint8_t *functions, *lines, *files;
    const char *names;
};

struct symbol_found {
    const char *function; /* NULL: none that is known */
    uint64_t offset;      /* how far into it */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* from 1; 0 where file is not known */
};

/* Any bytes may be given. 0, or -EINVAL with *why, and a table that knows nothing. */
int symbols_open(const void *table, uint64_t size, struct symbols *out, const char **why);
/* What is at an address; true if anything is known. Of a broken table answers may be wrong, never
 * beyond its bytes. */
bool symbols_find(const struct symbols *symbols, vaddr_t address, struct symbol_found *out);

/* ---- image_symbols.c ------------------------------------------------------------------------- */
/* The same of the kernel's own code. */
bool symbols_find_kernel(vaddr_t address, struct symbol_found *out);
#define SYMBOLS_TEXT_MAX 224
/* As text: function+offset file:line, without what is not known; empty if nothing is. */
void symbols_describe(const struct symbol_found *place, char *buf, size_t n);
