/* Page traces as text: a page a line. */
#include <stdio.h>
#include "tools/replay/trace.h"

struct cursor {
    size_t at, line;
};

static bool end_of_line(const struct trace_reading *r, size_t at)
{
    return at == r->size || r->data[at] == '\n';
}

static size_t skip_blanks(const struct trace_reading *r, size_t at)
{
    while (at < r->size && (r->data[at] == ' ' || r->data[at] == '\t' || r->data[at] == '\r'))
        at++;
    return at;
}

/* Copies the word at `at`, for a message: its printable characters. */
static void word_at(const struct trace_reading *r, size_t at, char word[24])
{
    size_t n = 0;

    for (; n < 23 && at + n < r->size && r->data[at + n] > ' ' && r->data[at + n] <= '~'; n++)
        word[n] = (char)r->data[at + n];
    word[n] = 0;
}

static int refuse(struct trace_reading *r, const struct cursor *c, const char *expected)
{
    char word[24];

    word_at(r, c->at, word);
    return trace_refuse(r, c->at, "line %zu: expected %s, found \"%s\"", c->line, expected, word);
}

static unsigned digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10u : 99;
}

/* Parses a number, and sets *at behind it. Returns 0, -ERANGE (too large) or -EINVAL (no digit). */
static int number(const struct trace_reading *r, size_t *at, uint64_t *out)
{
    unsigned base = 10;

    if (*at + 1 < r->size && r->data[*at] == '0' && (r->data[*at + 1] | 0x20) == 'x') {
        base = 16;
        *at += 2;
    }
    if (*at == r->size || digit(r->data[*at]) >= base)
        return -EINVAL;
    *out = 0;
    for (; *at < r->size && digit(r->data[*at]) < base; (*at)++)
        if (__builtin_mul_overflow(*out, (uint64_t)base, out) ||
            __builtin_add_overflow(*out, (uint64_t)digit(r->data[*at]), out))
            return -ERANGE;
    return 0;
}

static int read_line(struct trace_reading *r, struct cursor *c)
{
    uint64_t page;
    size_t at = skip_blanks(r, c->at);

    c->at = at;
    if (end_of_line(r, at) || r->data[at] == '#')
        return 0;
    if (r->t->format == TRACE_LIRS && r->data[at] == '*' && end_of_line(r, skip_blanks(r, at + 1)))
        return 0;
    switch (number(r, &at, &page)) {
    case 0:
        break;
    case -ERANGE:
        return refuse(r, c, "a page number of at most 64 bits");
    default:
        return refuse(r, c, "a page number, decimal or 0x and hexadecimal");
    }
    at = skip_blanks(r, at);
    if (!end_of_line(r, at)) {
        c->at = at;
        return refuse(r, c, "one page number a line");
    }
    return trace_add(r, 0, page, TRACE_ACCESS);
}

int trace_read_text(struct trace_reading *r)
{
    struct cursor c = {.line = 1};

    while (c.at < r->size) {
        int rc = read_line(r, &c);
        if (rc)
            return rc;
        while (!end_of_line(r, c.at))
            c.at++;
        c.at += c.at < r->size;
        c.line++;
    }
    return 0;
}
