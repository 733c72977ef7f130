/*
 * Formatted output. Conversions: %d %i %u %x %X %c %s %p %%; flags 0 - + # and space; width and
 * precision (also *); lengths hh h l ll z t j. An unknown conversion is printed unchanged and ends
 * formatting, because the types of the remaining arguments are unknown.
 */
#pragma once
#include "kernel/core/console.h"

/* Print to the console as one text and return when it has been sent. Any context. */
void kprintf(const char *fmt, ...) PRINTF(1, 2);
void kvprintf(const char *fmt, va_list args);
/* Format into `buf`, always NUL-terminated if `size` > 0. Return the length of the whole text. */
size_t ksnprintf(char *buf, size_t size, const char *fmt, ...) PRINTF(3, 4);
size_t kvsnprintf(char *buf, size_t size, const char *fmt, va_list args);
/* Prints `n` bytes that a program wrote unchanged, as kprintf() does. */
void kwrite(enum console_writer writer, const char *s, size_t n);
