/* Source files and lines of code in an ELF file (64 bits, little-endian), by the line programs of
 * DWARF 2 to 5 (DWARF 5, 6.2). Sections that are compressed have none. Pure, but for memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_line {
    uint64_t start;      /* as the file was linked; up to the next one's */
    uint32_t file, line; /* line 0: unknown */
};
struct elf_lines_file {
    const char *folder, *name; /* in the file's bytes; folder NULL: that of the compilation */
};
struct elf_lines {
    struct elf_line *line; /* ascending */
    struct elf_lines_file *file;
    size_t lines, files, lines_room, files_room;
};

/* Reads a file of arbitrary bytes, which stay in memory. Returns false if it has no lines or there
 * is no memory; *out is then empty. */
bool elf_lines_read(const uint8_t *file, size_t bytes, struct elf_lines *out);
/* Finds the line of the code at an address. Returns false if it is not known. */
bool elf_lines_find(const struct elf_lines *lines, uint64_t address,
                    const struct elf_lines_file **file, uint32_t *line);
void elf_lines_free(struct elf_lines *lines);
