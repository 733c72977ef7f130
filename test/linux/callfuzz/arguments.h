/* Arguments of calls (arguments.c) and what they point to (structures.c). */
#pragma once
#include "test/linux/callfuzz/callfuzz.h"

#define PICK(r, list) ((list)[random_below(r, sizeof(list) / sizeof((list)[0]))])
#define STRUCTURES    "pSATveKCw" /* the kinds that point to one */

extern struct row rows[512]; /* linux_rows, complete */
extern const struct row own_rows[];
extern const unsigned own_row_count;

uint64_t make_structure(struct maker *m, char kind, unsigned i);
/* Kinds of arguments that structures have, too. */
uint64_t pointer(struct maker *m);
uint64_t length(struct maker *m);
uint64_t number(struct maker *m);
uint64_t flags(struct maker *m);
uint64_t descriptor(struct maker *m);
