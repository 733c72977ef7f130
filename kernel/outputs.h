/*
 * Where text goes: the serial port, the display, or both.  Printing puts text into the display's screen under the console's
 * lock; drawing takes that lock for a row at a time.  Who prints also draws; but what is printed with interrupts off while
 * threads run is drawn by a thread, soon after.
 */
#pragma once
#include "kernel/base.h"
#include "kernel/arch/arch.h"

enum outputs_choice { OUTPUTS_AUTO, OUTPUTS_SERIAL, OUTPUTS_FRAMEBUFFER, OUTPUTS_BOTH };
extern const char *const outputs_choices[]; /* by that number, for the boot argument; NULL-terminated */

/* Boot CPU, before anything is printed: keeps to the choice as far as there are such things.  OUTPUTS_AUTO: the serial port
 * where firmware names one as its console; else the display, and a serial port, too, if one was found. */
void outputs_init(const struct boot_info *info, enum arch_serial serial, enum outputs_choice choice);
/* Says what the display is, if it is a console, and what was asked for and is not there. */
void outputs_report(void);
/* After arch_init_memory: drawing is fast now, so all of the display is painted. */
void outputs_mapped(void);
bool outputs_on_display(void);
/* Threads run: starts the one that draws.  Thread context. */
void outputs_thread_start(void);

/* ---- For printf.c, under the console's lock or in a panic ---- */
void outputs_write(const char *s, size_t n);
bool outputs_draw(void); /* a row; false: none needs it */
/* May what is printed with interrupts off be left undrawn? */
bool outputs_has_thread(void);
