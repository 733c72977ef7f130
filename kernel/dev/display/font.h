/* A font of fixed width for the printable ASCII characters. */
#pragma once
#include "kernel/lib/base.h"

#define FONT_FIRST  ' '
#define FONT_LAST   '~'
#define FONT_GLYPHS (FONT_LAST - FONT_FIRST + 1)

struct font {
    uint8_t width, height; /* pixels; width at most 8 */
    /* `height` bytes for each character; the leftmost pixel is the most significant bit. */
    const uint8_t *rows;
};

/* The font of the console; made by tools/font.sh. */
extern const struct font console_font;
