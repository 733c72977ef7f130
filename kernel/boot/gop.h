/*
 * What firmware says of a display (UEFI Specification 2.10, 12.9 Graphics Output Protocol), checked
 * and made the kernel's. Pure: part of the loader, tested on the host.
 */
#pragma once
#include "kernel/boot/boot_info.h"

/* EFI_GRAPHICS_PIXEL_FORMAT, with its values. */
enum gop_format { GOP_RGBX, GOP_BGRX, GOP_BIT_MASK, GOP_BLT_ONLY };

struct gop_mode {
    paddr_t base;
    uint64_t size; /* bytes */
    uint32_t width, height, pixels_per_line;
    uint32_t format;                 /* enum gop_format, if it is one */
    uint32_t red, green, blue, rest; /* masks of GOP_BIT_MASK */
};

/* 0; -ENOTSUP when pixels cannot be written to memory, or not as bytes in a row; -EINVAL when
 * numbers contradict one another. Then *out has no base, and says so as error. */
int gop_framebuffer(const struct gop_mode *mode, struct boot_framebuffer *out);
