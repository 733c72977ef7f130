/*
 * Text becomes pixels. The display is read back pixel by pixel with the font, by a reader that
 * shares no code with the renderer; guard bytes around the framebuffer must stay.
 */
#include <stdlib.h>
#include <stdio.h>
#include "test/host/double/expect_panic.h"
#include "kernel/dev/display/screen.h"

#define GUARD      256
#define GUARD_BYTE 0xa7

struct format {
    unsigned bytes;
    struct boot_channel red, green, blue;
};
static const struct format formats[] = {
    {4, {16, 8}, {8, 8}, {0, 8}},  {4, {0, 8}, {8, 8}, {16, 8}}, {4, {20, 10}, {10, 10}, {0, 10}},
    {4, {24, 8}, {16, 8}, {8, 8}}, {3, {16, 8}, {8, 8}, {0, 8}}, {3, {0, 8}, {8, 8}, {16, 8}},
    {2, {11, 5}, {5, 6}, {0, 5}},  {2, {10, 5}, {5, 5}, {0, 5}}, {2, {0, 5}, {5, 6}, {11, 5}},
    {4, {31, 1}, {0, 1}, {1, 1}},
};

static struct screen screen;
static uint8_t *block; /* guard, framebuffer, guard */
static uint64_t size;

static void open_with(const struct format *f, unsigned width, unsigned height, unsigned line)
{
    struct boot_framebuffer fb = {
        .base = 0x1000,
        .width = width,
        .height = height,
        .pitch = line * f->bytes,
        .pixel_bytes = f->bytes,
        .red = f->red,
        .green = f->green,
        .blue = f->blue,
    };

    free(block);
    size = boot_framebuffer_size(&fb);
    block = malloc(size + 2 * GUARD);
    memset(block, GUARD_BYTE, size + 2 * GUARD);
    assert_int_equal(screen_init(&screen, &fb, block + GUARD, &console_font), 0);
}

static void open_plain(unsigned columns, unsigned rows)
{
    open_with(&formats[0], columns * 8, rows * 16, columns * 8);
    screen_clear(&screen);
}

static void put(const char *text)
{
    screen_put(&screen, text, strlen(text));
}

static unsigned draw(void)
{
    unsigned rows = 0;

    while (screen_draw(&screen))
        assert_true(++rows <= 10000);
    return rows;
}

static uint32_t pixel(unsigned x, unsigned y)
{
    const uint8_t *at = block + GUARD + (uint64_t)y * screen.fb.pitch + x * screen.fb.pixel_bytes;
    uint32_t v = 0;

    memcpy(&v, at, screen.fb.pixel_bytes);
    return v;
}

static uint32_t level(uint32_t v, struct boot_channel c)
{
    return v >> c.shift & ((1u << c.bits) - 1);
}

/* Returns 1 for ink, the same grey in all three colours, and 0 for black; anything else fails. */
static unsigned lit(unsigned x, unsigned y)
{
    uint32_t v = pixel(x, y);
    const struct boot_framebuffer *fb = &screen.fb;
    const struct boot_channel channels[] = {fb->red, fb->green, fb->blue};
    uint64_t colours = 0;

    if (!v)
        return 0;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t largest = (1u << channels[i].bits) - 1;
        assert_int_equal(level(v, channels[i]), (largest * 208 + 127) / 255);
        colours |= largest << channels[i].shift;
    }
    assert_int_equal(v & ~colours, 0);
    return 1;
}

/* Returns the character at a position, or 0 if it is none of the font. */
static char seen(unsigned column, unsigned row)
{
    const struct font *f = &console_font;

    for (int c = FONT_FIRST; c <= FONT_LAST; c++) {
        bool same = true;
        for (unsigned y = 0; same && y < f->height * screen.scale; y++) {
            uint8_t bits = f->rows[(c - FONT_FIRST) * f->height + y / screen.scale];
            for (unsigned x = 0; same && x < f->width * screen.scale; x++)
                same =
                    lit(column * f->width * screen.scale + x, row * f->height * screen.scale + y) ==
                    (bits >> (7 - x / screen.scale) & 1u);
        }
        if (same)
            return (char)c;
    }
    return 0;
}

