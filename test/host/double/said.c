/* See said.h. */
#include "test/host/double/said.h"
#include <stdio.h>
#include <string.h>
#include "kernel/core/printf.h"

char said[1024];

void kprintf(const char *fmt, ...)
{
    size_t used = strlen(said);
    va_list args;

    va_start(args, fmt);
    vsnprintf(said + used, sizeof(said) - used, fmt, args);
    va_end(args);
}

size_t ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(buf, size, fmt, args);
    va_end(args);
    return (size_t)n;
}
