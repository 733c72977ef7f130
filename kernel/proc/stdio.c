/*
 * A program's console.  Output is gathered line by line for each process, so that lines of different programs
 * do not mix; a carriage return and a full buffer end a line too.  Input is one line at a time, with echo and
 * backspace.
 */
#include "kernel/proc/internal.h"
#include "kernel/printf.h"

#define POLL_NS (10 * NS_PER_MS)

void stdio_put(struct process *p, const char *text, size_t n)
{
    bool irq = spin_lock(&p->line_lock);

    for (size_t i = 0; i < n; i++) {
        p->line[p->line_length++] = text[i];
        if (text[i] == '\n' || text[i] == '\r' || p->line_length == sizeof(p->line)) {
            kwrite(p->line, p->line_length);
            p->line_length = 0;
        }
    }
    spin_unlock(&p->line_lock, irq);
}

/* Ends the line if it is none, so that what comes next starts at the left. */
void stdio_flush(struct process *p)
{
    bool irq = spin_lock(&p->line_lock);

    if (p->line_length) {
        kwrite(p->line, p->line_length);
        kwrite("\n", 1);
    }
    p->line_length = 0;
    spin_unlock(&p->line_lock, irq);
}

static void prompt(struct process *p)
{
    bool irq = spin_lock(&p->line_lock);

    kwrite(p->line, p->line_length);
    p->line_length = 0;
    spin_unlock(&p->line_lock, irq);
}

/* The line being typed or read; belongs to whoever has set reader. */
static struct process *reader; /* atomic */
static struct {
    char text[PROCESS_LINE_MAX];
    size_t length, taken;
} input;

static int become_reader(struct process *p)
{
    struct process *none = NULL;

    while (!__atomic_compare_exchange_n(&reader, &none, p, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
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

/* Fills input with a line; empty at the end of input. */
static int type_line(struct process *p)
{
    enum { BACKSPACE = 8, END_OF_INPUT = 4, DELETE = 127 };

    input.length = input.taken = 0;
    while (input.length < sizeof(input.text)) {
        int c = next_byte(p);
        if (c < 0)
            return c;
        if (c == END_OF_INPUT)
            return 0;
        if (c == BACKSPACE || c == DELETE) {
            if (input.length) {
                input.length--;
                kwrite("\b \b", 3);
            }
            continue;
        }
        char byte = c == '\r' ? '\n' : (char)c;
        kwrite(&byte, 1);
        input.text[input.length++] = byte;
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
    prompt(p);
    if (input.taken == input.length)
        err = type_line(p);
    if (err) /* half a line is nobody else's */
        input.length = input.taken = 0;
    size_t part = err ? 0 : MIN(n, input.length - input.taken);
    memcpy(text, input.text + input.taken, part);
    input.taken += part;
    __atomic_store_n(&reader, NULL, __ATOMIC_RELEASE);
    return err ? err : (int)part;
}
