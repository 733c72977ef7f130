/* Any bytes as an ELF file whose lines are wanted: no crash, and what is found is in the file. */
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/elf_lines.h"

static void check(const struct elf_lines *lines, const uint8_t *file, size_t size)
{
    const struct elf_lines_file *found;
    uint32_t line;

    for (size_t i = 0; i < lines->lines; i++) {
        if (i && lines->line[i].start <= lines->line[i - 1].start)
            abort();
        if (elf_lines_find(lines, lines->line[i].start, &found, &line) !=
            (lines->line[i].line != 0))
            abort();
        if (lines->line[i].line &&
            ((const uint8_t *)found->name < file ||
             (const uint8_t *)found->name + strlen(found->name) >= file + size))
            abort();
    }
}

/* A file with the bytes as its line programs, as chance would not come by one. */
static void read_as_lines(const uint8_t *data, size_t size)
{
    enum { HEADER = 64, SECTION = 64, NAMES = 32, BEGIN = HEADER + 3 * SECTION + NAMES };
    uint8_t *file = calloc(1, BEGIN + size);
    uint64_t table = HEADER, names_at = HEADER + 3 * SECTION, names_bytes = NAMES, at = BEGIN,
             bytes = size;
    uint16_t counts[3] = {SECTION, 3, 1};
    uint32_t name = 1;
    struct elf_lines lines;

    memcpy(file, "\177ELF\2\1", 6);
    memcpy(file + 40, &table, 8);
    memcpy(file + 58, counts, sizeof counts);
    memcpy(file + HEADER + SECTION + 24, &names_at, 8);
    memcpy(file + HEADER + SECTION + 32, &names_bytes, 8);
    memcpy(file + HEADER + 2 * SECTION, &name, 4);
    memcpy(file + HEADER + 2 * SECTION + 24, &at, 8);
    memcpy(file + HEADER + 2 * SECTION + 32, &bytes, 8);
    strcpy((char *)file + names_at + 1, ".debug_line");
    if (size)
        memcpy(file + BEGIN, data, size);
    if (elf_lines_read(file, BEGIN + size, &lines))
        check(&lines, file, BEGIN + size);
    elf_lines_free(&lines);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_lines lines;

    if (elf_lines_read(data, size, &lines))
        check(&lines, data, size);
    else if (lines.lines || lines.line)
        abort();
    elf_lines_free(&lines);
    read_as_lines(data, size);
    return 0;
}
