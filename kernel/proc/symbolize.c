/* What lies at an address: a region of the process's memory; code, by the table of its program or
 * of the kernel (kernel/lib/symbols.h). */
#include "kernel/proc/internal.h"
#include "kernel/proc/bundle.h"
#include "kernel/core/printf.h"
#include "kernel/vdso/vdso.h"

extern const char bundle_start[], bundle_end[], image_start[], image_end[];

bool bundle_has(const void *data)
{
    return (const char *)data >= bundle_start && (const char *)data < bundle_end;
}

void symbols_load(struct symbols *out, const char *program)
{
    char name[BUNDLE_NAME_MAX + 1];
    struct bundle_file file;
    const char *why;

    ksnprintf(name, sizeof(name), "symbols/%s", program);
    if (bundle_find(bundle_start, bundle_end - bundle_start, name, &file, &why))
        return;
    if (symbols_open(file.data, file.size, out, &why))
        kprintf("%s: broken table of symbols: %s\n", program, why);
}

static void copy_text(char *to, size_t room, const char *from)
{
    if (from)
        ksnprintf(to, room, "%s", from);
}

static void put_code(const struct symbol_found *code, struct sys_symbol *out)
{
    copy_text(out->function, sizeof(out->function), code->function);
    copy_text(out->file, sizeof(out->file), code->file);
    out->function_offset = code->offset;
    out->line = code->line;
}

static bool find_kernel(vaddr_t va, struct sys_symbol *out)
{
    struct symbol_found code = {0};

    if (va < (vaddr_t)image_start || va >= (vaddr_t)image_end)
        return false;
    copy_text(out->region, sizeof(out->region), "kernel");
    out->region_offset = va - (vaddr_t)image_start;
    out->region_bytes = (uint64_t)(image_end - image_start);
    symbols_find_kernel(va, &code);
    put_code(&code, out);
    return true;
}

static bool find_vdso(vaddr_t va, struct sys_symbol *out)
{
    if (va < VDSO_EHDR || va >= VDSO_EHDR + VDSO_PAGES_MAX * PAGE_SIZE)
        return false;
    copy_text(out->region, sizeof(out->region), "vdso");
    out->region_offset = va - VDSO_EHDR;
    out->region_bytes = VDSO_PAGES_MAX * PAGE_SIZE;
    copy_text(out->function, sizeof(out->function), vdso_function_at(va, &out->function_offset));
    return true;
}

static void find_program(struct process *p, vaddr_t va, struct sys_symbol *out)
{
    struct symbol_found code = {0};
    bool irq = spin_lock(&p->lock);
    const struct symbols symbols = p->symbols;

    spin_unlock(&p->lock, irq);
    symbols_find(&symbols, va, &code);
    put_code(&code, out);
}

static bool find_region(struct process *p, vaddr_t va, struct sys_symbol *out)
{
    struct space_place place;

    if (!space_locate(p->space, va, &place))
        return false;
    memcpy(out->region, place.region, sizeof(out->region));
    out->region_offset = place.offset;
    out->region_bytes = place.bytes;
    out->shared = place.shared;
    out->shared_offset = place.shared_offset;
    return true;
}

bool symbolize_kernel(vaddr_t va, struct sys_symbol *out)
{
    *out = (struct sys_symbol){0};
    return find_kernel(va, out);
}

void symbolize(struct process *p, vaddr_t va, struct sys_symbol *out)
{
    _Static_assert(sizeof(out->region) == REGION_NAME_MAX, "names of regions as in abi.h");
    *out = (struct sys_symbol){0};
    if (!find_kernel(va, out) && !find_vdso(va, out) && find_region(p, va, out))
        find_program(p, va, out);
}

void symbolize_code(struct process *p, vaddr_t va, struct sys_symbol *out)
{
    *out = (struct sys_symbol){0};
    if (!find_kernel(va, out) && !find_vdso(va, out))
        find_program(p, va, out);
}
