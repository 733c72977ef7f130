/* Any bytes as a table of symbols: whatever is asked, answers lie inside the table. */
#include <stdlib.h>
#include <string.h>
#include "kernel/lib/symbols.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static void check_name(const char *name, const uint8_t *data, size_t size)
{
    const char *end = (const char *)data + size;

    if (name &&
        (name < (const char *)data || name >= end || !memchr(name, '\0', (size_t)(end - name))))
        abort();
}

static void ask(const struct symbols *symbols, uint64_t address, const uint8_t *data, size_t size)
{
    struct symbol_found place;

    if (symbols_find(symbols, address, &place) != (place.function || place.file) ||
        !place.file != !place.line)
        abort();
    check_name(place.function, data, size);
    check_name(place.file, data, size);
}

static void ask_all(const uint8_t *data, size_t size)
{
    struct symbols symbols;
    const char *why;
    uint64_t base;

    if (symbols_open(data, size, &symbols, &why)) {
        if (!why)
            abort();
        ask(&symbols, 0, data, size);
        return;
    }
    base = symbols.header.base;
    for (uint64_t at = 0; at < 256; at++) {
        ask(&symbols, base + at, data, size);
        ask(&symbols, base + (at << 24), data, size);
        ask(&symbols, base - at, data, size);
    }
    for (size_t i = 0; i + sizeof(uint32_t) <= size; i++) { /* offsets that occur in it */
        uint32_t offset;
        memcpy(&offset, data + i, sizeof(offset));
        ask(&symbols, base + offset, data, size);
    }
}

static uint32_t take(uint64_t *room, uint32_t count, size_t bytes)
{
    uint32_t taken = *room / bytes ? (uint32_t)(count % (*room / bytes + 1)) : 0;

    *room -= taken * bytes;
    return taken;
}

/* The same with a header that is accepted: chance would not come by one. */
static void ask_mended(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size);
    uint64_t room = size - sizeof(struct symbols_header);
    struct symbols_header h;

    memcpy(copy, data, size);
    memcpy(&h, data, sizeof(h));
    memcpy(h.magic, SYMBOLS_MAGIC, sizeof(h.magic));
    h.functions = take(&room, h.functions, sizeof(struct symbols_function));
    h.lines = take(&room, h.lines, sizeof(struct symbols_line));
    h.files = take(&room, h.files, sizeof(uint32_t));
    h.name_bytes = (uint32_t)room;
    memcpy(copy, &h, sizeof(h));
    if (room)
        copy[size - 1] = '\0';
    ask_all(copy, size);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ask_all(data, size);
    if (size >= sizeof(struct symbols_header))
        ask_mended(data, size);
    return 0;
}
