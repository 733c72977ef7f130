/*
 * Checks the firmware's description of a display (UEFI Specification 2.10, 12.9 Graphics Output
 * Protocol) and converts it for the kernel. Pure: part of the loader, tested on the host.
 */
#pragma once
#include "kernel/boot/boot_info.h"

/* Values of EFI_GRAPHICS_PIXEL_FORMAT. */
enum gop_format { GOP_RGBX, GOP_BGRX, GOP_BIT_MASK, GOP_BLT_ONLY };

struct gop_mode {
    paddr_t base;
    uint64_t size; /* bytes */
    uint32_t width, height, pixels_per_line;
    uint32_t format;                 /* an enum gop_format, if valid */
    uint32_t red, green, blue, rest; /* masks of GOP_BIT_MASK */
};

/* Converts `mode`. Returns 0; -ENOTSUP: pixels cannot be written to memory, or are not whole bytes;
 * -EINVAL: the numbers contradict each other. After an error *out has no base, and the error. */
int gop_framebuffer(const struct gop_mode *mode, struct boot_framebuffer *out);
