/* See end.h. */
#include "kernel/end.h"
#include "kernel/console.h"
#include "kernel/outputs.h"
#include "kernel/printf.h"

enum { END_AUTO, END_POWEROFF, END_HOLD };
const char *const end_choices[] = {"auto", "poweroff", "hold", NULL};
uint64_t end_wanted = END_AUTO;

static void (*last_words)(void);

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
        kprintf("end: status %u; the machine stays on\n", code);
        console_draw();
        arch_stop();
    }
    console_draw();
    arch_poweroff(code);
}
