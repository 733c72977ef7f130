/*
 * Formatted output. Conversions: %d %i %u %x %X %c %s %p %%, flags 0 - +  #, width and precision
 * (also *),
 * lengths hh h l ll z t j. A conversion that is none of these is printed as it stands and ends
 * formatting, since the arguments behind it can no longer be told apart.
 */
#pragma once
#include "kernel/lib/base.h"

/* To the console, as a whole, out when this returns; any context. */
void kprintf(const char *fmt, ...) PRINTF(1, 2);
void kvprintf(const char *fmt, va_list args);
/* Into buf, always NUL-terminated if size > 0. Returns the length the whole text has. */
size_t ksnprintf(char *buf, size_t size, const char *fmt, ...) PRINTF(3, 4);
size_t kvsnprintf(char *buf, size_t size, const char *fmt, va_list args);
/* Bytes as they are, likewise. */
void kwrite(const char *s, size_t n);
