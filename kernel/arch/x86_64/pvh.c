/*
 * Converts the start information of PVH to boot_info. Layout: Xen,
 * xen/include/public/arch-x86/hvm/start_info.h; the memory types are those of ACPI's "INT 15h,
 * E820h" table.
 */
#include "internal.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/start_fail.h"

#define HVM_START_MAGIC 0x336ec578

struct hvm_start_info {
    uint32_t magic, version, flags, module_count;
    uint64_t modules, cmdline, rsdp;
    uint64_t memmap; /* since version 1 */
    uint32_t memmap_count, reserved;
};

struct hvm_modlist_entry {
    uint64_t base, bytes, cmdline, reserved;
};

struct hvm_memmap_entry {
    uint64_t base, size;
    uint32_t type, reserved;
};

extern char image_start[], image_end[];
static struct boot_info pvh_info; /* too large for the boot stack */

static enum boot_mem_type type_of(uint32_t e820)
{
    static const enum boot_mem_type types[] = {
        [1] = BOOT_MEM_USABLE,
        [2] = BOOT_MEM_RESERVED,
        [3] = BOOT_MEM_ACPI,
        [4] = BOOT_MEM_ACPI,
    };
    return e820 >= 1 && e820 < ARRAY_SIZE(types) ? types[e820] : BOOT_MEM_RESERVED;
}

static void take_memory(struct boot_info *info, const struct hvm_start_info *start)
{
    const struct hvm_memmap_entry *map = phys_to_virt(start->memmap);

    for (uint32_t i = 0; i < start->memmap_count; i++) {
        if (boot_mem_add(info, map[i].base, map[i].size, type_of(map[i].type)))
            start_fail("ranges: the memory map has too many entries");
    }
    if (boot_mem_add(info, info->kernel_base, info->kernel_size, BOOT_MEM_KERNEL))
        start_fail("ranges: the memory map has too many entries");
}

static void take_cmdline(struct boot_info *info, paddr_t cmdline)
{
    const char *s = phys_to_virt(cmdline);

    for (size_t i = 0; cmdline && i < BOOT_CMDLINE_MAX; i++) {
        info->cmdline[i] = s[i];
        if (!s[i])
            return;
    }
    if (cmdline)
        start_fail(BOOT_CMDLINE_TOO_LONG);
}

/* The first module is the initrd; others are not looked at. */
static void take_initrd(struct boot_info *info, const struct hvm_start_info *start)
{
    const struct hvm_modlist_entry *module = phys_to_virt(start->modules);

    if (start->module_count && boot_initrd_set(info, module->base, module->bytes))
        start_fail("initrd: it is not in memory that the kernel may use");
}

void x86_start_pvh(paddr_t start_info)
{
    const struct hvm_start_info *start = phys_to_virt(start_info);
    struct boot_info *info = &pvh_info;

    if (start->magic != HVM_START_MAGIC || start->version < 1)
        start_fail("pvh limit=" TEXT_OF(
            BOOT_CMDLINE_LONGEST) ": no PVH start information of version 1 or later; QEMU's "
                                  "firmware destroys it when the command line is longer");
    memcpy(info->protocol, "pvh", sizeof("pvh"));
    info->kernel_base = (vaddr_t)image_start - KERNEL_BASE;
    info->kernel_size = (uint64_t)(image_end - image_start);
    info->acpi_rsdp = start->rsdp;
    take_memory(info, start);
    take_initrd(info, start);
    take_cmdline(info, start->cmdline);
    x86_start(info);
}
