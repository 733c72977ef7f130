/* panic() for host tests: fails the test, or, inside EXPECT_PANIC, ends the statement that called
 * it. */
#pragma once
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernel/lib/base.h"
#include "test/host/double/random.h"

static jmp_buf panic_return;
static bool panic_expected;

void panic(const char *fmt, ...)
{
    if (panic_expected)
        longjmp(panic_return, 1);
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    abort();
}

#define EXPECT_PANIC(statement)                   \
    do {                                          \
        panic_expected = true;                    \
        if (setjmp(panic_return) == 0) {          \
            statement;                            \
            panic_expected = false;               \
            fail_msg("no panic: %s", #statement); \
        }                                         \
        panic_expected = false;                   \
    } while (0)
