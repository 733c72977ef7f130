/*
 * Words of a command line. Blanks separate them, and so do ';' and '&', which end a command. What
 * stands between two quotation marks of one kind, '...' or "...", belongs to the word as it is,
 * blanks and separators included; the marks themselves do not. Quotation may begin and end within a
 * word: name='one two'. There is no other way to quote a character. Pure.
 */
#pragma once
#include "kernel/lib/text.h"

struct words {
    const char *line; /* its first character: places are counted from there */
    char *from, *to;  /* what has not been read; behind the words so far, never behind from */
    /* what ended the last word: ';' or '&' directly behind it or its blanks, or else NUL */
    char end;
};

/* Begins with a NUL-terminated line, whose words are going to replace it. */
static inline struct words words_of(char *line)
{
    return (struct words){.line = line, .from = line, .to = line};
}

/* Reads a word. 1: *out is the word, NUL-terminated and directly behind the one before; 0: there is
 * none before the next ';' or '&' or the end of the line; -EINVAL: a quotation mark, to which from
 * points, has no partner. */
int words_next(struct words *w, const char **out);
/* True for a blank: space, tab, line feed, carriage return. */
bool words_blank(char c);
/* Writes a word so that it can be read again, in quotation marks where it needs them. */
void words_put(struct text *t, const char *word);
