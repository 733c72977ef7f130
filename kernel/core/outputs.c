/* See outputs.h. */
#include "kernel/core/outputs.h"
#include "kernel/core/printf.h"
#include "kernel/boot/boot_info.h"
#include "kernel/dev/display/screen.h"

const char *const outputs_choices[] = {"auto", "serial", "framebuffer", "both", NULL};

struct outputs {
    bool serial, display;
};
static const struct outputs wanted_by_choice[] = {
    [OUTPUTS_SERIAL] = {.serial = true},
    [OUTPUTS_FRAMEBUFFER] = {.display = true},
    [OUTPUTS_BOTH] = {.serial = true, .display = true},
};
/* The outputs of OUTPUTS_AUTO, by the serial port there is. */
static const struct outputs wanted_by_itself[] = {
    [SERIAL_NONE] = {.display = true},
    [SERIAL_FOUND] = {.serial = true, .display = true},
    [SERIAL_NAMED] = {.serial = true},
};

static struct screen screen;
static struct outputs asked, present;
/* Until outputs_init(): any serial port there is. */
static struct outputs used = {.serial = true};
/* Why there is no display: an error of struct boot_framebuffer; -EEXIST: it overlaps memory;
 * -E2BIG: it has no room for a character. */
static int display_error;

static int open_display(const struct boot_info *info)
{
    const struct boot_framebuffer *fb = &info->fb;

    if (!fb->base)
        return fb->error ? fb->error : -ENOENT;
    if (boot_framebuffer_in_memory(info))
        return -EEXIST;
    return screen_init(&screen, fb, framebuffer_at(fb->base), &console_font) ? -E2BIG : 0;
}

void outputs_init(const struct boot_info *info, enum arch_serial serial, enum outputs_choice choice)
{
    display_error = open_display(info);
    present = (struct outputs){.serial = serial != SERIAL_NONE, .display = !display_error};
    if (choice != OUTPUTS_AUTO)
        asked = wanted_by_choice[choice];
    const struct outputs *wanted = choice == OUTPUTS_AUTO ? &wanted_by_itself[serial] : &asked;
    used.serial = present.serial && (wanted->serial || !present.display);
    used.display = present.display && (wanted->display || !present.serial);
}

static const char *display_missing(void)
{
    switch (display_error) {
    case -ENOENT:
        return "this way of starting hands over none";
    case -ENODEV:
        return "the firmware has none";
    case -ENOTSUP:
        return "the firmware's cannot be written to as memory";
    case -EEXIST:
        return "the firmware's lies in memory that is in use";
    case -E2BIG:
        return "the firmware's has no room for a character";
    default:
        return "the firmware describes it wrongly";
    }
}

void outputs_report(void)
{
    const struct boot_framebuffer *fb = &screen.fb;

    if (asked.display && !present.display)
        kprintf("console: event=missing output=framebuffer: %s\n", display_missing());
    if (asked.serial && !present.serial)
        kprintf("console: event=missing output=serial\n");
    if (used.display)
        kprintf("console: event=ready output=framebuffer%s pixels=%ux%u bits=%u characters=%ux%u\n",
                used.serial ? ",serial" : "", fb->width, fb->height, fb->pixel_bytes * 8,
                screen.columns, screen.rows);
}

void outputs_mapped(void)
{
    if (used.display)
        screen_clear(&screen);
}

bool outputs_on_display(void)
{
    return used.display;
}

size_t outputs_send(const char *s, size_t n)
{
    return used.serial ? arch_console_write(s, n) : n;
}

void outputs_show(const char *s, size_t n)
{
    if (used.display)
        screen_put(&screen, s, n);
}

unsigned outputs_draws(void)
{
    return used.display ? screen_draws(&screen) : 0;
}

bool outputs_draw(void)
{
    return used.display && screen_draw(&screen);
}
