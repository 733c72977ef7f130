/*
 * The way of text to the console. printf.h is what everybody writes with; this is what is
 * underneath; outputs.h is where it goes.
 *
 * A text is begun, put in pieces and ended, by one CPU without a pause; the texts of different CPUs
 * do not mix. Any context.
 */
#pragma once
#include "kernel/lib/base.h"

/* So many bytes go to the serial port in one stretch with interrupts off: what the FIFO of a 16550
 * or PL011 holds. */
#define CONSOLE_PORTION 16
/* A text may be so long and is still put together without waiting for the transmitter. */
#define CONSOLE_ROOM 2048

/* Returns the interrupt state, for console_end; interrupts stay off in between. */
bool console_begin(void);
void console_put(const char *s, size_t n);
/* Returns when the text is out. Meanwhile interrupts are as they were before console_begin. Where
 * text goes to a display it is drawn, too, a portion at a time; but once a thread draws, what is
 * left where interrupts are off or others print is that thread's. */
void console_end(bool irq);
/* Draws what is put and not yet seen on a display, all there is when this is called. Any
 * context. */
void console_draw(void);
/* From now on a thread calls console_draw, every so often. */
void console_draw_later(void);
/* Threads run: starts the one that draws, where there is a display to draw on. Thread context. */
void console_thread_start(void);
/* From now on nobody waits for the console's lock: its holder may have been stopped. */
void console_panic_mode(void);
/* At once, past what waits, without a lock: before everything else, and when all else has
 * failed. */
void console_force(const char *s, size_t n);
