/* The symbol table of the kernel itself, which its second link adds. See symbols.h. */
#include "kernel/lib/symbols.h"
#include "kernel/core/printf.h"

extern const char symbols_start[], symbols_end[], image_start[], text_end[], data_start[],
    bss_start[], image_end[];

/* Returns the offset that the table has for an address; UINT32_MAX: it is of neither code nor
 * variables. */
static uint32_t offset_of(vaddr_t address)
{
    vaddr_t text = (vaddr_t)image_start, data = (vaddr_t)data_start, bss = (vaddr_t)bss_start;

    if (address >= text && address < (vaddr_t)text_end)
        return (uint32_t)(address - text);
    if (address >= data && address < bss)
        return SYMBOLS_DATA + (uint32_t)(address - data);
    return address >= bss && address < (vaddr_t)image_end ? SYMBOLS_BSS + (uint32_t)(address - bss)
                                                          : UINT32_MAX;
}

bool symbols_find_kernel(vaddr_t address, struct symbol_found *out)
{
    uint32_t offset = offset_of(address);
    struct symbols symbols;
    const char *why;

    *out = (struct symbol_found){0};
    return offset != UINT32_MAX &&
           !symbols_open(symbols_start, (uint64_t)(symbols_end - symbols_start), &symbols, &why) &&
           symbols_find(&symbols, symbols.header.base + offset, out);
}

bool symbols_kernel_at(const struct symbols *symbols, uint32_t i, vaddr_t *start, const char **name,
                       char *kind)
{
    vaddr_t at;

    if (!symbols_function_at(symbols, i, &at, name))
        return false;
    uint64_t offset = at - symbols->header.base;
    *kind = offset < SYMBOLS_DATA ? 't' : offset < SYMBOLS_BSS ? 'd' : 'b';
    *start = *kind == 't'   ? (vaddr_t)image_start + offset
             : *kind == 'd' ? (vaddr_t)data_start + (offset - SYMBOLS_DATA)
                            : (vaddr_t)bss_start + (offset - SYMBOLS_BSS);
    return true;
}

bool symbols_open_kernel(struct symbols *out, vaddr_t *text, vaddr_t *end)
{
    const char *why;

    *text = (vaddr_t)image_start;
    *end = (vaddr_t)text_end;
    return !symbols_open(symbols_start, (uint64_t)(symbols_end - symbols_start), out, &why);
}

void symbols_describe(const struct symbol_found *place, char *buf, size_t n)
{
    size_t used = 0;

    buf[0] = '\0';
    if (place->function)
        used = ksnprintf(buf, n, "%s+0x%llx", place->function, (unsigned long long)place->offset);
    if (place->file && used < n)
        ksnprintf(buf + used, n - used, "%s%s:%u", used ? " " : "", place->file, place->line);
}
