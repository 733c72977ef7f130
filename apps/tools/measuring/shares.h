/*
 * Sums of samples, their number and weight, by function, line, thread, process or region of memory.
 * One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "apps/tools/measuring/table.h"
#include "kernel/proc/abi.h"

/* SHARES_REGION: the region of an access's data, or else of the code. */
enum shares_by { SHARES_FUNCTION, SHARES_LINE, SHARES_THREAD, SHARES_PROCESS, SHARES_REGION };
extern const char *const shares_by_choices[]; /* the names, and NULL */

/* Texts are never freed (places.h). */
struct share {
    struct table_key key;
    uint64_t samples, weight; /* weight: sum of the samples' periods */
    const char *program;
    const char *name; /* of the function or region; NULL: of a thread or process */
    const char *file; /* of a function or line */
    uint32_t pid;     /* of a thread or process */
    uint32_t number;  /* of the thread or line */
};

/* Empty when all but `by` is 0. */
struct shares {
    enum shares_by by;
    struct table rows;
    struct share others;      /* samples without memory for their row; others.samples may be 0 */
    uint64_t samples, weight; /* of all rows */
    double squares;           /* sum of the squares of the samples' weights */
};

/* Adds a sample, and looks its places up if they are new; call it soon, before its process ends. */
void shares_add(struct shares *s, const struct sys_sample *sample);
/* Returns the rows, `n` of them, the largest weight first, including `others`. The caller frees
 * them. NULL: no memory. */
const struct share **shares_sorted(const struct shares *s, size_t *n);
struct shares_form {
    size_t rows;        /* at most; the sum of the rest is printed */
    const char *unit;   /* of the weights */
    uint64_t seen, all; /* `seen` of `all` was sampled */
    const char *line_end;
};
void shares_print(const struct shares *s, const struct shares_form *form);
/* Writes the limits of 95 % of the percentage of all weight that is `weight` (Wilson's), as if each
 * sample were drawn by itself. Returns false if there are no samples. */
bool shares_interval(const struct shares *s, uint64_t weight, double *low_pct, double *high_pct);
void shares_clear(struct shares *s);
