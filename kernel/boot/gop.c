/* See gop.h. */
#include "kernel/boot/gop.h"

#define SIDE_MAX  32768
#define PIXEL_MIN 2
#define PIXEL_MAX 4

/* Converts a mask that is one run of ones; -EINVAL for any other mask. */
static int channel_of(uint32_t mask, struct boot_channel *out)
{
    if (!mask)
        return -EINVAL;
    out->shift = (uint8_t)__builtin_ctz(mask);
    uint64_t run = (uint64_t)mask >> out->shift;
    out->bits = (uint8_t)log2_floor(run + 1);
    return is_pow2(run + 1) ? 0 : -EINVAL;
}

/* Describes pixels with one colour in each of bytes 0 to 3. */
static void set_bytes(struct boot_framebuffer *out, uint8_t red, uint8_t green, uint8_t blue)
{
    out->pixel_bytes = 4;
    out->red = (struct boot_channel){red, 8};
    out->green = (struct boot_channel){green, 8};
    out->blue = (struct boot_channel){blue, 8};
}

/* Describes pixels by masks. A pixel is as wide as its highest bit requires (12.9,
 * EFI_PIXEL_BITMASK). */
static int set_masks(struct boot_framebuffer *out, const struct gop_mode *mode)
{
    uint32_t all = mode->red | mode->green | mode->blue | mode->rest;
    uint64_t sum = (uint64_t)mode->red + mode->green + mode->blue + mode->rest;

    if (all != sum) /* masks overlap */
        return -EINVAL;
    if (channel_of(mode->red, &out->red) || channel_of(mode->green, &out->green) ||
        channel_of(mode->blue, &out->blue))
        return -EINVAL;
    out->pixel_bytes = log2_floor(all) / 8 + 1;
    return out->pixel_bytes >= PIXEL_MIN && out->pixel_bytes <= PIXEL_MAX ? 0 : -ENOTSUP;
}

static int set_format(struct boot_framebuffer *out, const struct gop_mode *mode)
{
    switch (mode->format) {
    case GOP_RGBX:
        set_bytes(out, 0, 8, 16);
        return 0;
    case GOP_BGRX:
        set_bytes(out, 16, 8, 0);
        return 0;
    case GOP_BIT_MASK:
        return set_masks(out, mode);
    default:
        return -ENOTSUP;
    }
}

static int convert(const struct gop_mode *mode, struct boot_framebuffer *out)
{
    int err = set_format(out, mode);

    if (err)
        return err;
    if (!mode->width || mode->width > SIDE_MAX || !mode->height || mode->height > SIDE_MAX ||
        mode->pixels_per_line < mode->width || mode->pixels_per_line > SIDE_MAX)
        return -EINVAL;
    out->width = mode->width;
    out->height = mode->height;
    out->pitch = mode->pixels_per_line * out->pixel_bytes;
    uint64_t used = boot_framebuffer_size(out);
    if (!mode->base || mode->base & (out->pixel_bytes == 3 ? 0 : out->pixel_bytes - 1) ||
        used > mode->size || used > BOOT_FRAMEBUFFER_MAX || mode->base + used < mode->base)
        return -EINVAL;
    out->base = mode->base;
    return 0;
}

int gop_framebuffer(const struct gop_mode *mode, struct boot_framebuffer *out)
{
    *out = (struct boot_framebuffer){0};
    int err = convert(mode, out);
    if (err)
        *out = (struct boot_framebuffer){.error = err};
    return err;
}
