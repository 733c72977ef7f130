/*
 * Translates a code address to function, file and line, by a table that tools/symbols.c makes when
 * a program is linked. Each program and the kernel carry one. Pure. Any context.
 *
 * The layout is little-endian; every offset is in bytes:
 * - struct symbols_header
 * - functions: struct symbols_function, ascending
 * - changes of line: struct symbols_line, ascending
 * - changes of frame: struct symbols_frame, ascending
 * - the offset of each file's name, 32 bits each
 * - all names, each ended by NUL
 *
 * Variables are functions without lines. Those of the kernel are not at their addresses, since the
 * table, which a second link adds, lies before them: they are as far into their section as the
 * entry is beyond SYMBOLS_DATA or SYMBOLS_BSS.
 *
 * Offsets of code count from `base`. Inlined code belongs to the function that contains it, but has
 * its own file and lines.
 */
#pragma once
#include "kernel/lib/base.h"

#define SYMBOLS_MAGIC "vigilsy2"

struct symbols_header {
    char magic[8];
    uint64_t base;
    uint32_t functions, lines, files, name_bytes, frames, reserved;
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

/*
 * How the code from `start` to the next entry finds its caller, from .eh_frame (DWARF 5, 6.4). The
 * canonical frame address (CFA) is the stack pointer as it was before the call, in words of 8 bytes
 * from a register: SYMBOLS_FRAME_FP: the frame pointer, else the stack pointer.
 */
struct symbols_frame {
    uint32_t start;
    uint16_t cfa; /* words from the register, or SYMBOLS_FRAME_NONE: it has no caller, or unknown */
    /* Words below the CFA at which the return address is stored, and the caller's frame pointer; 0:
     * it is still in its register. Both SYMBOLS_FRAME_RECORD: they are a frame record, to which the
     * CFA's register points, however far that is. */
    uint8_t link, fp;
};
#define SYMBOLS_FRAME_FP     0x8000u
#define SYMBOLS_FRAME_NONE   0xffffu
#define SYMBOLS_FRAME_RECORD 0xffu

/* Offsets in the kernel's table at which its sections of variables begin; its code is shorter. */
#define SYMBOLS_DATA 0x40000000u
#define SYMBOLS_BSS  0x60000000u

#define SYMBOLS_LINE_BITS 20
#define SYMBOLS_LINE_MAX  ((1u << SYMBOLS_LINE_BITS) - 1)
#define SYMBOLS_FILE_MAX  ((1u << (32 - SYMBOLS_LINE_BITS)) - 1)

/* An opened table; its bytes stay in memory. A zeroed one has no symbols. */
struct symbols {
    struct symbols_header header;
    const uint8_t *functions, *lines, *frames, *files;
    const char *names;
    const void *table; /* as it was opened; NULL: it has no symbols */
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

/* Finds function number i, from 0, in the order of addresses. Returns false if there is none. */
bool symbols_function_at(const struct symbols *symbols, uint32_t i, vaddr_t *start,
                         const char **name);

/* Looks up how the code at an address of an opened table's program finds its caller. Returns false
 * if the table does not say. */
bool symbols_frame_at(const void *table, vaddr_t address, struct symbols_frame *out);

/* ---- image_symbols.c ------------------------------------------------------------------------- */
/* Does the same for the kernel's own code and variables. */
bool symbols_find_kernel(vaddr_t address, struct symbol_found *out);
/* Opens the kernel's own table; its code begins and ends there. Returns whether it has one. */
bool symbols_open_kernel(struct symbols *out, vaddr_t *text, vaddr_t *end);
/* Finds entry number i of the kernel's own table, from 0: first functions, then variables, in the
 * order of addresses. *kind is as nm has it: t, d or b. Returns false if there is none. */
bool symbols_kernel_at(const struct symbols *symbols, uint32_t i, vaddr_t *start, const char **name,
                       char *kind);
#define SYMBOLS_TEXT_MAX 224
/* Formats a result as "function+offset file:line" without the parts that are unknown; empty if
 * nothing is known. */
void symbols_describe(const struct symbol_found *place, char *buf, size_t n);
