/*
 * The outputs of the console: the serial port, the display, or both. The serial port is fed a
 * portion at a time, as it takes them. The display's text is complete at once and is drawn a
 * portion at a time.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"

enum outputs_choice { OUTPUTS_AUTO, OUTPUTS_SERIAL, OUTPUTS_FRAMEBUFFER, OUTPUTS_BOTH };
/* Names of the boot argument's values, by enum outputs_choice; NULL-terminated. */
extern const char *const outputs_choices[];

/* Selects the outputs by `choice`, as far as they exist. OUTPUTS_AUTO: the serial port where
 * firmware names one as its console; else the display, and a serial port, too, if one was found.
 * Boot CPU, before anything is printed. */
void outputs_init(const struct boot_info *info, enum arch_serial serial,
                  enum outputs_choice choice);
/* Prints what the display is, if it is used, and which outputs were asked for and do not exist. */
void outputs_report(void);
/* Called after arch_init_memory(), when writing to the framebuffer is fast: clears the whole
 * display. Its text must then be drawn again. */
void outputs_mapped(void);
bool outputs_on_display(void);

/* ---- For console.c, under its lock or in a panic --------------------------------------------- */
/* Hands text to the serial port. Returns the number of bytes taken; all of them if text does not go
 * there. Before outputs_init(), uses any serial port there is. */
size_t outputs_send(const char *s, size_t n);
/* Adds text to the display's, without drawing it. */
void outputs_show(const char *s, size_t n);
/* Draws a portion of the display (screen.h: SCREEN_DRAW_BYTES). Returns false if nothing is left to
 * draw. */
bool outputs_draw(void);
/* Returns the number of calls of outputs_draw() that draw all of the text; 0: no display is used.
 * Needs no lock. */
unsigned outputs_draws(void);