static void expect_row(unsigned row, const char *want)
{
    char line[SCREEN_COLUMNS_MAX + 1], padded[SCREEN_COLUMNS_MAX + 1];

    for (unsigned i = 0; i < screen.columns; i++)
        line[i] = seen(i, row) ? seen(i, row) : '#';
    line[screen.columns] = '\0';
    snprintf(padded, sizeof(padded), "%-*s", (int)screen.columns, want);
    assert_string_equal(line, padded);
}

static void expect_guards(void)
{
    for (unsigned i = 0; i < GUARD; i++) {
        assert_int_equal(block[i], GUARD_BYTE);
        assert_int_equal(block[GUARD + size + i], GUARD_BYTE);
    }
}

static void every_character_is_the_fonts_in_every_format(void **state)
{
    char all[FONT_GLYPHS + 1] = {0};

    (void)state;
    for (unsigned i = 0; i < FONT_GLYPHS; i++)
        all[i] = (char)(FONT_FIRST + i);
    for (unsigned f = 0; f < ARRAY_SIZE(formats); f++) {
        open_with(&formats[f], FONT_GLYPHS * 8, 16, FONT_GLYPHS * 8);
        screen_clear(&screen);
        put(all);
        draw();
        expect_row(0, all);
        expect_guards();
    }
}

static void characters_differ_from_one_another(void **state)
{
    (void)state;
    for (unsigned a = 0; a < FONT_GLYPHS; a++)
        for (unsigned b = 0; b < a; b++)
            assert_memory_not_equal(console_font.rows + a * 16, console_font.rows + b * 16, 16);
}

static void pixels_behind_a_line_and_odd_margins(void **state)
{
    (void)state;
    for (unsigned f = 0; f < ARRAY_SIZE(formats); f++) {
        open_with(&formats[f], 3 * 8 + 5, 2 * 16 + 7, 3 * 8 + 11);
        assert_int_equal(screen.columns, 3);
        assert_int_equal(screen.rows, 2);
        screen_clear(&screen);
        put("abcde");
        draw();
        expect_row(0, "abc");
        expect_row(1, "de");
        for (unsigned y = 0; y < screen.fb.height; y++) {
            for (unsigned x = 0; x < screen.fb.width; x++)
                if (x >= 24 || y >= 32)
                    assert_int_equal(pixel(x, y), 0);
            for (unsigned x = screen.fb.width * screen.fb.pixel_bytes;
                 y + 1 < screen.fb.height && x < screen.fb.pitch; x++)
                assert_int_equal(block[GUARD + y * screen.fb.pitch + x], GUARD_BYTE);
        }
        expect_guards();
    }
}

static void the_smallest_screen_has_one_character(void **state)
{
    struct boot_framebuffer fb;

    (void)state;
    open_with(&formats[0], 8, 16, 8);
    screen_clear(&screen);
    put("a\nb\nxyz");
    draw();
    expect_row(0, "z");
    expect_guards();
    fb = screen.fb;
    fb.width = 7;
    assert_int_equal(screen_init(&screen, &fb, block + GUARD, &console_font), -EINVAL);
    fb.width = 8;
    fb.height = 15;
    assert_int_equal(screen_init(&screen, &fb, block + GUARD, &console_font), -EINVAL);
}

