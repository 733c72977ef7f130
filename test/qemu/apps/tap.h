/* Test Anything Protocol lines of a test program; its exit status is 0 when everything was as
 * expected. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned tap_count, tap_failed;

/* One check; what is printed behind "ok" or "not ok" is fmt. */
static inline bool __attribute__((format(printf, 2, 3))) tap_check(bool right, const char *fmt, ...)
{
    char text[160];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tap_failed += !right;
    printf("%sok %u - %s\n", right ? "" : "not ", ++tap_count, text);
    return right;
}

static inline void tap_skip(const char *what, const char *why)
{
    printf("ok %u - %s # skip %s\n", ++tap_count, what, why);
}

static inline int tap_done(void)
{
    printf("1..%u\n", tap_count);
    return tap_failed ? 1 : 0;
}
