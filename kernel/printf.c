/* Formatted output to the console and into buffers; the conversions are format.c's. */
#include "kernel/printf.h"
#include "kernel/format.h"
#include "kernel/lock.h"
#include "kernel/outputs.h"
#include "kernel/dev/screen.h"
#include "kernel/arch/arch.h"

static struct spinlock console_lock = SPINLOCK(LOCK_CONSOLE, "console");
static bool lockless;

/* Text is collected here before it goes out, in lines a terminal understands. */
struct line {
    size_t n;
    char text[80];
};

static void line_flush(struct line *line)
{
    outputs_write(line->text, line->n);
    line->n = 0;
}

static void line_put(void *to, const char *s, size_t n)
{
    struct line *line = to;

    for (size_t i = 0; i < n; i++) {
        if (line->n + 2 > sizeof(line->text))
            line_flush(line);
        if (s[i] == '\n')
            line->text[line->n++] = '\r';
        line->text[line->n++] = s[i];
    }
}

static bool console_take(void)
{
    return __atomic_load_n(&lockless, __ATOMIC_RELAXED) ? arch_irq_save() : spin_lock(&console_lock);
}

/* The lock may have been taken before everything became lockless. */
static void console_release(bool irq)
{
    if (spin_held(&console_lock))
        spin_unlock(&console_lock, irq);
    else
        arch_irq_restore(irq);
}

/* All rows once; those that others make undrawn meanwhile are theirs. */
void kdraw(void)
{
    bool more = true;

    for (unsigned i = 0; more && i < SCREEN_ROWS_MAX; i++) {
        bool irq = console_take();
        more = outputs_draw();
        console_release(irq);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* out of the buffers that gather writes */
}

/* irq: could the printer be interrupted? */
static void draw_printed(bool irq)
{
    if (irq || !outputs_has_thread() || __atomic_load_n(&lockless, __ATOMIC_RELAXED))
        kdraw();
}

void kvprintf(const char *fmt, va_list args)
{
    struct line line = {.n = 0};
    bool irq = console_take();

    format_text(line_put, &line, fmt, args);
    line_flush(&line);
    console_release(irq);
    draw_printed(irq);
}

void kprintf(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    kvprintf(fmt, args);
    va_end(args);
}

void kwrite(const char *s, size_t n)
{
    struct line line = {.n = 0};
    bool irq = console_take();

    line_put(&line, s, n);
    line_flush(&line);
    console_release(irq);
    draw_printed(irq);
}

void kprintf_panic_mode(void)
{
    __atomic_store_n(&lockless, true, __ATOMIC_RELAXED);
}

struct buffer {
    char *at;
    size_t size, n; /* n counts what does not fit, too */
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
