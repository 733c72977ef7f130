/*
 * From boot.S to kernel_main(): gets boot_info from the loader or from the device tree, and makes
 * the mappings at DIRECT_BASE that kernel/arch/arch.h requires.
 */
#include "internal.h"
#include "boot.h"
#include "cpu_init.h"
#include "kernel/core/cpu.h"
#include "kernel/arch/memory.h"
#include "kernel/arch/start_fail.h"
#include "kernel/firmware/devtree.h"

#define LARGE_PAGE (2 * MIB)

extern char image_start[], image_end[];

static struct boot_info boot_info;
static paddr_t image, next_table;

static int take_table(UNUSED const struct arch_frames *self, paddr_t *out)
{
    if (next_table == start_image_pa(boot_tables) + BOOT_TABLES_SIZE)
        return -ENOMEM;
    *out = next_table;
    next_table += PAGE_SIZE;
    return 0;
}

static const struct arch_frames frames = {.alloc = take_table};
static struct pt tables = {.format = &pte_format, .frames = &frames};

const struct boot_info *start_info(void)
{
    return &boot_info;
}

struct pt *start_tables(void)
{
    return &tables;
}

paddr_t start_image_pa(const void *symbol)
{
    return image + ((vaddr_t)symbol - (vaddr_t)image_start);
}

paddr_t start_identity_root(void)
{
    return start_image_pa(boot_tables) + PAGE_SIZE;
}

/* Maps the large pages that contain the range, unless they are mapped. */
static void map_early(paddr_t from, paddr_t to)
{
    for (paddr_t pa = ALIGN_DOWN(from, LARGE_PAGE); pa < to; pa += LARGE_PAGE) {
        int err = pt_map(&tables, DIRECT_BASE + pa, pa, LARGE_PAGE, PROT_R | PROT_W);
        if (err == -ERANGE)
            start_fail("address: firmware has memory beyond this CPU's physical addresses");
        if (err && err != -EEXIST)
            start_fail("tables: no room for the first page tables");
    }
}

/* Maps memory. Firmware's tables and the image are mapped anywhere: the tables tell where the
 * console is, and the image contains the kernel's first tables. */
static void map_memory(const struct boot_info *info)
{
    const unsigned anywhere = 1u << BOOT_MEM_ACPI | 1u << BOOT_MEM_KERNEL;
    paddr_t early_end = boot_early_end(info);

    for (size_t i = 0; i < info->mem_count; i++) {
        const struct boot_mem *m = &info->mem[i];
        paddr_t end = m->base + m->size;
        if (!(anywhere & 1u << m->type))
            end = MIN(end, early_end);
        if (m->type != BOOT_MEM_RESERVED && m->base < end)
            map_early(m->base, end);
    }
}

static void map_framebuffer(const struct boot_framebuffer *fb)
{
    paddr_t from = ALIGN_DOWN(fb->base, PAGE_SIZE);

    if (!fb->base)
        return;
    int err = pt_map(&tables, (vaddr_t)framebuffer_at(from), from,
                     ALIGN_UP(fb->base + boot_framebuffer_size(fb), PAGE_SIZE) - from,
                     PROT_R | PROT_W | PROT_GATHER);
    if (err)
        start_fail(err == -ERANGE
                       ? "address: firmware's framebuffer lies beyond this CPU's physical addresses"
                       : "tables: no room for the first page tables");
}

static void take_info(paddr_t at)
{
    map_early(at, at + sizeof(boot_info));
    boot_info = *(const struct boot_info *)phys_to_virt(at);
    map_framebuffer(&boot_info.fb);
    if (boot_info.dtb)
        map_early(boot_info.dtb, boot_info.dtb + DEVTREE_MAX);
}

static void take_devtree(paddr_t at)
{
    memcpy(boot_info.protocol, "image", sizeof("image"));
    boot_info.kernel_base = image;
    boot_info.kernel_size = (uint64_t)(image_end - image_start);
    map_early(at, at + DEVTREE_MAX);
    if (devtree_size(phys_to_virt(at)))
        boot_info.dtb = at; /* names the console, even if the rest is invalid */
    switch (devtree_boot_info(phys_to_virt(at), at, &boot_info)) {
    case 0:
        break;
    case -ENOENT:
        start_fail("device-tree: it names no memory");
    case -ENOSPC:
        start_fail("ranges: the device tree has too many ranges of memory");
    case -E2BIG:
        start_fail(BOOT_CMDLINE_TOO_LONG);
    default:
        start_fail("device-tree: there is none that can be read");
    }
    if (boot_mem_add(&boot_info, image, boot_info.kernel_size, BOOT_MEM_KERNEL))
        start_fail("ranges: the device tree has too many ranges of memory");
    if (devtree_initrd(phys_to_virt(at), &boot_info))
        start_fail("initrd: it is not in memory that the kernel may use");
}

void aarch64_start(paddr_t at, bool is_info, paddr_t image_pa, paddr_t free_tables)
{
    image = image_pa;
    next_table = free_tables;
    tables.root = start_image_pa(boot_tables);
    cpu_init(&cpus[0]);
    if (is_info)
        take_info(at);
    else
        take_devtree(at);
    map_memory(&boot_info);
    kernel_main(&boot_info);
}
