/* ELF-64's layout, as far as the library reads it of the program and the vDSO; newlib's elf.h
 * differs between systems. */
#pragma once
#include <stdint.h>

struct elf_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, phoff, shoff;
    uint32_t flags;
    uint16_t ehsize, phentsize, phnum;
};
struct elf_segment {
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
enum { SEGMENT_DYNAMIC = 2, SEGMENT_TLS = 7 };

struct elf_dynamic {
    int64_t tag;
    uint64_t value;
};
enum { DYNAMIC_HASH = 4, DYNAMIC_STRINGS = 5, DYNAMIC_SYMBOLS = 6 };

struct elf_symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
};
