/*
 * Where text goes: the serial port, the display, or both. The serial port gets a portion whenever
 * it takes one; the display's text is complete at once and is drawn a portion at a time.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"

enum outputs_choice { OUTPUTS_AUTO, OUTPUTS_SERIAL, OUTPUTS_FRAMEBUFFER, OUTPUTS_BOTH };
/* by that number, for the boot argument; NULL-terminated */
extern const char *const outputs_choices[];

/* Boot CPU, before anything is printed: keeps to the choice as far as there are such things.
 * OUTPUTS_AUTO: the serial port where firmware names one as its console; else the display, and a
 * serial port, too, if one was found. */
void outputs_init(const struct boot_info *info, enum arch_serial serial,
                  enum outputs_choice choice);
/* Says what the display is, if it is a console, and what was asked for and is not there. */
void outputs_report(void);
/* After arch_init_memory: painting is fast now, so all of the display is cleared; its text is to be
 * drawn again. */
void outputs_mapped(void);
bool outputs_on_display(void);

/* ---- For console.c, under its lock or in a panic --------------------------------------------- */
/* Hands text to the serial port; how much of it that took, which is all where text does not go
 * there. Before outputs_init: to whatever serial port there is. */
size_t outputs_send(const char *s, size_t n);
/* Adds text to the display's, at the speed of memory. */
void outputs_show(const char *s, size_t n);
/* Brings a portion of the display up to date (screen.h: SCREEN_DRAW_BYTES). False: all of it
 * is. */
bool outputs_draw(void);
/* So many calls of outputs_draw bring all of it up to date; 0: text goes to no display. Without a
 * lock, too. */
unsigned outputs_draws(void);
