/*
 * A program's console.
 *
 * Output is gathered line by line for each process, so that lines of different programs do not mix.
 * A carriage return and a full buffer end a line, too. Input is one line at a time, with echo and
 * backspace. A line belongs to the process that it was typed for, even if that process reads only
 * part of it.
 */
#include "kernel/proc/internal.h"
#include "kernel/core/console.h"
#include "kernel/core/printf.h"

#define POLL_NS (10 * NS_PER_MS)

/* A copied line on its way out, so that no lock is held while it is written. */
struct outgoing {
    size_t n;
    char text[PROCESS_LINE_MAX + 1];
};

static void take_line_locked(struct process *p, struct outgoing *out)
{
    memcpy(out->text, p->line, out->n = p->line_length);
    p->line_length = 0;
}

/* Gathers text up to the end of a line, which is then copied to `out`. Returns the bytes taken. */
static size_t gather_line(struct process *p, const char *text, size_t n, struct outgoing *out)
{
    bool irq = spin_lock(&p->line_lock), whole = false;
    size_t i = 0;

    out->n = 0;
    while (i < n && !whole) {
        char c = p->line[p->line_length++] = text[i++];
        whole = c == '\n' || c == '\r' || p->line_length == sizeof(p->line);
    }
    if (whole)
        take_line_locked(p, out);
    spin_unlock(&p->line_lock, irq);
    return i;
}

void stdio_put(struct process *p, const char *text, size_t n)
{
    struct outgoing out;

    for (size_t at = 0; at < n;) {
        at += gather_line(p, text + at, n - at, &out);
        if (out.n)
            kwrite(out.text, out.n);
    }
}

/* Takes text that has no end of line yet. */
static void take_rest(struct process *p, struct outgoing *out)
{
    bool irq = spin_lock(&p->line_lock);

    take_line_locked(p, out);
    spin_unlock(&p->line_lock, irq);
}

/* Ends the line, so that the next text starts at the left, unless others part the two. */
void stdio_flush(struct process *p)
{
    struct outgoing out;

    take_rest(p, &out);
    if (!out.n)
        return;
    if (!console_split)
        out.text[out.n++] = '\n';
    kwrite(out.text, out.n);
}

static void write_prompt(struct process *p)
{
    struct outgoing out;

    take_rest(p, &out);
    if (out.n)
        kwrite(out.text, out.n);
}

/* The process that reads; one at a time. The rest of its line stays with it. */
static struct process *reader; /* atomic */

static int become_reader(struct process *p)
{
    struct process *none = NULL;

    while (!__atomic_compare_exchange_n(&reader, &none, p, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        if (process_ending(p))
            return -EINTR;
        sched_sleep_until(arch_clock_ns() + POLL_NS);
        none = NULL;
    }
    return 0;
}

static int next_byte(struct process *p)
{
    for (;;) {
        int c = arch_console_read();
        if (c >= 0)
            return c;
        if (process_ending(p))
            return -EINTR;
        sched_sleep_until(arch_clock_ns() + POLL_NS);
    }
}

/* The other side of a split console shows what is typed itself. */
static void echo(const char *text, size_t n)
{
    if (!console_split)
        kwrite(text, n);
}

/* Fills p->typed with a line; it is empty at the end of input. */
static int type_line(struct process *p)
{
    enum { BACKSPACE = 8, END_OF_INPUT = 4, DELETE = 127 };

    p->typed_length = p->typed_taken = 0;
    while (p->typed_length < sizeof(p->typed)) {
        int c = next_byte(p);
        if (c < 0)
            return c;
        if (c == END_OF_INPUT)
            return 0;
        if (c == BACKSPACE || c == DELETE) {
            if (p->typed_length) {
                p->typed_length--;
                echo("\b \b", 3);
            }
            continue;
        }
        char byte = c == '\r' ? '\n' : (char)c;
        echo(&byte, 1);
        p->typed[p->typed_length++] = byte;
        if (byte == '\n')
            return 0;
    }
    return 0;
}

int stdio_get(struct process *p, char *text, size_t n)
{
    int err = become_reader(p);

    if (err)
        return err;
    write_prompt(p);
    if (p->typed_taken == p->typed_length)
        err = type_line(p);
    size_t part = err ? 0 : MIN(n, p->typed_length - p->typed_taken);
    memcpy(text, p->typed + p->typed_taken, part);
    p->typed_taken += part;
    __atomic_store_n(&reader, NULL, __ATOMIC_RELEASE);
    return err ? err : (int)part;
}
