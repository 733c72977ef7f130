/* See shares.h. */
#include "apps/tools/measuring/shares.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/places.h"

const char *const shares_by_choices[] = {"function", "line", "thread", "process", "region", NULL};

enum { LABEL_MAX = 160 };

/* ---- Adding ---------------------------------------------------------------------------------- */

/* Equal texts are equal pointers. */
static uint64_t text_part(const char *text)
{
    return (uint64_t)(uintptr_t)text;
}

/* Returns the row that a sample belongs in, without counts. */
static struct share row_of(enum shares_by by, const struct sys_sample *s)
{
    struct share r = {0};

    if (by == SHARES_THREAD || by == SHARES_PROCESS) {
        r.program = places_program(s->pid);
        r.pid = s->pid;
        r.number = by == SHARES_THREAD ? s->tid : 0;
        r.key = (struct table_key){{r.pid, r.number}};
        return r;
    }
    const struct place *place = places_code(s->pid, s->pc);
    r.program = place->program;
    if (by == SHARES_REGION) {
        bool access = s->source != SYS_SOURCE_NONE;
        r.program = access ? places_program(s->pid) : r.program;
        r.name = access ? places_region(s->pid, s->data) : place->region ? place->region : "?";
        r.key = (struct table_key){{text_part(r.program), text_part(r.name)}};
        return r;
    }
    r.name = place->function;
    r.file = place->file;
    if (by == SHARES_LINE) {
        r.number = place->line;
        r.key = (struct table_key){{text_part(r.program), text_part(r.file), r.number}};
        return r;
    }
    /* Inlined code is in other files. The function's first instruction is in the function's own
     * file. */
    bool known = place->function[0] != '?';
    uint64_t start = known ? s->pc - place->offset : 0;
    r.file = known ? places_code(s->pid, start)->file : place->file;
    r.key = (struct table_key){{text_part(r.program), start}};
    return r;
}

static void count_sample(struct share *row, uint64_t weight)
{
    row->samples++;
    row->weight += weight;
}

void shares_add(struct shares *s, const struct sys_sample *sample)
{
    struct share wanted = row_of(s->by, sample), *row;

    s->rows.bytes = sizeof(struct share);
    s->samples++;
    s->weight += sample->period;
    s->squares += (double)sample->period * (double)sample->period;
    row = table_get(&s->rows, &wanted.key);
    if (!row) {
        row = &s->others;
        wanted.program = wanted.name = wanted.file = "(no memory)";
    }
    if (!row->samples)
        *row = wanted;
    count_sample(row, sample->period);
}

void shares_clear(struct shares *s)
{
    table_clear(&s->rows);
    *s = (struct shares){.by = s->by};
}

/* ---- Printing -------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
    const struct share *x = *(const struct share *const *)a, *y = *(const struct share *const *)b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->number != y->number
               ? (x->number > y->number) - (x->number < y->number)
               : strcmp(x->name ? x->name : x->program, y->name ? y->name : y->program);
}

const struct share **shares_sorted(const struct shares *s, size_t *n)
{
    const struct share **rows = malloc((s->rows.count + 1) * sizeof *rows), *row;
    size_t cursor = 0;

    *n = 0;
    if (!rows)
        return NULL;
    while ((row = table_next(&s->rows, &cursor)))
        rows[(*n)++] = row;
    if (s->others.samples)
        rows[(*n)++] = &s->others;
    qsort(rows, *n, sizeof *rows, compare_rows);
    return rows;
}

/* Samples of different weights tell as much as weight^2 / squares of equal ones (Kish). */
bool shares_interval(const struct shares *s, uint64_t weight, double *low_pct, double *high_pct)
{
    const double z = 1.959964;
    double all = (double)s->weight;

    if (!s->weight)
        return false;
    double n = all * all / s->squares, part = (double)weight / all;
    double middle = (part + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(part * (1 - part) / n + z * z / (4 * n * n));
    *low_pct = weight ? 100 * fmax(middle - half, 0) : 0;
    *high_pct = weight < s->weight ? 100 * fmin(middle + half, 1) : 100;
    return true;
}

/* Writes the row's label: its object, then where that is. */
static void describe_row(enum shares_by by, const struct share *r, char *out, size_t size)
{
    switch (by) {
    case SHARES_FUNCTION:
        snprintf(out, size, "%-28s  %-12s  %s", r->name, r->program, r->file);
        return;
    case SHARES_LINE: {
        char line[LABEL_MAX];
        snprintf(line, sizeof line, "%s:%" PRIu32, r->file, r->number);
        snprintf(out, size, "%-40s  %-12s  %s", line, r->program, r->name);
        return;
    }
    case SHARES_THREAD:
        snprintf(out, size, "%8" PRIu32 "  %8" PRIu32 "  %s", r->number, r->pid, r->program);
        return;
    case SHARES_PROCESS:
        snprintf(out, size, "%8" PRIu32 "  %s", r->pid, r->program);
        return;
    case SHARES_REGION:
        snprintf(out, size, "%-28s  %s", r->name, r->program);
        return;
    }
}

static const char *const titles[] = {
    [SHARES_FUNCTION] = "function                      program       file",
    [SHARES_LINE] = "line                                      program       function",
    [SHARES_THREAD] = "  thread   process  program",
    [SHARES_PROCESS] = " process  program",
    [SHARES_REGION] = "region                        program",
};

static void print_row(enum shares_by by, const struct share *r, uint64_t all,
                      const struct shares_form *form)
{
    char label[2 * LABEL_MAX], weight[FIGURE_MAX];

    describe_row(by, r, label, sizeof label);
    figure_grouped(figure_scaled(r->weight, form->seen, form->all), weight);
    printf("  %5.1f %%  %8" PRIu64 "  %18s  %s%s", figure_percent(r->weight, all), r->samples,
           weight, label, form->line_end);
}

void shares_print(const struct shares *s, const struct shares_form *form)
{
    size_t n = 0, shown = 0;
    const struct share **rows = shares_sorted(s, &n);
    uint64_t rest = s->weight;

    printf("    share   samples  %18s  %s%s", form->unit, titles[s->by], form->line_end);
    for (; rows && shown < n && shown < form->rows; shown++) {
        print_row(s->by, rows[shown], s->weight, form);
        rest -= rows[shown]->weight;
    }
    if (!rows)
        printf("  rest: rows=%zu reason=memory: no memory to sort them%s", n, form->line_end);
    else if (shown < n)
        printf("  rest: rows=%zu share_pct=%.1f%s", n - shown, figure_percent(rest, s->weight),
               form->line_end);
    free(rows);
}
