/* Text that grows: replies, and what is sent to readers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Empty when all is 0. Once memory is short, `failed` is set and further text is left out. */
struct text {
    char *at;
    size_t n, room;
    bool failed;
};

void text_bytes(struct text *t, const void *from, size_t n);
void text_say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a string as JSON has it, with its quotation marks. Bytes that are no printable ASCII are
 * escaped. */
void text_json(struct text *t, const char *s);
/* Forgets the text, and keeps its memory. */
void text_clear(struct text *t);
void text_free(struct text *t);
