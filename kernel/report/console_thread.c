/* The thread that draws what was printed with interrupts off. */
#include "kernel/report/report.h"
#include "kernel/core/console.h"
#include "kernel/core/outputs.h"
#include "kernel/core/printf.h"
#include "sched/sched.h"

#define DRAW_PERIOD_NS (30 * NS_PER_MS)

static void draw_for_ever(UNUSED void *arg)
{
    for (;;) {
        sched_sleep_until(arch_clock_ns() + DRAW_PERIOD_NS);
        console_draw();
    }
}

void console_thread_start(void)
{
    if (!outputs_on_display())
        return;
    if (thread_create_kernel("console", draw_for_ever, NULL, NULL)) {
        kprintf("console: no memory for the thread that draws\n");
        return;
    }
    console_draw_later();
}
