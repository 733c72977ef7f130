/* See wall_clock.h. */
#include "kernel/core/wall_clock.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/printf.h"

uint64_t date_wanted = ARG_DATE_AUTO;

static uint64_t base_ns;

/* Returns the date of now. */
static uint64_t machine_date(const struct boot_info *info)
{
    uint64_t seconds = info->date_s;

    if (seconds || !arch_rtc_read(&seconds))
        return seconds;
    kprintf("date: event=unknown: no clock of this machine tells the date, so it is that of "
            "2026-01-01; boot argument date= sets it\n");
    return WALL_CLOCK_REPEAT;
}

/* A given date is that of the clock's 0, so that runs repeat; one that was read is that of now. */
void wall_clock_start(const struct boot_info *info, bool repeat)
{
    if (date_wanted != ARG_DATE_AUTO)
        base_ns = date_wanted * NS_PER_S;
    else if (repeat)
        base_ns = WALL_CLOCK_REPEAT * NS_PER_S;
    else
        base_ns = machine_date(info) * NS_PER_S - arch_clock_ns();
}

uint64_t wall_clock_base_ns(void)
{
    return base_ns;
}

uint64_t wall_clock_ns(void)
{
    return base_ns + arch_clock_ns();
}
