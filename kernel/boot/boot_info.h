/*
 * What every way of starting passes to the kernel: the UEFI loader, PVH, and (on AArch64) the Image
 * header all end in this structure. All addresses are physical. The strings and tables that it
 * points at are listed as BOOT_MEM_RESERVED or BOOT_MEM_KERNEL, so nothing overwrites them.
 */
#pragma once
#include "kernel/lib/base.h"

enum boot_mem_type { BOOT_MEM_USABLE, BOOT_MEM_RESERVED, BOOT_MEM_ACPI, BOOT_MEM_KERNEL };

struct boot_mem {
    paddr_t base;
    uint64_t size;           /* bytes */
    enum boot_mem_type type; /* where ranges overlap, the highest type wins */
};

/* The bits of a pixel that hold one colour. */
struct boot_channel {
    uint8_t shift, bits; /* at least one bit */
};

/* A checked framebuffer (gop.h). A pixel is a little-endian number. */
struct boot_framebuffer {
    paddr_t base; /* 0: there is none */
    uint32_t width, height;
    uint32_t pitch;       /* bytes from one line to the next */
    uint32_t pixel_bytes; /* 2 to 4 */
    struct boot_channel red, green, blue;
    /* If base is 0: -ENODEV: the firmware has no framebuffer; -ENOTSUP: none that can be written
     * to; -EINVAL: its description is invalid; 0: this way of starting does not look for one. */
    int error;
};
#define BOOT_FRAMEBUFFER_MAX (256 * MIB) /* larger ones are not used */

/* A file that the loader put into memory with the kernel (QEMU's -initrd): a tar archive. */
struct boot_initrd {
    paddr_t base;   /* not always that of a page */
    uint64_t bytes; /* 0: there is none */
};

#define BOOT_MEM_MAX         256
#define BOOT_CMDLINE_LONGEST 4095 /* characters of boot arguments, by any way of starting */
#define BOOT_CMDLINE_MAX     (BOOT_CMDLINE_LONGEST + 1)
/* The reason for start_fail(). */
#define BOOT_CMDLINE_TOO_LONG \
    "too-long limit=" TEXT_OF(BOOT_CMDLINE_LONGEST) ": the command line has more characters"
#define BOOT_FIRMWARE_MAX 48

struct boot_info {
    char protocol[8];     /* "pvh", "uefi", ...; printed at boot */
    paddr_t kernel_base;  /* address of the image's first byte */
    uint64_t kernel_size; /* bytes, .bss included */
    paddr_t acpi_rsdp;    /* 0: not found */
    paddr_t dtb;          /* 0: none (always on x86-64) */
    /* x86-64: a page below 1 MB, kept for starting CPUs; 0: none. */
    paddr_t start_page;
    paddr_t smbios; /* entry point of either kind; 0: not found */
    /* Name and version of UEFI firmware, printable; empty if another way of starting was used. */
    char firmware[BOOT_FIRMWARE_MAX];
    uint64_t date_s; /* seconds since 1970 as UEFI firmware says; 0: another way of starting */
    struct boot_framebuffer fb;
    struct boot_initrd initrd; /* its memory is listed as BOOT_MEM_KERNEL */
    size_t mem_count;
    struct boot_mem mem[BOOT_MEM_MAX]; /* sorted by base */
    char cmdline[BOOT_CMDLINE_MAX];    /* NUL-terminated; the loader refuses a longer one */
};

/* Inserts a range by its base. Empty ranges are ignored. Returns 0, or -ENOSPC when the table is
 * full. */
int boot_mem_add(struct boot_info *info, paddr_t base, uint64_t size, enum boot_mem_type type);
/* Notes the initrd, if `bytes` is not 0, and takes its memory; `info` has all memory and the
 * kernel's image. Returns 0; -EINVAL: part of it is not in usable memory (reserved memory within
 * usable memory is its own reservation) or in the image; -EEXIST: there is one; -ENOSPC: the table
 * is full. */
int boot_initrd_set(struct boot_info *info, paddr_t base, uint64_t bytes);
/* Returns the type of the page that holds `pa`; memory that no entry covers is reserved. */
enum boot_mem_type boot_mem_type_of(const struct boot_info *info, paddr_t pa);
/* Returns the end of the memory that is mapped at DIRECT_BASE from the start: 4 GB or, if the first
 * large range of usable memory is above that, 4 GB above its start, which is rounded to 1 GB. */
paddr_t boot_early_end(const struct boot_info *info);
/* Returns the number of bytes from the first to the last pixel. */
static inline uint64_t boot_framebuffer_size(const struct boot_framebuffer *fb)
{
    return (uint64_t)(fb->height - 1) * fb->pitch + (uint64_t)fb->width * fb->pixel_bytes;
}
/* Returns whether the framebuffer overlaps memory of the table. */
bool boot_framebuffer_in_memory(const struct boot_info *info);
