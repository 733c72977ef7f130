/*
 * Text on a framebuffer. The text is kept in memory, so the framebuffer is only ever written:
 * screen_draw() draws a few of the characters that differ. Pure: no lock, clock or allocation.
 */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/dev/display/font.h"

#define SCREEN_COLUMNS_MAX 256
#define SCREEN_ROWS_MAX    128
/* Bytes of the framebuffer that are drawn at once, or a character if that is more: the caller has
 * interrupts off. */
#define SCREEN_DRAW_BYTES 16384u

struct screen {
    struct boot_framebuffer fb;
    uint8_t *pixels; /* of fb */
    const struct font *font;
    unsigned scale; /* pixels per pixel of the font, in each direction */
    unsigned columns, rows;
    /* Position of the next character; if column == columns, it goes to the next row. */
    unsigned row, column;
    unsigned first;             /* index in text[] of the row at the top */
    unsigned next, next_column; /* where screen_draw() continues */
    unsigned at_once;           /* characters drawn by one call */
    uint32_t ink, paper;        /* pixel values */
    /* Rows of the display that may differ from the text. */
    bool stale[SCREEN_ROWS_MAX];
    char text[SCREEN_ROWS_MAX][SCREEN_COLUMNS_MAX];  /* printable ASCII */
    char shown[SCREEN_ROWS_MAX][SCREEN_COLUMNS_MAX]; /* on the display; 0: unknown */
};

/* Initialises an empty screen with the largest number of characters that fit, in larger characters
 * if there would be too many. Draws nothing. `pixels`: where `fb` is mapped. Returns 0, or -EINVAL
 * if no character fits. */
int screen_init(struct screen *s, const struct boot_framebuffer *fb, void *pixels,
                const struct font *font);
/* Appends text. \n and the end of a row begin a new row, and the last row scrolls; \r, \b and \t
 * move. Other bytes that are not printable ASCII become one '?' for each UTF-8 character. */
void screen_put(struct screen *s, const char *text, size_t n);
/* Draws some characters of one row. Returns false if no character differs from the text. */
bool screen_draw(struct screen *s);
/* Returns the number of calls that draw everything, if the text stays as it is. */
unsigned screen_draws(const struct screen *s);
/* Paints the whole framebuffer, margins included; the text must then be drawn again. */
void screen_clear(struct screen *s);
