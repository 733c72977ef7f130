/*
 * What every way of starting hands to the kernel: the UEFI loader, PVH, and (on AArch64) the Image
 * header all end in this one structure. All addresses are physical. The strings and tables it
 * points at stay untouched because their memory is listed as BOOT_MEM_RESERVED or BOOT_MEM_KERNEL.
 */
#pragma once
#include "kernel/lib/base.h"

enum boot_mem_type { BOOT_MEM_USABLE, BOOT_MEM_RESERVED, BOOT_MEM_ACPI, BOOT_MEM_KERNEL };

struct boot_mem {
    paddr_t base;
    uint64_t size;           /* bytes */
    enum boot_mem_type type; /* where ranges overlap, the highest type wins */
};

/* A colour's part of a pixel. */
struct boot_channel {
    uint8_t shift, bits; /* at least one bit */
};

/* Lines of pixels, little-endian numbers, that may be written to. What is in it has been checked
 * (gop.h). */
struct boot_framebuffer {
    paddr_t base; /* 0: there is none */
    uint32_t width, height;
    uint32_t pitch;       /* bytes from one line to the next */
    uint32_t pixel_bytes; /* 2 to 4 */
    struct boot_channel red, green, blue;
    /* Without one: -ENODEV the firmware has none, -ENOTSUP none that can be written to, -EINVAL its
     * description is wrong; 0: this way of starting knows of none. */
    int error;
};
#define BOOT_FRAMEBUFFER_MAX (256 * MIB) /* no larger one is used */

#define BOOT_MEM_MAX         256
#define BOOT_CMDLINE_LONGEST 4095 /* characters of boot arguments, however they come */
#define BOOT_CMDLINE_MAX     (BOOT_CMDLINE_LONGEST + 1)
#define BOOT_FIRMWARE_MAX    48

struct boot_info {
    char protocol[8];     /* "pvh", "uefi", ...: for the boot line */
    paddr_t kernel_base;  /* where the image's first byte lies */
    uint64_t kernel_size; /* bytes, .bss included */
    paddr_t acpi_rsdp;    /* 0: none found */
    paddr_t dtb;          /* 0: none (always on x86-64) */
    /* x86-64: a page below 1 MB kept for starting CPUs; 0: none */
    paddr_t start_page;
    paddr_t smbios; /* entry point of either kind; 0: none found */
    /* what UEFI firmware calls itself, printable; empty without it */
    char firmware[BOOT_FIRMWARE_MAX];
    struct boot_framebuffer fb;
    size_t mem_count;
    struct boot_mem mem[BOOT_MEM_MAX]; /* sorted by base */
    char cmdline[BOOT_CMDLINE_MAX];    /* NUL-terminated; a longer one is refused by the starter */
};

/* Adds a range in its place by base. 0, or -ENOSPC when the table is full. Empty ranges are
 * ignored. */
int boot_mem_add(struct boot_info *info, paddr_t base, uint64_t size, enum boot_mem_type type);
/* Type of the page that holds pa; memory that nothing mentions is reserved. */
enum boot_mem_type boot_mem_type_of(const struct boot_info *info, paddr_t pa);
/* Of usable memory, what lies below is mapped at DIRECT_BASE from the start on: the first 4 GB of
 * addresses, or where there is no memory worth having, the 4 GB from the first that is. */
paddr_t boot_early_end(const struct boot_info *info);
/* Bytes from the first to the last pixel. */
static inline uint64_t boot_framebuffer_size(const struct boot_framebuffer *fb)
{
    return (uint64_t)(fb->height - 1) * fb->pitch + (uint64_t)fb->width * fb->pixel_bytes;
}
/* Are pixels where the table has memory that is anybody's? */
bool boot_framebuffer_in_memory(const struct boot_info *info);
