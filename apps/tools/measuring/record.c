/* See record.h. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "apps/tools/measuring/record.h"

enum { LINE_MAX = 4096, KINDS_MAX = 8 };

static struct {
    enum record_format format;
    const char *kind;
    char head[LINE_MAX], line[LINE_MAX]; /* the columns' names; the record */
    size_t heads, n;
} at;
static const char *told[KINDS_MAX]; /* kinds whose columns have been named */

static void put(char *line, size_t *n, const char *text)
{
    for (; *text && *n + 1 < LINE_MAX; text++)
        line[(*n)++] = *text;
    line[*n] = '\0';
}

static void put_escaped(const char *text)
{
    char code[8];

    put(at.line, &at.n, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ')
            snprintf(code, sizeof code, "\\u%04x", c);
        else
            snprintf(code, sizeof code, c == '"' || c == '\\' ? "\\%c" : "%c", c);
        put(at.line, &at.n, code);
    }
    put(at.line, &at.n, "\"");
}

static void put_quoted(const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        put(at.line, &at.n, text);
        return;
    }
    put(at.line, &at.n, "\"");
    for (; *text; text++)
        put(at.line, &at.n, *text == '"' ? "\"\"" : (char[]){*text, '\0'});
    put(at.line, &at.n, "\"");
}

void record_begin(enum record_format format, const char *tool, const char *kind)
{
    at.format = format;
    at.kind = kind;
    at.n = at.heads = 0;
    if (format == RECORD_JSON)
        put(at.line, &at.n, "{\"");
    put(at.head, &at.heads, tool);
    put(at.line, &at.n, tool);
    put(at.line, &at.n, format == RECORD_JSON ? "\":\"" : ",");
    put(at.line, &at.n, kind);
    put(at.line, &at.n, format == RECORD_JSON ? "\"" : "");
    put(at.head, &at.heads, ",");
    put(at.head, &at.heads, kind);
}

static void begin_column(const char *column)
{
    put(at.head, &at.heads, ",");
    put(at.head, &at.heads, column);
    put(at.line, &at.n, ",");
    if (at.format == RECORD_CSV)
        return;
    put(at.line, &at.n, "\"");
    put(at.line, &at.n, column);
    put(at.line, &at.n, "\":");
}

void record_text(const char *column, const char *value)
{
    begin_column(column);
    if (at.format == RECORD_JSON)
        put_escaped(value);
    else
        put_quoted(value);
}

void record_number(const char *column, uint64_t value)
{
    char text[24];

    begin_column(column);
    snprintf(text, sizeof text, "%" PRIu64, value);
    put(at.line, &at.n, text);
}

void record_real(const char *column, double value, int digits)
{
    char text[64];

    begin_column(column);
    snprintf(text, sizeof text, "%.*f", digits, value);
    put(at.line, &at.n, text);
}

void record_none(const char *column)
{
    begin_column(column);
    put(at.line, &at.n, at.format == RECORD_JSON ? "null" : "");
}

/* Returns whether the columns of the kind are still to be named, once. */
static bool is_new_kind(const char *kind)
{
    unsigned i = 0;

    while (i < KINDS_MAX && told[i] && strcmp(told[i], kind) != 0)
        i++;
    if (i == KINDS_MAX || told[i])
        return false;
    told[i] = kind;
    return true;
}

void record_end(void)
{
    if (at.format == RECORD_CSV && is_new_kind(at.kind))
        printf("%s\n", at.head);
    printf("%s%s\n", at.line, at.format == RECORD_JSON ? "}" : "");
}
