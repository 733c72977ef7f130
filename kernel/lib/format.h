/* The formatter behind kernel/core/printf.h. Pure, so that host tests run it. */
#pragma once
#include "kernel/lib/base.h"

/* Takes the pieces of the formatted text, in order. */
typedef void format_sink(void *to, const char *s, size_t n);
void format_text(format_sink *sink, void *to, const char *fmt, va_list args);
