/*
 * Structures of 64-bit ELF files (System V ABI, chapters 4 and 5). Members have the names of the
 * ABI without their prefixes; both machines and the files are little-endian.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf64_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, phoff, shoff;
    uint32_t flags;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

/* A program header. */
struct elf64_segment {
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

/* A section header. */
struct elf64_section {
    uint32_t name, type;
    uint64_t flags, addr, offset, size;
    uint32_t link, info;
    uint64_t addralign, entsize;
};

struct elf64_symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t shndx;
    uint64_t value, size;
};

/* A row of what a segment of ELF_DYNAMIC has; the last has tag 0. */
struct elf64_dynamic {
    int64_t tag;
    uint64_t value;
};

_Static_assert(sizeof(struct elf64_header) == 64 && sizeof(struct elf64_segment) == 56 &&
                   sizeof(struct elf64_section) == 64 && sizeof(struct elf64_symbol) == 24,
               "as the ABI has them");

enum { ELF_IDENT_CLASS = 4, ELF_IDENT_DATA, ELF_IDENT_VERSION }; /* bytes of ident */
enum { ELF_CLASS_64 = 2, ELF_DATA_LITTLE = 1, ELF_VERSION = 1 }; /* their values */
enum { ELF_TYPE_EXEC = 2, ELF_TYPE_DYN };                        /* type */
enum { ELF_MACHINE_X86_64 = 62, ELF_MACHINE_AARCH64 = 183 };     /* machine */
/* A segment's type. */
enum { ELF_LOAD = 1, ELF_DYNAMIC, ELF_INTERP, ELF_NOTE, ELF_TLS = 7, ELF_EH_FRAME = 0x6474e550 };
enum { ELF_X = 1, ELF_W = 2, ELF_R = 4 };                    /* a segment's flags */
enum { ELF_SYMBOLS = 2, ELF_DYNAMIC_SYMBOLS = 11 };          /* a section's type */
enum { ELF_TAG_HASH = 4, ELF_TAG_STRINGS, ELF_TAG_SYMBOLS }; /* tag */
enum { ELF_OBJECT = 1, ELF_FUNCTION };                       /* the low 4 bits of a symbol's info */
enum { ELF_NOTE_BUILD_ID = 3 };                              /* type of a note named "GNU" */

/* Returns whether a file begins as a 64-bit little-endian ELF file does that has program headers as
 * above. Pure. */
static inline bool elf64_is(const struct elf64_header *h)
{
    return h->ident[0] == 0x7f && h->ident[1] == 'E' && h->ident[2] == 'L' && h->ident[3] == 'F' &&
           h->ident[ELF_IDENT_CLASS] == ELF_CLASS_64 &&
           h->ident[ELF_IDENT_DATA] == ELF_DATA_LITTLE &&
           h->phentsize == sizeof(struct elf64_segment);
}
