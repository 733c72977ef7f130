/* See elf_names.h. Layouts: System V ABI, chapters 4 and 5. */
#include "apps/tools/measuring/elf_names.h"
#include <stdlib.h>
#include <string.h>

enum {
    PT_LOAD = 1,
    PT_NOTE = 4,
    NT_GNU_BUILD_ID = 3,
    SHT_SYMTAB = 2,
    SHT_DYNSYM = 11,
    STT_OBJECT = 1,
    STT_FUNC = 2,
    PAGE = 4096
};

struct header {
    uint8_t magic[4], bits, order, rest[10];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments_at, sections_at;
    uint32_t flags;
    uint16_t bytes, segment_bytes, segments, section_bytes, sections, names;
};
struct segment {
    uint32_t type, flags;
    uint64_t at, address, physical, file_bytes, bytes, align;
};
struct section {
    uint32_t name, type;
    uint64_t flags, address, at, bytes;
    uint32_t link, info;
    uint64_t align, entry_bytes;
};
struct symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, bytes;
};
_Static_assert(sizeof(struct header) == 64 && sizeof(struct segment) == 56 &&
                   sizeof(struct section) == 64 && sizeof(struct symbol) == 24,
               "as the ABI has them");

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

static bool find_loaded(const struct file *f, const struct header *h, struct elf_names *out)
{
    struct segment s;
    bool any = false;

    for (unsigned i = 0; i < h->segments; i++) {
        if (!get(f, h->segments_at + (uint64_t)i * sizeof s, &s, sizeof s))
            return false;
        if (s.type != PT_LOAD || !s.bytes || s.bytes > UINT64_MAX - s.address)
            continue;
        uint64_t low = s.address & ~(uint64_t)(PAGE - 1), high = s.address + s.bytes;
        out->low = any && out->low < low ? out->low : low;
        out->high = any && out->high > high ? out->high : high;
        any = true;
    }
    return any;
}

/* Finds the table with most to say. Returns false if there is none. */
static bool find_table(const struct file *f, const struct header *h, struct section *table)
{
    struct section s;

    *table = (struct section){0};
    for (unsigned i = 0; i < h->sections; i++) {
        if (!get(f, h->sections_at + (uint64_t)i * sizeof s, &s, sizeof s))
            return false;
        if (s.type == SHT_SYMTAB || (s.type == SHT_DYNSYM && table->type != SHT_SYMTAB))
            *table = s;
    }
    return table->type && table->entry_bytes == sizeof(struct symbol) && table->at <= f->bytes &&
           table->bytes <= f->bytes - table->at;
}

/* Returns a name of the section of names, or NULL. */
static const char *name_at(const struct file *f, const struct section *names, uint32_t offset)
{
    if (names->at > f->bytes || names->bytes > f->bytes - names->at || offset >= names->bytes)
        return NULL;
    const char *name = (const char *)f->at + names->at + offset;
    return *name && memchr(name, '\0', names->bytes - offset) ? name : NULL;
}

static bool is_named(const struct symbol *s, const struct elf_names *of)
{
    unsigned type = s->info & 0xf;

    return (type == STT_FUNC || type == STT_OBJECT) && s->section && s->value >= of->low &&
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

static bool read_table(const struct file *f, const struct header *h, const struct section *table,
                       struct elf_names *out)
{
    size_t symbols = table->bytes / sizeof(struct symbol);
    struct section names;
    struct symbol s;

    if (table->link >= h->sections ||
        !get(f, h->sections_at + (uint64_t)table->link * sizeof names, &names, sizeof names))
        return false;
    out->name = calloc(symbols + 1, sizeof *out->name);
    if (!out->name)
        return false;
    for (size_t i = 0; i < symbols; i++) {
        if (!get(f, table->at + i * sizeof s, &s, sizeof s) || !is_named(&s, out))
            continue;
        const char *name = name_at(f, &names, s.name);
        if (name)
            out->name[out->count++] = (struct elf_name){s.value, s.bytes, name};
    }
    settle(out);
    return true;
}

bool elf_names_read(const uint8_t *file, size_t bytes, struct elf_names *out)
{
    const struct file f = {file, bytes};
    struct section table;
    struct header h;

    *out = (struct elf_names){0};
    if (get(&f, 0, &h, sizeof h) && !memcmp(h.magic, "\177ELF", 4) && h.bits == 2 && h.order == 1 &&
        h.segment_bytes == sizeof(struct segment) && h.section_bytes == sizeof(struct section) &&
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
        if (n.type == NT_GNU_BUILD_ID && n.name_bytes == 4 && !memcmp(n.name, "GNU", 4))
            return n.bytes <= ELF_BUILD_ID_MAX && get(f, contents, id, n.bytes) ? n.bytes : 0;
        at = contents + in_words(n.bytes);
    }
    return 0;
}

unsigned elf_build_id(const uint8_t *file, size_t bytes, uint8_t id[ELF_BUILD_ID_MAX])
{
    const struct file f = {file, bytes};
    struct segment s;
    struct header h;
    unsigned found = 0;

    if (!get(&f, 0, &h, sizeof h) || memcmp(h.magic, "\177ELF", 4) || h.bits != 2 ||
        h.segment_bytes != sizeof s)
        return 0;
    for (unsigned i = 0; i < h.segments && !found; i++)
        if (get(&f, h.segments_at + (uint64_t)i * sizeof s, &s, sizeof s) && s.type == PT_NOTE &&
            s.at <= bytes && s.file_bytes <= bytes - s.at)
            found = find_id(&f, s.at, s.at + s.file_bytes, id);
    return found;
}
