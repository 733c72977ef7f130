/* What a program has written: its newest bytes, and all its RESULT lines. Pure. */
#pragma once
#include <stdint.h>
#include "apps/tools/watchd/text.h"

enum {
    OUTPUT_KEPT = 1 << 20, /* bytes; beyond, the oldest half is left out */
    OUTPUT_RESULTS = 32 << 10,
};

/* Empty when all is 0. */
struct output {
    struct text kept;
    uint64_t bytes; /* written so far: `kept` has the last ones of these */
    struct text results;
    unsigned matched; /* bytes of "RESULT " that the line begins with; past that: see output.c */
};

/* Appends n bytes. */
void output_add(struct output *o, const char *from, size_t n);
/* Returns the number of bytes, the oldest, that are no longer kept. */
uint64_t output_left_out(const struct output *o);
/* Returns what is kept from byte `from` on, and its length. */
const char *output_from(const struct output *o, uint64_t from, size_t *n);
/* Forgets all. */
void output_clear(struct output *o);
