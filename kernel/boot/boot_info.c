/* The memory table of boot_info.h, which every way of starting fills. */
#include "kernel/boot/boot_info.h"

int boot_mem_add(struct boot_info *info, paddr_t base, uint64_t size, enum boot_mem_type type)
{
    if (!size)
        return 0;
    if (info->mem_count == BOOT_MEM_MAX)
        return -ENOSPC;
    size_t at = info->mem_count++;
    for (; at > 0 && info->mem[at - 1].base > base; at--)
        info->mem[at] = info->mem[at - 1];
    info->mem[at] = (struct boot_mem){.base = base, .size = size, .type = type};
    return 0;
}

/* Returns the end of the usable memory that begins at or before `from` and reaches beyond it;
 * `from` if there is none. */
static paddr_t usable_until(const struct boot_info *info, paddr_t from)
{
    paddr_t end = from;

    for (size_t i = 0; i < info->mem_count; i++) {
        const struct boot_mem *m = &info->mem[i];
        if (m->type == BOOT_MEM_USABLE && m->base <= from && m->size > from - m->base)
            end = MAX(end, m->size > UINT64_MAX - m->base ? UINT64_MAX : m->base + m->size);
    }
    return end;
}

int boot_initrd_set(struct boot_info *info, paddr_t base, uint64_t bytes)
{
    paddr_t end = base + bytes, image_end = info->kernel_base + info->kernel_size;

    if (!bytes)
        return 0;
    if (info->initrd.bytes)
        return -EEXIST;
    if (end < base || (base < image_end && info->kernel_base < end))
        return -EINVAL;
    for (paddr_t at = base, until; at < end; at = until) {
        until = usable_until(info, at);
        if (until == at)
            return -EINVAL;
    }
    if (boot_mem_add(info, base, bytes, BOOT_MEM_KERNEL))
        return -ENOSPC;
    info->initrd = (struct boot_initrd){base, bytes};
    return 0;
}

enum boot_mem_type boot_mem_type_of(const struct boot_info *info, paddr_t pa)
{
    paddr_t page = ALIGN_DOWN(pa, PAGE_SIZE);
    bool found = false;
    enum boot_mem_type type = BOOT_MEM_USABLE;

    for (size_t i = 0; i < info->mem_count; i++) {
        const struct boot_mem *m = &info->mem[i];
        if (page + PAGE_SIZE <= m->base || page >= m->base + m->size)
            continue;
        found = true;
        type = MAX(type, m->type);
    }
    return found ? type : BOOT_MEM_RESERVED;
}

#define EARLY_SPAN (4 * GIB)
#define WORTH      (32 * MIB)

paddr_t boot_early_end(const struct boot_info *info)
{
    for (size_t i = 0; i < info->mem_count; i++) {
        const struct boot_mem *m = &info->mem[i];
        if (m->type == BOOT_MEM_USABLE && m->size >= WORTH)
            return m->base < EARLY_SPAN ? EARLY_SPAN : ALIGN_DOWN(m->base, GIB) + EARLY_SPAN;
    }
    return EARLY_SPAN;
}

bool boot_framebuffer_in_memory(const struct boot_info *info)
{
    paddr_t base = info->fb.base, end = base + boot_framebuffer_size(&info->fb);

    for (size_t i = 0; i < info->mem_count; i++) {
        const struct boot_mem *m = &info->mem[i];
        if (m->type != BOOT_MEM_RESERVED && m->base < end && base < m->base + m->size)
            return true;
    }
    return false;
}
