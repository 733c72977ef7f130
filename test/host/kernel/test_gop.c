/* The firmware's description of a display becomes a framebuffer, or the reason for none. */
#include "test/host/double/expect_panic.h"
#include "kernel/boot/gop.h"

static const struct gop_mode good = {
    .base = 0x80000000,
    .size = 1024 * 768 * 4,
    .width = 1024,
    .height = 768,
    .pixels_per_line = 1024,
    .format = GOP_BGRX,
};

static struct gop_mode masked(uint32_t red, uint32_t green, uint32_t blue, uint32_t rest)
{
    struct gop_mode mode = good;

    mode.format = GOP_BIT_MASK;
    mode.red = red;
    mode.green = green;
    mode.blue = blue;
    mode.rest = rest;
    return mode;
}

static void expect_channel(struct boot_channel c, unsigned shift, unsigned bits)
{
    assert_int_equal(c.shift, shift);
    assert_int_equal(c.bits, bits);
}

static void the_two_common_formats_have_a_byte_for_each_colour(void **state)
{
    struct gop_mode mode = good;
    struct boot_framebuffer fb;

    (void)state;
    assert_int_equal(gop_framebuffer(&mode, &fb), 0);
    assert_int_equal(fb.base, 0x80000000);
    assert_int_equal(fb.width, 1024);
    assert_int_equal(fb.height, 768);
    assert_int_equal(fb.pitch, 4096);
    assert_int_equal(fb.pixel_bytes, 4);
    assert_int_equal(fb.error, 0);
    expect_channel(fb.red, 16, 8);
    expect_channel(fb.green, 8, 8);
    expect_channel(fb.blue, 0, 8);
    mode.format = GOP_RGBX;
    assert_int_equal(gop_framebuffer(&mode, &fb), 0);
    expect_channel(fb.red, 0, 8);
    expect_channel(fb.green, 8, 8);
    expect_channel(fb.blue, 16, 8);
}

static void bit_masks_say_how_wide_pixels_are(void **state)
{
    static const struct {
        uint32_t red, green, blue, rest;
        unsigned bytes;
        struct boot_channel want[3];
    } cases[] = {
        {0xf800, 0x07e0, 0x001f, 0, 2, {{11, 5}, {5, 6}, {0, 5}}},
        {0x7c00, 0x03e0, 0x001f, 0x8000, 2, {{10, 5}, {5, 5}, {0, 5}}},
        {0xff0000, 0xff00, 0xff, 0, 3, {{16, 8}, {8, 8}, {0, 8}}},
        {0xff, 0xff00, 0xff0000, 0xff000000, 4, {{0, 8}, {8, 8}, {16, 8}}},
        {0x3ff00000, 0xffc00, 0x3ff, 0xc0000000, 4, {{20, 10}, {10, 10}, {0, 10}}},
        {0x80000000, 1, 2, 0, 4, {{31, 1}, {0, 1}, {1, 1}}},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gop_mode mode = masked(cases[i].red, cases[i].green, cases[i].blue, cases[i].rest);
        struct boot_framebuffer fb;
        assert_int_equal(gop_framebuffer(&mode, &fb), 0);
        assert_int_equal(fb.pixel_bytes, cases[i].bytes);
        assert_int_equal(fb.pitch, 1024 * cases[i].bytes);
        assert_memory_equal(&fb.red, &cases[i].want[0], sizeof(fb.red));
        assert_memory_equal(&fb.green, &cases[i].want[1], sizeof(fb.green));
        assert_memory_equal(&fb.blue, &cases[i].want[2], sizeof(fb.blue));
    }
}

static void masks_that_make_no_pixel_are_refused(void **state)
{
    static const struct {
        uint32_t red, green, blue, rest;
        int error;
    } cases[] = {
        {0, 0xff00, 0xff, 0, -EINVAL},                      /* a colour is missing */
        {0xff00ff00, 0xff0000, 0xff, 0, -EINVAL},           /* two runs */
        {0xff0000, 0xff00, 0xff, 0x80, -EINVAL},            /* overlap */
        {0xff0000, 0xff0000, 0xff, 0, -EINVAL},             /* overlap */
        {0xffffffff, 0xffffffff, 0xffffffff, ~0u, -EINVAL}, /* overlap everywhere */
        {0xe0, 0x1c, 0x03, 0, -ENOTSUP},                    /* a byte for all colours */
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gop_mode mode = masked(cases[i].red, cases[i].green, cases[i].blue, cases[i].rest);
        struct boot_framebuffer fb;
        assert_int_equal(gop_framebuffer(&mode, &fb), cases[i].error);
        assert_int_equal(fb.base, 0);
        assert_int_equal(fb.error, cases[i].error);
    }
}

