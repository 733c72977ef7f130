/* See text.h. */
#include "apps/tools/watchd/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_LEAST = 1024 };

/* Makes room for n more bytes and a NUL. Returns false if there is no memory. */
static bool grow(struct text *t, size_t n)
{
    size_t room = t->room ? t->room : ROOM_LEAST;

    if (t->failed)
        return false;
    while (room - t->n <= n)
        room *= 2;
    if (room == t->room)
        return true;
    char *at = realloc(t->at, room);
    if (!at) {
        t->failed = true;
        return false;
    }
    t->at = at;
    t->room = room;
    return true;
}

void text_bytes(struct text *t, const void *from, size_t n)
{
    if (!grow(t, n))
        return;
    memcpy(t->at + t->n, from, n);
    t->n += n;
    t->at[t->n] = '\0';
}

void text_say(struct text *t, const char *format, ...)
{
    char small[256];
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    if (n >= 0 && (size_t)n < sizeof small)
        text_bytes(t, small, (size_t)n);
    else if (n > 0 && grow(t, (size_t)n))
        t->n += (size_t)vsnprintf(t->at + t->n, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
}

void text_json(struct text *t, const char *s)
{
    text_bytes(t, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_say(t, "\\%c", c);
        else if (c < ' ' || c > '~')
            text_say(t, "\\u%04x", c);
        else
            text_bytes(t, s, 1);
    }
    text_bytes(t, "\"", 1);
}

void text_clear(struct text *t)
{
    t->n = 0;
    t->failed = false;
}

void text_free(struct text *t)
{
    free(t->at);
    *t = (struct text){0};
}
