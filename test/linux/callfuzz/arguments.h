/* Arguments of calls (arguments.c) and what they point to (structures.c). */
#pragma once
#include "test/linux/callfuzz/callfuzz.h"

#define PICK(r, list) ((list)[random_below(r, sizeof(list) / sizeof((list)[0]))])
#define STRUCTURES    "pSATveKCwQ" /* the kinds that point to one */
#define SOCKET_KINDS  "hDYRNBzGJjyHVEWr"

extern struct row rows[512]; /* linux_rows, complete */
extern const struct row own_rows[];
extern const unsigned own_row_count;

extern const struct row socket_rows[];
extern const unsigned socket_row_count;

uint64_t make_structure(struct maker *m, char kind, unsigned i);
uint64_t make_socket_argument(struct maker *m, char kind, unsigned i);
/* Copies n bytes, at most a page, to page i of the safe memory; now and then so that they end where
 * the mapping ends, or a little beyond. Returns where they should be. */
uint64_t place(struct maker *m, unsigned i, const void *from, size_t n);
/* Kinds of arguments that structures have, too. */
uint64_t pointer(struct maker *m);
uint64_t length(struct maker *m);
uint64_t number(struct maker *m);
uint64_t flags(struct maker *m);
uint64_t descriptor(struct maker *m);
