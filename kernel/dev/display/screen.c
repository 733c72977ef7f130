/* See screen.h. */
#include "kernel/dev/display/screen.h"

#define INK_LEVEL   208 /* of 255, in each colour: light grey */
#define UNKNOWN     '?'
#define TAB_COLUMNS 8

static uint32_t channel_level(struct boot_channel c, uint32_t level)
{
    uint64_t largest = ((uint64_t)1 << c.bits) - 1;

    return (uint32_t)((largest * level + 127) / 255) << c.shift;
}

int screen_init(struct screen *s, const struct boot_framebuffer *fb, void *pixels,
                const struct font *font)
{
    memset(s, 0, sizeof(*s));
    s->fb = *fb;
    s->pixels = pixels;
    s->font = font;
    do {
        s->scale++;
        s->columns = fb->width / (font->width * s->scale);
        s->rows = fb->height / (font->height * s->scale);
    } while (s->columns > SCREEN_COLUMNS_MAX || s->rows > SCREEN_ROWS_MAX);
    if (!s->columns || !s->rows)
        return -EINVAL;
    s->ink = channel_level(fb->red, INK_LEVEL) | channel_level(fb->green, INK_LEVEL) |
             channel_level(fb->blue, INK_LEVEL);
    memset(s->text, ' ', sizeof(s->text));
    unsigned glyph_bytes = font->width * font->height * s->scale * s->scale * fb->pixel_bytes;
    s->at_once = MAX(SCREEN_DRAW_BYTES / glyph_bytes, 1u);
    return 0;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static char *text_row(struct screen *s, unsigned row)
{
    return s->text[(s->first + row) % s->rows];
}

static void scroll(struct screen *s)
{
    s->first = (s->first + 1) % s->rows;
    memset(text_row(s, s->rows - 1), ' ', s->columns);
    memset(s->stale, true, s->rows);
}

static void new_row(struct screen *s)
{
    s->column = 0;
    if (s->row + 1 < s->rows)
        s->row++;
    else
        scroll(s);
}

static void put_glyph(struct screen *s, char c)
{
    if (s->column == s->columns)
        new_row(s);
    text_row(s, s->row)[s->column++] = c;
    s->stale[s->row] = true;
}

static void put_char(struct screen *s, char c)
{
    switch (c) {
    case '\n':
        new_row(s);
        return;
    case '\r':
        s->column = 0;
        return;
    case '\b':
        s->column -= s->column > 0;
        return;
    case '\t':
        s->column = MIN((s->column / TAB_COLUMNS + 1) * TAB_COLUMNS, s->columns);
        return;
    }
    if (c >= FONT_FIRST && c <= FONT_LAST)
        put_glyph(s, c);
    else if (((uint8_t)c & 0xc0) != 0x80) /* not a continuation byte of UTF-8 */
        put_glyph(s, UNKNOWN);
}

void screen_put(struct screen *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_char(s, text[i]);
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

static uint8_t *store(uint8_t *at, uint32_t pixel, unsigned bytes)
{
    switch (bytes) {
    case 2:
        *(uint16_t *)at = (uint16_t)pixel;
        break;
    case 4:
        *(uint32_t *)at = pixel;
        break;
    default:
        for (unsigned i = 0; i < bytes; i++)
            at[i] = (uint8_t)(pixel >> 8 * i);
    }
    return at + bytes;
}

/* Draws characters from..to-1 that differ, in one line of the framebuffer; `y` counts from the
 * row's top. */
static void draw_line(struct screen *s, unsigned row, unsigned y, unsigned from, unsigned to)
{
    const struct font *f = s->font;
    const char *want = text_row(s, row), *shown = s->shown[row];
    unsigned glyph_bytes = f->width * s->scale * s->fb.pixel_bytes;
    uint8_t *line = s->pixels + ((uint64_t)row * f->height * s->scale + y) * s->fb.pitch;

    for (unsigned column = from; column < to; column++) {
        uint8_t *at = line + column * glyph_bytes;
        if (want[column] == shown[column])
            continue;
        uint8_t bits = f->rows[(want[column] - FONT_FIRST) * f->height + y / s->scale];
        for (unsigned x = 0; x < f->width * s->scale; x++)
            at = store(at, bits & 0x80 >> x / s->scale ? s->ink : s->paper, s->fb.pixel_bytes);
    }
}

static unsigned next_change(struct screen *s, unsigned row, unsigned column)
{
    const char *want = text_row(s, row), *shown = s->shown[row];

    while (column < s->columns && want[column] == shown[column])
        column++;
    return column;
}

/* Draws a part of a row from `column` on. Returns the column where the next part begins. */
static unsigned draw_part(struct screen *s, unsigned row, unsigned column)
{
    unsigned from = next_change(s, row, column), to = MIN(from + s->at_once, s->columns);

    for (unsigned y = 0; from < to && y < s->font->height * s->scale; y++)
        draw_line(s, row, y, from, to);
    memcpy(s->shown[row] + from, text_row(s, row) + from, to - from);
    return next_change(s, row, to);
}

/* Goes round the display, from where the last call stopped, so that neither a row nor the end of a
 * row starves. */
bool screen_draw(struct screen *s)
{
    for (unsigned i = 0; i < s->rows; i++) {
        unsigned row = (s->next + i) % s->rows;
        if (!s->stale[row])
            continue;
        unsigned column = draw_part(s, row, i ? 0 : s->next_column);
        bool whole = column == s->columns;
        if (whole) /* only now: the drawing CPU may be stopped for good */
            s->stale[row] = next_change(s, row, 0) < s->columns;
        s->next = whole ? (row + 1) % s->rows : row;
        s->next_column = whole ? 0 : column;
        return true;
    }
    return false;
}

unsigned screen_draws(const struct screen *s)
{
    return s->rows * ((s->columns + s->at_once - 1) / s->at_once) +
           1; /* one row may be drawn in two halves */
}

void screen_clear(struct screen *s)
{
    for (uint32_t y = 0; y < s->fb.height; y++) {
        uint8_t *at = s->pixels + (uint64_t)y * s->fb.pitch;
        for (uint32_t x = 0; x < s->fb.width; x++)
            at = store(at, s->paper, s->fb.pixel_bytes);
    }
    memset(s->shown, ' ', sizeof(s->shown));
    memset(s->stale, true, sizeof(s->stale));
}
