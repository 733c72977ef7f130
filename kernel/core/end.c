/* See end.h. */
#include "kernel/core/end.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/outputs.h"
#include "kernel/core/panic.h"
#include "kernel/core/printf.h"

enum { END_AUTO, END_POWEROFF, END_HOLD };
const char *const end_choices[] = {"auto", "poweroff", "hold", NULL};
uint64_t end_wanted = END_AUTO;

static void (*last_words)(void);

/* Used by its own CPU only; the stop interrupt comes between its instructions. */
static struct {
    volatile bool inside, asked;
} ALIGNED(CACHE_LINE) whole[CPU_MAX];

void end_whole_begin(void)
{
    whole[this_cpu()->index].inside = true;
}

void end_whole_end(void)
{
    unsigned me = this_cpu()->index;

    whole[me].inside = false;
    if (whole[me].asked)
        panic_stop_asked();
}

bool end_whole_asked(void)
{
    unsigned me = this_cpu()->index;

    whole[me].asked = whole[me].inside;
    return whole[me].asked;
}

void end_attach(void (*words)(void))
{
    last_words = words;
}

void end_run(unsigned code)
{
    void (*words)(void) = last_words;

    last_words = NULL; /* they may panic */
    if (words)
        words();
    if (end_wanted == END_HOLD || (end_wanted == END_AUTO && outputs_on_display())) {
        kprintf("end: status=%u machine=on: it stays on\n", code);
        console_draw();
        arch_stop();
    }
    console_draw();
    arch_poweroff(code);
}
