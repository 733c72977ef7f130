/* See end.h. */
#include "kernel/end.h"
#include "kernel/console.h"
#include "kernel/outputs.h"
#include "kernel/printf.h"

enum { END_AUTO, END_POWEROFF, END_HOLD };
const char *const end_choices[] = {"auto", "poweroff", "hold", NULL};
uint64_t end_wanted = END_AUTO;

void end_run(unsigned code)
{
    if (end_wanted == END_HOLD || (end_wanted == END_AUTO && outputs_on_display())) {
        kprintf("end: status %u; the machine stays on\n", code);
        console_draw();
        arch_stop();
    }
    console_draw();
    arch_poweroff(code);
}
