/* See symbols.h. */
#include "kernel/lib/symbols.h"

int symbols_open(const void *table, uint64_t size, struct symbols *out, const char **why)
{
    struct symbols_header *h = &out->header;
    const uint8_t *at = table;

    *out = (struct symbols){0};
    *why = "shorter than its header";
    if (size < sizeof(*h))
        return -EINVAL;
    memcpy(h, at, sizeof(*h));
    uint64_t functions = h->functions * (uint64_t)sizeof(struct symbols_function);
    uint64_t lines = h->lines * (uint64_t)sizeof(struct symbols_line),
             files = h->files * (uint64_t)sizeof(uint32_t),
             frames = h->frames * (uint64_t)sizeof(struct symbols_frame);
    *why = memcmp(h->magic, SYMBOLS_MAGIC, sizeof(h->magic)) != 0 ? "not a table of symbols"
           : sizeof(*h) + functions + lines + frames + files + h->name_bytes != size
               ? "not of the size it says"
           : h->name_bytes && at[size - 1] != '\0' ? "its last name has no end"
                                                   : NULL;
    if (*why) {
        *h = (struct symbols_header){0};
        return -EINVAL;
    }
    out->functions = at + sizeof(*h);
    out->lines = out->functions + functions;
    out->frames = out->lines + lines;
    out->files = out->frames + frames;
    out->table = table;
    out->names = (const char *)out->files + files;
    return 0;
}

/* Returns the number of entries that begin at `offset` or before. Each entry begins with its
 * offset; they ascend. */
static uint32_t count_up_to(const uint8_t *entries, uint32_t count, size_t entry_bytes,
                            uint32_t offset)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2, start;
        memcpy(&start, entries + middle * entry_bytes, sizeof(start));
        if (start <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *name_at(const struct symbols *s, uint32_t name)
{
    return name < s->header.name_bytes ? s->names + name : NULL;
}

static void find_function(const struct symbols *s, uint32_t offset, struct symbol_found *out)
{
    struct symbols_function f;
    uint32_t n = count_up_to(s->functions, s->header.functions, sizeof(f), offset);

    if (!n)
        return;
    memcpy(&f, s->functions + (n - 1) * sizeof(f), sizeof(f));
    if (offset - f.start >= f.size)
        return;
    out->function = name_at(s, f.name);
    out->offset = offset - f.start;
}

static void find_line(const struct symbols *s, uint32_t offset, struct symbol_found *out)
{
    struct symbols_line l;
    uint32_t n = count_up_to(s->lines, s->header.lines, sizeof(l), offset), name;

    if (!n)
        return;
    memcpy(&l, s->lines + (n - 1) * sizeof(l), sizeof(l));
    uint32_t file = l.place >> SYMBOLS_LINE_BITS, line = l.place & SYMBOLS_LINE_MAX;
    if (!line || file >= s->header.files)
        return;
    memcpy(&name, s->files + file * sizeof(name), sizeof(name));
    out->file = name_at(s, name);
    out->line = out->file ? line : 0;
}

bool symbols_frame_at(const void *table, vaddr_t address, struct symbols_frame *out)
{
    struct symbols_header h;

    memcpy(&h, table, sizeof(h));
    if (address < h.base || address - h.base > UINT32_MAX)
        return false;
    const uint8_t *frames = (const uint8_t *)table + sizeof(h) +
                            (size_t)h.functions * sizeof(struct symbols_function) +
                            (size_t)h.lines * sizeof(struct symbols_line);
    uint32_t n = count_up_to(frames, h.frames, sizeof(*out), (uint32_t)(address - h.base));
    if (n)
        memcpy(out, frames + (n - 1) * sizeof(*out), sizeof(*out));
    return n;
}

bool symbols_function_at(const struct symbols *s, uint32_t i, vaddr_t *start, const char **name)
{
    struct symbols_function f;

    if (i >= s->header.functions)
        return false;
    memcpy(&f, s->functions + i * sizeof f, sizeof f);
    *start = s->header.base + f.start;
    *name = name_at(s, f.name);
    return *name != NULL;
}

bool symbols_find(const struct symbols *s, vaddr_t address, struct symbol_found *out)
{
    *out = (struct symbol_found){0};
    if (address < s->header.base || address - s->header.base > UINT32_MAX)
        return false;
    find_function(s, (uint32_t)(address - s->header.base), out);
    find_line(s, (uint32_t)(address - s->header.base), out);
    return out->function || out->file;
}
