/*
 * What samples add up to: how many, and what they stand for, by function, line, thread, process, or
 * region of memory. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "apps/tools/measuring/table.h"
#include "kernel/proc/abi.h"

/* Of region: where the data of an access lies, or else the code. */
enum shares_by { SHARES_FUNCTION, SHARES_LINE, SHARES_THREAD, SHARES_PROCESS, SHARES_REGION };
extern const char *const shares_by_choices[]; /* their names, and NULL */

/* The texts stay; see places.h. */
struct share {
    struct table_key key;
    uint64_t samples, weight; /* weight: the sum of their periods */
    const char *program;
    const char *name; /* of the function or region; NULL: of a thread or process */
    const char *file; /* of a function or line */
    uint32_t pid;     /* of a thread or process */
    uint32_t number;  /* of the thread or line */
};

/* Zeroed but for by it is empty. */
struct shares {
    enum shares_by by;
    struct table rows;
    struct share others;      /* for which there was no memory; others.samples may be 0 */
    uint64_t samples, weight; /* all */
};

/* Asks about the sample's places if they are new: soon, or its process has ended. */
void shares_add(struct shares *s, const struct sys_sample *sample);
/* Largest weight first; *n of them, those for which there was no memory included. free() it; NULL:
 * no memory. */
const struct share **shares_sorted(const struct shares *s, size_t *n);
struct shares_form {
    size_t rows;        /* at most; how much is left is said */
    const char *unit;   /* of the weights */
    uint64_t seen, all; /* what was sampled is so much of so much */
    const char *line_end;
};
void shares_print(const struct shares *s, const struct shares_form *form);
void shares_clear(struct shares *s);
