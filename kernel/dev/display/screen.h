/*
 * Text on a framebuffer. What should be seen is kept as text, so the framebuffer is only ever
 * written to: characters that are not yet as they should be are drawn, a few at a time, when the
 * owner says so. Pure: no lock, clock or allocation; works the same on the host.
 */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/dev/display/font.h"

#define SCREEN_COLUMNS_MAX 256
#define SCREEN_ROWS_MAX    128
/* So much of the framebuffer is written at once, or a character if that is more: who draws has
 * interrupts off. */
#define SCREEN_DRAW_BYTES 16384u

struct screen {
    struct boot_framebuffer fb;
    uint8_t *pixels; /* of fb */
    const struct font *font;
    unsigned scale; /* pixels of a font's pixel, each way */
    unsigned columns, rows;
    /* where the next character goes; column may be columns: then it goes to the next row */
    unsigned row, column;
    unsigned first;             /* text[first] is shown at the top */
    unsigned next, next_column; /* where screen_draw looks first */
    unsigned at_once;           /* characters drawn by one call */
    uint32_t ink, paper;        /* pixels */
    /* rows of the display that may differ from the text */
    bool stale[SCREEN_ROWS_MAX];
    char text[SCREEN_ROWS_MAX][SCREEN_COLUMNS_MAX];  /* printable ASCII */
    char shown[SCREEN_ROWS_MAX][SCREEN_COLUMNS_MAX]; /* on the display; 0: not known */
};

/* An empty screen of as many characters as fit, larger where there would be too many; nothing is
 * drawn. pixels: where fb is mapped. 0, or -EINVAL when not a single character fits. */
int screen_init(struct screen *s, const struct boot_framebuffer *fb, void *pixels,
                const struct font *font);
/* Text goes on behind what is there: \n and the end of a row begin a new row, the last one scrolls;
 * \r, \b and \t move. Other bytes that are no printable ASCII are one '?' for each character of
 * UTF-8. */
void screen_put(struct screen *s, const char *text, size_t n);
/* Brings some characters of one row up to date. False: none needed it. */
bool screen_draw(struct screen *s);
/* So many calls bring all of it up to date if the text stays as it is. */
unsigned screen_draws(const struct screen *s);
/* Paints all of the framebuffer, margins included; the text must be drawn again. */
void screen_clear(struct screen *s);