static void large_displays_get_large_characters(void **state)
{
    static const struct {
        unsigned width, height, scale, columns, rows;
    } cases[] = {
        {1920, 1080, 1, 240, 67}, {2048, 2048, 1, 256, 128}, {2056, 16, 2, 128, 0},
        {2056, 32, 2, 128, 1},    {3840, 2160, 2, 240, 67},  {800, 2064, 2, 50, 64},
        {7680, 4320, 4, 240, 67},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        struct boot_framebuffer fb = {.base = 1,
                                      .width = cases[i].width,
                                      .height = cases[i].height,
                                      .pitch = cases[i].width * 4,
                                      .pixel_bytes = 4,
                                      .red = {0, 8},
                                      .green = {8, 8},
                                      .blue = {16, 8}};
        int err = screen_init(&screen, &fb, NULL, &console_font);
        assert_int_equal(err, cases[i].rows ? 0 : -EINVAL);
        assert_int_equal(screen.scale, cases[i].scale);
        assert_int_equal(screen.columns, cases[i].columns);
        assert_int_equal(screen.rows, cases[i].rows);
    }
    open_with(&formats[6], 2056, 64, 2060);
    screen_clear(&screen);
    put("Large\n  letters");
    draw();
    expect_row(0, "Large");
    expect_row(1, "  letters");
    expect_guards();
}

static void rows_end_and_go_on(void **state)
{
    (void)state;
    open_plain(5, 6);
    put("12345\n6789012345\r\n\nx");
    draw();
    expect_row(0, "12345");
    expect_row(1, "67890");
    expect_row(2, "12345");
    expect_row(3, "");
    expect_row(4, "x");
    expect_row(5, "");
}

static void the_cursor_moves_back_and_to_stops(void **state)
{
    (void)state;
    open_plain(20, 5);
    put("abc\rX\n");
    put("ab\b \bc\b\b\b\bz\n");
    put("a\tb\tc\td\n");
    draw();
    expect_row(0, "Xbc");
    expect_row(1, "zc");
    expect_row(2, "a       b       c");
    expect_row(3, "d");
}

static void what_the_font_has_not_is_one_question_mark(void **state)
{
    (void)state;
    open_plain(12, 1);
    put("\x1b[m\x7f");
    put("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"); /* characters of two, three and four bytes */
    draw();
    expect_row(0, "?[m????z");
}

static void text_scrolls_and_the_latest_is_seen(void **state)
{
    char line[16];

    (void)state;
    open_plain(10, 7);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(line, sizeof(line), "%sline %u", i ? "\n" : "", i);
        put(line);
        if (i % 3)
            continue;
        draw();
        for (unsigned row = 0; row < 7; row++) {
            unsigned n = i < 7 ? row : i - 6 + row;
            snprintf(line, sizeof(line), n <= i ? "line %u" : "", n);
            expect_row(row, line);
        }
    }
    expect_guards();
}

/* With any contents of the display, characters that changed are written and others are not. */
static void nothing_is_ever_read_from_the_framebuffer(void **state)
{
    (void)state;
    open_plain(6, 3);
    put("aa\nab\nac");
    draw();
    memset(block + GUARD, 0x55, size);
    put("\nbd");
    draw();
    for (unsigned row = 0; row < 3; row++) {
        for (unsigned column = 0; column < 6; column++) {
            bool changed = column == 1 || (row == 2 && column == 0);
            const uint8_t *at =
                block + GUARD + row * 16 * screen.fb.pitch + column * 8 * screen.fb.pixel_bytes;
            if (changed)
                assert_int_equal(seen(column, row), row == 2 ? "bd"[column] : "bc"[row]);
            else
                assert_int_equal(*at, 0x55);
        }
    }
}

static void only_rows_that_changed_are_drawn(void **state)
{
    (void)state;
    open_plain(10, 8);
    assert_int_equal(draw(), 8);
    assert_int_equal(draw(), 0);
    put("x");
    assert_int_equal(draw(), 1);
    put("y\nz\n");
    assert_int_equal(draw(), 2);
    put("\n\n\n\n\n");
    assert_int_equal(draw(), 0);
    put("\n");
    assert_int_equal(draw(), 8);
}

static size_t bytes_written(void)
{
    size_t n = 0;

    for (size_t i = 0; i < size; i++)
        n += block[GUARD + i] != GUARD_BYTE;
    return n;
}

