/*
 * Passes text to the console: the layer below printf.h, which all code writes with. outputs.h
 * decides where the text goes.
 *
 * A text is begun, put in pieces and ended by one CPU without a pause; texts of different CPUs do
 * not mix. Any context.
 *
 * With the boot argument console.split a reader of the serial port can tell what programs wrote,
 * byte for byte, from the kernel's own text: CONSOLE_ESCAPE and a letter stand where the writer
 * changes: 'P', or 'E' for standard error, or 'K' for the kernel, which is the first. An escape in
 * a text is doubled, and line ends of programs stay as they are.
 */
#pragma once
#include "kernel/lib/base.h"

enum console_writer { CONSOLE_KERNEL, CONSOLE_PROGRAM, CONSOLE_ERRORS };
#define CONSOLE_ESCAPE '\20'
/* What console.terminal says of the other end of a split console: no terminal; one that shows what
 * is typed and edits lines; one that passes keys on as they are pressed. */
enum console_terminal { CONSOLE_NO_TERMINAL, CONSOLE_LINE_TERMINAL, CONSOLE_RAW_TERMINAL };
extern const char *const console_terminals[];
/* Boot arguments console.split, ... */
extern uint64_t console_split, console_terminal, console_rows, console_columns;

/* Bytes that go to the serial port at once with interrupts off: the size of the FIFO of a 16550 or
 * PL011. */
#define CONSOLE_PORTION 16
/* A text up to this long is put without waiting for the transmitter. */
#define CONSOLE_ROOM 2048

/* Begins a text of that writer. Returns the interrupt state for console_end(); interrupts stay off
 * in between. */
bool console_begin(enum console_writer writer);
void console_put(const char *s, size_t n);
/* Ends a text and returns when it has been sent; meanwhile interrupts are as they were before
 * console_begin(). Text for a display is drawn, too, a portion at a time. Once a drawing thread
 * runs, it draws what remains when interrupts are off or another CPU prints. */
void console_end(bool irq);
/* Draws all text on the display that was put before this call and is not yet drawn. Any context. */
void console_draw(void);
/* Leaves drawing to a thread that calls console_draw() periodically from now on. */
void console_draw_later(void);
/* Stops the use of the console's lock from now on: its holder may have been stopped. */
void console_panic_mode(void);
/* Writes at once, ahead of waiting text and without a lock: before the console works, and when all
 * else has failed. */
void console_force(const char *s, size_t n);
