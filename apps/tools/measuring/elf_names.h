/* Names of functions and variables in an ELF file (64 bits, little-endian), by its table of symbols
 * or, if it was stripped, by that of what it exports. Pure, but for memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_name {
    uint64_t start, bytes; /* as the file was linked */
    const char *name;      /* in the file's bytes */
};
struct elf_names {
    uint64_t low, high;    /* what is loaded of it, from the page of the first byte on */
    struct elf_name *name; /* ascending, one for each address */
    size_t count;
};

/* Reads a file of arbitrary bytes, which stay in memory and end with NUL. Returns false if it is no
 * such file or there is no memory; *out is then empty. */
bool elf_names_read(const uint8_t *file, size_t bytes, struct elf_names *out);
/* Returns the name at an address, or NULL. */
const struct elf_name *elf_names_find(const struct elf_names *names, uint64_t address);
void elf_names_free(struct elf_names *names);
/* Stores a file's build id, which tells it from all others. Returns its bytes, at most
 * ELF_BUILD_ID_MAX; 0: it has none. */
#define ELF_BUILD_ID_MAX 20
unsigned elf_build_id(const uint8_t *file, size_t bytes, uint8_t id[ELF_BUILD_ID_MAX]);
