/* See elf_names.h. Layouts: System V ABI, chapters 4 and 5. */
#include "apps/tools/measuring/elf_names.h"
#include "kernel/lib/elf64.h"
#include <stdlib.h>
#include <string.h>

#define PAGE 4096

struct file {
    const uint8_t *at;
    size_t bytes;
};

/* Copies `bytes` from an offset. Returns false if they are not all in the file. */
static bool get(const struct file *f, uint64_t from, void *to, size_t bytes)
{
    if (from > f->bytes || bytes > f->bytes - from)
        return false;
    memcpy(to, f->at + from, bytes);
    return true;
}

static bool find_loaded(const struct file *f, const struct elf64_header *h, struct elf_names *out)
{
    struct elf64_segment s;
    bool any = false;

    for (unsigned i = 0; i < h->phnum; i++) {
        if (!get(f, h->phoff + (uint64_t)i * sizeof s, &s, sizeof s))
            return false;
        if (s.type != ELF_LOAD || !s.memsz || s.memsz > UINT64_MAX - s.vaddr)
            continue;
        uint64_t low = s.vaddr & ~(uint64_t)(PAGE - 1), high = s.vaddr + s.memsz;
        out->low = any && out->low < low ? out->low : low;
        out->high = any && out->high > high ? out->high : high;
        any = true;
    }
    return any;
}

/* Finds the table with most to say. Returns false if there is none. */
static bool find_table(const struct file *f, const struct elf64_header *h,
                       struct elf64_section *table)
{
    struct elf64_section s;

    *table = (struct elf64_section){0};
    for (unsigned i = 0; i < h->shnum; i++) {
        if (!get(f, h->shoff + (uint64_t)i * sizeof s, &s, sizeof s))
            return false;
        if (s.type == ELF_SYMBOLS || (s.type == ELF_DYNAMIC_SYMBOLS && table->type != ELF_SYMBOLS))
            *table = s;
    }
    return table->type && table->entsize == sizeof(struct elf64_symbol) &&
           table->offset <= f->bytes && table->size <= f->bytes - table->offset;
}

/* Returns a name of the section of names, or NULL. */
static const char *name_at(const struct file *f, const struct elf64_section *names, uint32_t offset)
{
    if (names->offset > f->bytes || names->size > f->bytes - names->offset || offset >= names->size)
        return NULL;
    const char *name = (const char *)f->at + names->offset + offset;
    return *name && memchr(name, '\0', names->size - offset) ? name : NULL;
}

static bool is_named(const struct elf64_symbol *s, const struct elf_names *of)
{
    unsigned type = s->info & 0xf;

    return (type == ELF_FUNCTION || type == ELF_OBJECT) && s->shndx && s->value >= of->low &&
           s->value < of->high;
}

static int by_start(const void *x, const void *y)
{
    const struct elf_name *a = x, *b = y;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void settle(struct elf_names *out)
{
    size_t kept = 0;

    qsort(out->name, out->count, sizeof *out->name, by_start);
    for (size_t i = 0; i < out->count; i++)
        if (!kept || out->name[i].start != out->name[kept - 1].start)
            out->name[kept++] = out->name[i];
    out->count = kept;
}

static bool read_table(const struct file *f, const struct elf64_header *h,
                       const struct elf64_section *table, struct elf_names *out)
{
    size_t symbols = table->size / sizeof(struct elf64_symbol);
    struct elf64_section names;
    struct elf64_symbol s;

    if (table->link >= h->shnum ||
        !get(f, h->shoff + (uint64_t)table->link * sizeof names, &names, sizeof names))
        return false;
    out->name = calloc(symbols + 1, sizeof *out->name);
    if (!out->name)
        return false;
    for (size_t i = 0; i < symbols; i++) {
        if (!get(f, table->offset + i * sizeof s, &s, sizeof s) || !is_named(&s, out))
            continue;
        const char *name = name_at(f, &names, s.name);
        if (name)
            out->name[out->count++] = (struct elf_name){s.value, s.size, name};
    }
    settle(out);
    return true;
}

bool elf_names_read(const uint8_t *file, size_t bytes, struct elf_names *out)
{
    const struct file f = {file, bytes};
    struct elf64_section table;
    struct elf64_header h;

    *out = (struct elf_names){0};
    if (get(&f, 0, &h, sizeof h) && elf64_is(&h) && h.shentsize == sizeof(struct elf64_section) &&
        find_loaded(&f, &h, out) && find_table(&f, &h, &table) && read_table(&f, &h, &table, out))
        return true;
    *out = (struct elf_names){0};
    return false;
}

/* A name without a size, as assembly's are, reaches to the next. */
const struct elf_name *elf_names_find(const struct elf_names *names, uint64_t address)
{
    size_t low = 0, high = names->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->name[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= names->high)
        return NULL;
    const struct elf_name *n = &names->name[low - 1];
    return !n->bytes || address - n->start < n->bytes ? n : NULL;
}

void elf_names_free(struct elf_names *names)
{
    free(names->name);
    *names = (struct elf_names){0};
}

/* ---- Build id -------------------------------------------------------------------------------- */

/* A note: lengths of its name and contents, and its type; both follow, in words of 4 bytes. */
struct note {
    uint32_t name_bytes, bytes, type;
    char name[4]; /* of those that are looked for */
};

static uint64_t in_words(uint64_t bytes)
{
    return (bytes + 3) & ~(uint64_t)3;
}

static unsigned find_id(const struct file *f, uint64_t at, uint64_t end, uint8_t *id)
{
    struct note n;

    while (at < end && get(f, at, &n, sizeof n)) {
        uint64_t contents = at + 12 + in_words(n.name_bytes);
        if (n.type == ELF_NOTE_BUILD_ID && n.name_bytes == 4 && !memcmp(n.name, "GNU", 4))
            return n.bytes <= ELF_BUILD_ID_MAX && get(f, contents, id, n.bytes) ? n.bytes : 0;
        at = contents + in_words(n.bytes);
    }
    return 0;
}

unsigned elf_build_id(const uint8_t *file, size_t bytes, uint8_t id[ELF_BUILD_ID_MAX])
{
    const struct file f = {file, bytes};
    struct elf64_segment s;
    struct elf64_header h;
    unsigned found = 0;

    if (!get(&f, 0, &h, sizeof h) || !elf64_is(&h))
        return 0;
    for (unsigned i = 0; i < h.phnum && !found; i++)
        if (get(&f, h.phoff + (uint64_t)i * sizeof s, &s, sizeof s) && s.type == ELF_NOTE &&
            s.offset <= bytes && s.filesz <= bytes - s.offset)
            found = find_id(&f, s.offset, s.offset + s.filesz, id);
    return found;
}
