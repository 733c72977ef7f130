/* See record.h. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "apps/tools/measuring/record.h"

enum { LINE_MAX = 8192, TEXT_MAX = 1024, KINDS_MAX = 16 };

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

/* Returns how many bytes the character at `text` has, if it is one of UTF-8 (RFC 3629), else 0. */
static size_t utf8_bytes(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    unsigned char low = 0x80, high = 0xbf; /* of the second byte */
    size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;

    if (c[0] == 0xe0)
        low = 0xa0; /* no shorter form of the same */
    if (c[0] == 0xf0)
        low = 0x90;
    if (c[0] == 0xed)
        high = 0x9f; /* no half of a pair of UTF-16 */
    if (c[0] == 0xf4)
        high = 0x8f; /* nothing beyond U+10FFFF */
    if (c[0] > 0xf4 || (n > 1 && (c[1] < low || c[1] > high)))
        return 0;
    for (size_t i = 2; i < n; i++)
        if (c[i] < 0x80 || c[i] > 0xbf)
            return 0;
    return n;
}

/* Puts the character at `text`, with `before` in front of it. Returns how many bytes it has. */
static size_t put_character(const char *before, const char *text)
{
    size_t n = utf8_bytes(text);
    char bytes[8] = "\xef\xbf\xbd"; /* U+FFFD */

    if (n) {
        memcpy(bytes, text, n);
        bytes[n] = '\0';
    }
    put(at.line, &at.n, before);
    put(at.line, &at.n, bytes);
    return n ? n : 1;
}

static void put_escaped(const char *text)
{
    size_t end = at.n + TEXT_MAX;
    char code[8];

    put(at.line, &at.n, "\"");
    while (*text && at.n < end) {
        unsigned char c = (unsigned char)*text;
        if (c >= ' ' && c != 0x7f) {
            text += put_character(c == '"' || c == '\\' ? "\\" : "", text);
            continue;
        }
        snprintf(code, sizeof code, "\\u%04x", c);
        put(at.line, &at.n, code);
        text++;
    }
    put(at.line, &at.n, "\"");
}

static void put_quoted(const char *text)
{
    const char *mark = strpbrk(text, ",\"\n\r") ? "\"" : "";
    size_t end = at.n + TEXT_MAX;

    put(at.line, &at.n, mark);
    while (*text && at.n < end)
        text += put_character(*text == '"' ? "\"" : "", text);
    put(at.line, &at.n, mark);
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

    if (!isfinite(value)) {
        record_none(column);
        return;
    }
    begin_column(column);
    snprintf(text, sizeof text, "%.*f", digits, value);
    put(at.line, &at.n, text);
}

void record_none(const char *column)
{
    begin_column(column);
    put(at.line, &at.n, at.format == RECORD_JSON ? "null" : "");
}

void record_number_if(const char *column, bool known, uint64_t value)
{
    if (known)
        record_number(column, value);
    else
        record_none(column);
}

void record_real_if(const char *column, bool known, double value, int digits)
{
    record_real(column, known ? value : NAN, digits);
}

void record_text_if(const char *column, const char *value)
{
    if (value && value[0] && strcmp(value, "?") != 0)
        record_text(column, value);
    else
        record_none(column);
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
