/*
 * The date: CLOCK_REALTIME is the date at which arch_clock_ns() was 0, plus that. It is found once
 * and not changed. Boot argument `date`.
 */
#pragma once
#include "kernel/lib/base.h"

struct boot_info; /* kernel/boot/boot_info.h */

extern uint64_t date_wanted; /* boot argument `date`: seconds since 1970, or ARG_DATE_AUTO */

/* Finds the date: the boot argument's; else, if `repeat`, WALL_CLOCK_REPEAT; else that of firmware
 * or of the machine's own clock. A line says if there is none. Boot CPU, once, after
 * arch_init_irq(). */
void wall_clock_start(const struct boot_info *info, bool repeat);
#define WALL_CLOCK_REPEAT ((uint64_t)1767225600) /* 2026-01-01 */
/* Returns the ns since 1970 at which arch_clock_ns() was 0. Any context, after
 * wall_clock_start(). */
uint64_t wall_clock_base_ns(void);
/* Returns the ns since 1970. Any context, after wall_clock_start(). */
uint64_t wall_clock_ns(void);
