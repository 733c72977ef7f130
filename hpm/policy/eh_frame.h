/*
 * How the code of an ELF file finds its callers, by the file's .eh_frame (LSB 5.0, 10.6; DWARF 5,
 * 6.4), which is looked up by its .eh_frame_hdr and interpreted as far as the code asked for. The
 * bytes are the file's and may be any: nothing is read beyond them, and work is bounded. Pure.
 *
 * The canonical frame address (CFA) is the stack pointer as it was before the call. Rules know the
 * registers that compilers and glibc's assembly find it by: the stack and frame pointers and, on
 * x86-64, RBX, which functions keep, and R10, by which functions align their stack.
 */
#pragma once
#include "kernel/lib/base.h"

enum rule_from { RULE_SP, RULE_FP, RULE_KEPT, RULE_SCRATCH, RULE_CFA, RULE_SAME, RULE_LOST };

/* A word of the stack: its address is `at` bytes from a register's value or the CFA. Of a caller's
 * register RULE_SAME: it is still in the register; RULE_LOST: it cannot be told. */
struct rule_word {
    uint8_t from;
    int32_t at;
};

struct frame_rule {
    struct rule_word cfa;            /* from: a register; not a word, but the CFA itself */
    bool stored;                     /* the CFA is the word that is there */
    bool ends;                       /* the code has no caller */
    bool signal;                     /* what it returns to was interrupted, and made no call */
    struct rule_word link, fp, kept; /* the caller's address, its frame pointer, its RBX */
};

/* What a file tells of itself in its first bytes. */
#define EH_HEAD_BYTES 4096
struct eh_place {
    uint64_t at, bytes; /* in the file, from .eh_frame_hdr to its segment's end */
    uint64_t address;   /* of the first of these bytes, as the file was linked */
    uint16_t machine;   /* of the ELF header */
};
/* Finds it by the first n bytes of a file. Returns 0, or -ENOENT: the file has none. */
int eh_place_find(const void *head, size_t n, struct eh_place *out);
/* Finds the address, as linked, of code at an offset of the file. Returns whether there is any. */
bool eh_code_address(const void *head, size_t n, uint64_t offset, uint64_t *address);

struct eh_machine;
/* A file's description, whose bytes stay in memory. */
struct eh_frames {
    const uint8_t *bytes;
    uint32_t size;
    uint32_t rows;    /* of the table of .eh_frame_hdr, which begins at EH_ROWS_AT */
    uint64_t address; /* of bytes[0], as linked */
    const struct eh_machine *machine;
};
#define EH_ROWS_AT 12
/* Opens the bytes of a place. Returns 0, or -EINVAL: they are of another kind. */
int eh_frames_open(const void *bytes, size_t size, uint64_t address, uint16_t machine,
                   struct eh_frames *out);
/* What a function's instructions have said so far: work space. */
#define EH_SAVED_MAX 8 /* rules remembered at a time; compilers nest none */
struct eh_state {
    struct frame_rule rule, first; /* first: of the part that functions have in common */
    struct frame_rule saved[EH_SAVED_MAX];
    unsigned depth;
    bool bad;
};
/* Tells how the code at an address, as linked, finds its caller. Returns false if it is not
 * described, or in a way that rules do not know. */
bool eh_rule_at(const struct eh_frames *f, uint64_t address, struct eh_state *s,
                struct frame_rule *out);
/* Tells the same of code of a procedure linkage table of AArch64, which linkers do not describe.
 * code: the instructions around it, itself in the middle. */
#define EH_LINKAGE_AROUND 4
bool eh_linkage_rule(const uint32_t code[2 * EH_LINKAGE_AROUND + 1], struct frame_rule *out);
