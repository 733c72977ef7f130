/* The symbol table of the kernel itself, which its second link adds. See symbols.h. */
#include "kernel/lib/symbols.h"
#include "kernel/core/printf.h"

extern const char symbols_start[], symbols_end[], image_start[], text_end[];

bool symbols_find_kernel(vaddr_t address, struct symbol_found *out)
{
    struct symbols symbols;
    const char *why;

    *out = (struct symbol_found){0};
    if (address < (vaddr_t)image_start || address >= (vaddr_t)text_end)
        return false;
    return !symbols_open(symbols_start, (uint64_t)(symbols_end - symbols_start), &symbols, &why) &&
           symbols_find(&symbols, address, out);
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
