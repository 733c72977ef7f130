/* What lies at an address: a region of the process's memory, and code by its program's table or the kernel's (kernel/symbols.h). */
#include "kernel/proc/internal.h"
#include "kernel/proc/bundle.h"
#include "kernel/printf.h"

extern const char bundle_start[], bundle_end[], image_start[], image_end[];

void place_load(struct process *p, const char *program)
{
    char name[BUNDLE_NAME_MAX + 1];
    struct bundle_file file;
    const char *why;

    ksnprintf(name, sizeof(name), "symbols/%s", program);
    if (bundle_find(bundle_start, bundle_end - bundle_start, name, &file, &why))
        return;
    if (symbols_open(file.data, file.size, &p->symbols, &why))
        kprintf("%s: broken table of symbols: %s\n", p->name, why);
}

static void copy_text(char *to, size_t room, const char *from)
{
    if (from)
        ksnprintf(to, room, "%s", from);
}

void place_find(struct process *p, vaddr_t va, struct sys_place *out)
{
    struct symbols_place code = {0};

    _Static_assert(sizeof(out->region) == REGION_NAME_MAX, "names of regions as in abi.h");
    *out = (struct sys_place){0};
    if (va >= (vaddr_t)image_start && va < (vaddr_t)image_end) {
        copy_text(out->region, sizeof(out->region), "kernel");
        out->region_offset = va - (vaddr_t)image_start;
        symbols_find_kernel(va, &code);
    } else if (space_locate(p->space, va, out->region, &out->region_offset)) {
        symbols_find(&p->symbols, va, &code);
    }
    copy_text(out->function, sizeof(out->function), code.function);
    copy_text(out->file, sizeof(out->file), code.file);
    out->function_offset = code.offset;
    out->line = code.line;
}
