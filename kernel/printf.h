/*
 * Formatted output.  Conversions: %d %i %u %x %X %c %s %p %%, flags 0 - +  #, width and precision (also *),
 * lengths hh h l ll z t j.  A conversion that is none of these is printed as it stands and ends formatting,
 * since the arguments behind it can no longer be told apart.
 */
#pragma once
#include "kernel/base.h"

/* To the console, whole under its lock; any context. */
void kprintf(const char *fmt, ...) PRINTF(1, 2);
void kvprintf(const char *fmt, va_list args);
/* Into buf, always NUL-terminated if size > 0.  Returns the length the whole text has. */
size_t ksnprintf(char *buf, size_t size, const char *fmt, ...) PRINTF(3, 4);
size_t kvsnprintf(char *buf, size_t size, const char *fmt, va_list args);
/* Bytes as they are, under the console's lock. */
void kwrite(const char *s, size_t n);
/* Draws what is printed and not yet seen on the display, a row at a time under the console's lock; any context. */
void kdraw(void);
/* From now on nobody waits for the console's lock: its holder may have been stopped. */
void kprintf_panic_mode(void);
