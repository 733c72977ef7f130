/*
 * Words of a command line. Blanks separate words, and so do ';' and '&', which end a command. Text
 * between two quotation marks of one kind, '...' or "...", belongs to the word unchanged, blanks
 * and separators included; the marks are removed. A quotation may begin and end within a word:
 * name='one two'. There is no other way to quote a character. Pure.
 */
#pragma once
#include "kernel/lib/text.h"

struct words {
    const char *line; /* its first character; positions in messages count from there */
    /* `from`: start of the unread text; `to`: end of the words read so far, never behind `from` */
    char *from, *to;
    /* The character that ended the last word: ';' or '&' directly behind it or its blanks, else
     * NUL. */
    char end;
};

/* Starts with a NUL-terminated line, which the words will overwrite. */
static inline struct words words_of(char *line)
{
    return (struct words){.line = line, .from = line, .to = line};
}

/*
 * Reads the next word. Returns:
 * - 1: *out is the word, NUL-terminated and directly behind the word before
 * - 0: there is no word before the next ';' or '&' or the end of the line
 * - -EINVAL: the quotation mark at `from` has no partner
 */
int words_next(struct words *w, const char **out);
/* Returns whether `c` is a blank: space, tab, line feed or carriage return. */
bool words_blank(char c);
/* Writes a word in a form that can be read again, with quotation marks where it needs them. */
void words_put(struct text *t, const char *word);
