#include "kernel/core/printf.h"
#include "kernel/core/console.h"
#include "kernel/lib/format.h"

static void put_on_console(UNUSED void *to, const char *s, size_t n)
{
    console_put(s, n);
}

void kvprintf(const char *fmt, va_list args)
{
    bool irq = console_begin(CONSOLE_KERNEL);

    format_text(put_on_console, NULL, fmt, args);
    console_end(irq);
}

void kprintf(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    kvprintf(fmt, args);
    va_end(args);
}

void kwrite(enum console_writer writer, const char *s, size_t n)
{
    bool irq = console_begin(writer);

    console_put(s, n);
    console_end(irq);
}

struct buffer {
    char *at;
    size_t size, n; /* n counts characters that do not fit, too */
};

static void buffer_put(void *to, const char *s, size_t n)
{
    struct buffer *b = to;

    for (size_t i = 0; i < n; i++, b->n++) {
        if (b->n + 1 < b->size)
            b->at[b->n] = s[i];
    }
}

size_t kvsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
    struct buffer b = {.at = buf, .size = size};

    format_text(buffer_put, &b, fmt, args);
    if (size)
        buf[MIN(b.n, size - 1)] = '\0';
    return b.n;
}

size_t ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    size_t n = kvsnprintf(buf, size, fmt, args);
    va_end(args);
    return n;
}