/* All characters change. On the last display one character is larger than the limit of one call. */
static void little_is_written_at_once(void **state)
{
    static const struct {
        unsigned format, width, height, scale;
    } cases[] = {{0, 1600, 48, 1}, {4, 2048, 32, 1}, {6, 264, 64, 1},
                 {0, 2056, 64, 2}, {0, 6160, 96, 3}, {0, 12296, 96, 6}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct format *f = &formats[cases[i].format];
        open_with(f, cases[i].width, cases[i].height, cases[i].width);
        assert_int_equal(screen.scale, cases[i].scale);
        size_t glyph = 8 * 16 * cases[i].scale * cases[i].scale * f->bytes,
               limit = MAX(glyph, (size_t)SCREEN_DRAW_BYTES);
        for (unsigned n = 0; n < screen.columns * screen.rows; n++)
            put("#");
        for (unsigned calls = 0; calls < 20; calls++) {
            memset(block + GUARD, GUARD_BYTE, size);
            bool more = screen_draw(&screen);
            assert_in_range(bytes_written(), more ? glyph : 0, more ? limit : 0);
        }
        put("\r*");
        unsigned calls = draw();
        assert_in_range(calls, 1, screen_draws(&screen));
        expect_guards();
    }
}

/* A row that changes while it is drawn is first drawn to its end. */
static void what_changes_behind_the_drawing_is_drawn_later(void **state)
{
    char text[101] = {0};

    (void)state;
    open_plain(100, 2);
    draw();
    put(memset(text, 'a', 100));
    assert_true(screen_draw(&screen));
    put("\rbc");
    assert_true(screen_draw(&screen));
    assert_int_equal(seen(0, 0), 'a');
    while (seen(99, 0) != 'a')
        assert_true(screen_draw(&screen));
    assert_int_equal(seen(0, 0), 'a');
    draw();
    text[0] = 'b';
    text[1] = 'c';
    expect_row(0, text);
}

/* One row changes and is drawn all the time: every other row still gets its turn. */
static void no_row_waits_for_ever(void **state)
{
    (void)state;
    open_plain(4, 5);
    draw();
    put("a\nb\nc\nd\ne");
    for (unsigned i = 0; i < 5; i++) {
        put("\r!");
        assert_true(screen_draw(&screen));
    }
    expect_row(0, "a");
    expect_row(1, "b");
    expect_row(2, "c");
    expect_row(3, "d");
    expect_row(4, "!");
}

/* Before the framebuffer's final mapping only text is drawn, over the firmware's picture. */
static void text_is_drawn_over_a_display_that_was_not_cleared(void **state)
{
    (void)state;
    open_with(&formats[0], 80, 48, 80);
    put("early");
    assert_int_equal(draw(), 1);
    expect_row(0, "early");
    assert_int_equal(pixel(0, 16), 0xa7a7a7a7);
    screen_clear(&screen);
    assert_int_equal(pixel(0, 0), 0);
    draw();
    expect_row(0, "early");
    expect_row(1, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_is_the_fonts_in_every_format),
        cmocka_unit_test(characters_differ_from_one_another),
        cmocka_unit_test(pixels_behind_a_line_and_odd_margins),
        cmocka_unit_test(the_smallest_screen_has_one_character),
        cmocka_unit_test(large_displays_get_large_characters),
        cmocka_unit_test(rows_end_and_go_on),
        cmocka_unit_test(the_cursor_moves_back_and_to_stops),
        cmocka_unit_test(what_the_font_has_not_is_one_question_mark),
        cmocka_unit_test(text_scrolls_and_the_latest_is_seen),
        cmocka_unit_test(nothing_is_ever_read_from_the_framebuffer),
        cmocka_unit_test(only_rows_that_changed_are_drawn),
        cmocka_unit_test(little_is_written_at_once),
        cmocka_unit_test(what_changes_behind_the_drawing_is_drawn_later),
        cmocka_unit_test(no_row_waits_for_ever),
        cmocka_unit_test(text_is_drawn_over_a_display_that_was_not_cleared),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(block);
    return failed;
}