static void a_display_without_memory_is_not_supported(void **state)
{
    static const uint32_t formats[] = {GOP_BLT_ONLY, GOP_BLT_ONLY + 1, 0xffffffff};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(formats); i++) {
        struct gop_mode mode = good;
        struct boot_framebuffer fb;
        mode.format = formats[i];
        assert_int_equal(gop_framebuffer(&mode, &fb), -ENOTSUP);
        assert_int_equal(fb.base, 0);
    }
}

static void lines_may_be_longer_than_what_is_seen(void **state)
{
    struct gop_mode mode = good;
    struct boot_framebuffer fb;

    (void)state;
    mode.pixels_per_line = 1100;
    mode.size = 767 * 4400 + 4096; /* the last line ends with its last pixel */
    assert_int_equal(gop_framebuffer(&mode, &fb), 0);
    assert_int_equal(fb.pitch, 4400);
    assert_int_equal(boot_framebuffer_size(&fb), mode.size);
    mode.size--;
    assert_int_equal(gop_framebuffer(&mode, &fb), -EINVAL);
}

/* Each row changes one number of a valid mode. */
static void numbers_that_cannot_be_are_refused(void **state)
{
    static const struct {
        size_t field, size;
        uint64_t v;
    } cases[] = {
        {offsetof(struct gop_mode, base), 8, 0},
        {offsetof(struct gop_mode, base), 8, 0x80000002},
        {offsetof(struct gop_mode, base), 8, UINT64_MAX - 4095},
        {offsetof(struct gop_mode, size), 8, 0},
        {offsetof(struct gop_mode, size), 8, 1024 * 768 * 4 - 1},
        {offsetof(struct gop_mode, width), 4, 0},
        {offsetof(struct gop_mode, width), 4, 1025},
        {offsetof(struct gop_mode, width), 4, UINT32_MAX},
        {offsetof(struct gop_mode, height), 4, 0},
        {offsetof(struct gop_mode, height), 4, 769},
        {offsetof(struct gop_mode, height), 4, UINT32_MAX},
        {offsetof(struct gop_mode, pixels_per_line), 4, 1023},
        {offsetof(struct gop_mode, pixels_per_line), 4, UINT32_MAX},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gop_mode mode = good;
        struct boot_framebuffer fb;
        memcpy((char *)&mode + cases[i].field, &cases[i].v, cases[i].size);
        assert_int_equal(gop_framebuffer(&mode, &fb), -EINVAL);
        assert_int_equal(fb.base, 0);
    }
}

static void one_larger_than_the_limit_is_refused(void **state)
{
    struct gop_mode mode = good;
    struct boot_framebuffer fb;

    (void)state;
    mode.width = mode.pixels_per_line = 8192;
    mode.height = 8192;
    mode.size = BOOT_FRAMEBUFFER_MAX;
    assert_int_equal(gop_framebuffer(&mode, &fb), 0);
    mode.height++;
    mode.size *= 2;
    assert_int_equal(gop_framebuffer(&mode, &fb), -EINVAL);
}

/* Memory from 1 MB to 2 MB, and a reservation behind it. */
static void pixels_in_memory_that_is_used_are_noticed(void **state)
{
    static struct boot_info info;
    static const struct {
        paddr_t base;
        bool in;
    } cases[] = {{MIB / 2, false}, {MIB - 4096, false},    {MIB - 4095, true},
                 {MIB + 4, true},  {2 * MIB - 1, true},    {2 * MIB, false},
                 {3 * MIB, false}, {4 * MIB - 4095, true}, {4 * MIB + 4096, false}};

    (void)state;
    assert_int_equal(boot_mem_add(&info, MIB, MIB, BOOT_MEM_USABLE), 0);
    assert_int_equal(boot_mem_add(&info, 2 * MIB, MIB, BOOT_MEM_RESERVED), 0);
    assert_int_equal(boot_mem_add(&info, 4 * MIB, 4096, BOOT_MEM_ACPI), 0);
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        info.fb = (struct boot_framebuffer){
            .base = cases[i].base, .width = 512, .height = 2, .pitch = 2048, .pixel_bytes = 4};
        assert_int_equal(boot_framebuffer_in_memory(&info), cases[i].in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_two_common_formats_have_a_byte_for_each_colour),
        cmocka_unit_test(bit_masks_say_how_wide_pixels_are),
        cmocka_unit_test(masks_that_make_no_pixel_are_refused),
        cmocka_unit_test(a_display_without_memory_is_not_supported),
        cmocka_unit_test(lines_may_be_longer_than_what_is_seen),
        cmocka_unit_test(numbers_that_cannot_be_are_refused),
        cmocka_unit_test(one_larger_than_the_limit_is_refused),
        cmocka_unit_test(pixels_in_memory_that_is_used_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
