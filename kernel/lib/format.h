/* The formatter behind kernel/core/printf.h: pure, so the host's tests run it. */
#pragma once
#include "kernel/lib/base.h"

/* Called with pieces of text, in order. */
typedef void format_sink(void *to, const char *s, size_t n);
void format_text(format_sink *sink, void *to, const char *fmt, va_list args);
