/* Prints values of a session: as text, as a series, or as records for programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/tools/hpmstat/hpmstat.h"
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/record.h"
#include "apps/tools/measuring/value.h"

/* ---- Series ---------------------------------------------------------------------------------- */

/* Readings to be printed at the end: the values of all names, for each reading. */
struct cell {
    uint64_t count, low, high;
    uint32_t sure, seen_permille;
};
static struct {
    struct cell *cell; /* [readings][names] */
    size_t readings, room, names;
    char name[VALUES_MAX][160];
} series;

static int keep_reading(const struct sys_hpm_value *values, size_t n)
{
    if (series.readings == series.room) {
        series.room = series.room ? 2 * series.room : 256;
        series.cell = realloc(series.cell, series.room * n * sizeof *series.cell);
        if (!series.cell)
            return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const struct sys_hpm_value *v = &values[i];
        bool metric = v->kind == SYS_VALUE_METRIC;
        series.cell[series.readings * n + i] =
            (struct cell){metric ? (uint64_t)v->millionths : v->count, v->low, v->high, v->sure,
                          v->seen_permille};
        if (!series.readings)
            memcpy(series.name[i], v->name, sizeof series.name[i]);
    }
    series.names = n;
    series.readings++;
    return 0;
}

/* Lines: SERIES reading name count low high sure seen_permille, with `-` where there is no
 * interval. The last reading is the total. */
void values_print_series(void)
{
    for (size_t i = 0; i < series.readings * series.names; i++) {
        const struct cell *c = &series.cell[i];
        char number[24] = "total";
        if (i / series.names + 1 < series.readings)
            snprintf(number, sizeof number, "%zu", i / series.names);
        printf("SERIES %s %s %" PRIu64 " ", number, series.name[i % series.names], c->count);
        if (c->sure == SYS_SURE_INTERVAL)
            printf("%" PRIu64 " %" PRIu64, c->low, c->high);
        else
            printf("- -");
        printf(" %" PRIu32 " %" PRIu32 "\n", c->sure, c->seen_permille);
    }
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* Writes how sure the count is. */
static const char *describe_sureness(const struct sys_hpm_value *v, char out[2 * FIGURE_MAX])
{
    static const char *const fixed[] = {[SYS_SURE_EXACT] = "exact",
                                        [SYS_SURE_UNSEEN] = "never seen",
                                        [SYS_SURE_NONE] = "nothing seen"};
    double half = (double)(v->high - v->low) / 2;
    char text[FIGURE_MAX];

    if (v->sure != SYS_SURE_INTERVAL)
        return v->sure < sizeof fixed / sizeof fixed[0] && fixed[v->sure] ? fixed[v->sure]
                                                                          : "no interval";
    if (v->count)
        snprintf(out, 2 * FIGURE_MAX, "+- %.1f %%", half * 100 / (double)v->count);
    else
        snprintf(out, 2 * FIGURE_MAX, "at most %s", figure_grouped(v->high, text));
    return out;
}

/* Prints a row: a count or metric, how sure it is, the part of the time in which it was seen. */
static void print_value(const struct sys_hpm_value *v)
{
    bool metric = v->kind == SYS_VALUE_METRIC;
    char text[FIGURE_MAX] = "-", sure[2 * FIGURE_MAX];

    if (!metric)
        figure_grouped(v->count, text);
    else if (!v->trouble)
        snprintf(text, sizeof text, "%.3f", (double)v->millionths / 1e6);
    printf("  %18s  %-24s  %-14s", text, v->name,
           metric ? v->trouble ? value_trouble(v->trouble) : "-" : describe_sureness(v, sure));
    printf("  %3u.%u %%%s%s%s\n", v->seen_permille / 10, v->seen_permille % 10,
           metric && !v->trouble ? "  " : "", metric && !v->trouble ? v->unit : "",
           v->fitted ? "  fitted" : "");
}

/* Prints the accounts that the machine's exact counts are divided into. */
static void print_accounts(const struct sys_hpm_value *values, int n)
{
    static const char *const heading[SYS_ACCOUNTS] = {"threads", "idle", "interrupts",
                                                      "monitoring"};
    char text[FIGURE_MAX];
    bool apart = false, any = false;

    for (int i = 0; i < n; i++) {
        any |= values[i].sure == SYS_SURE_EXACT;
        apart |= values[i].part[SYS_ACCOUNT_INTERRUPTS] || values[i].part[SYS_ACCOUNT_MONITORING];
    }
    unsigned accounts = apart ? SYS_ACCOUNTS : SYS_ACCOUNT_INTERRUPTS;
    if (!any)
        return;
    printf("hpmstat: accounts=%u: parts of what is exact%s\n", accounts,
           apart ? "" : "; interrupts and monitoring are among them without hpm.accounts=on");
    for (unsigned a = 0; a < accounts; a++)
        printf("  %18s", heading[a]);
    printf("  of\n");
    for (int i = 0; i < n; i++) {
        if (values[i].kind != SYS_VALUE_COUNT || values[i].sure != SYS_SURE_EXACT)
            continue;
        for (unsigned a = 0; a < accounts; a++)
            printf("  %18s", figure_grouped(values[i].part[a], text));
        printf("  %s\n", values[i].name);
    }
}

static const char *describe_turn(const struct sys_hpm_turn *t, char out[FIGURE_MAX])
{
    if (t->pinned)
        return "pinned";
    if (!t->tied)
        return t->automatic ? "auto" : "-";
    snprintf(out, FIGURE_MAX, "tied %" PRIu32, t->tied);
    return out;
}

static struct {
    struct sys_hpm_turns all;
    struct sys_hpm_turn of[VALUES_MAX];
    int session;
    bool wanted, automatic; /* automatic: a weight is; all are printed again with the totals */
} turns;

/* Prints what has become of weights, pins, braces and a round, above the first values, so that
 * printing is not counted. */
static void print_turns(const struct sys_hpm_value *values, int n)
{
    const struct sys_hpm_turns *all = &turns.all;
    char text[FIGURE_MAX];

    if (!turns.wanted)
        return;
    turns.wanted = false;
    printf("hpmstat: groups=%" PRIu32 " slices=%" PRIu32 " passes=%" PRIu32 " slice=%" PRIu64
           " pass=%" PRIu64 " round=%" PRIu64 " unit=%s remote=%s: how what is counted takes "
           "turns%s\n  %8s  %6s  %-8s  %s\n",
           all->groups, all->slices, all->passes, all->slice, all->pass, all->round,
           all->by_instructions ? "instructions" : "cycles", all->scaled ? "scaled" : "kept",
           all->scaled
               ? "; pinned events have taken the counters of remote-cache stalls, which are "
                 "estimates now"
               : "",
           "turns", "weight", "as", "name");
    for (int i = 0; i < n && i < VALUES_MAX; i++)
        printf("  %6.1f %%  %6" PRIu32 "  %-8s  %s\n", 100.0 * turns.of[i].slices / all->slices,
               turns.of[i].weight, describe_turn(&turns.of[i], text), values[i].name);
}

/* ---- Records --------------------------------------------------------------------------------- */

void values_begin_record(unsigned format, const char *kind, const struct reading *r)
{
    record_begin(format == FORMAT_CSV ? RECORD_CSV : RECORD_JSON, "hpmstat", kind);
    record_text("of", r->name);
    if (r->what.tid)
        record_number("thread", r->what.tid);
    else
        record_none("thread");
    record_text("span", r->total ? "total" : "interval");
    record_real("from_ms", r->from_ms, 3);
    record_real("to_ms", r->to_ms, 3);
}

static void record_turns(enum record_format as, const struct sys_hpm_value *values, int n)
{
    const struct sys_hpm_turns *all = &turns.all;

    if (!turns.wanted)
        return;
    turns.wanted = false;
    record_begin(as, "hpmstat", "turns");
    record_number("groups", all->groups);
    record_number("slices", all->slices);
    record_number("passes", all->passes);
    record_number("slice", all->slice);
    record_number("pass", all->pass);
    record_number("round", all->round);
    record_text("length_in", all->by_instructions ? "instructions" : "cycles");
    record_text("remote", all->scaled ? "scaled" : "kept");
    record_end();
    for (int i = 0; i < n; i++) {
        record_begin(as, "hpmstat", "turn");
        record_text("name", values[i].name);
        record_number("slices", turns.of[i].slices);
        record_number("weight", turns.of[i].weight);
        record_number("automatic", turns.of[i].automatic);
        record_number("pinned", turns.of[i].pinned);
        record_number("tied", turns.of[i].tied);
        record_end();
    }
}

/* The first `named` of the n values are those of the session's names. */
static void record_values(unsigned format, const struct reading *r,
                          const struct sys_hpm_value *values, int named, int n)
{
    static const char *const accounts[SYS_ACCOUNTS] = {"threads", "idle", "interrupts",
                                                       "monitoring"};

    record_turns(format == FORMAT_CSV ? RECORD_CSV : RECORD_JSON, values, named);
    for (int i = 0; i < n; i++) {
        const struct sys_hpm_value *v = &values[i];
        bool parts = r->what.scope == SYS_SCOPE_MACHINE && v->kind == SYS_VALUE_COUNT &&
                     v->sure == SYS_SURE_EXACT;
        values_begin_record(format, "value", r);
        record_text("name", v->name);
        record_value(v);
        for (unsigned a = 0; a < SYS_ACCOUNTS; a++)
            if (parts)
                record_number(accounts[a], v->part[a]);
            else
                record_none(accounts[a]);
        record_end();
    }
}

/* ---- Any of these ---------------------------------------------------------------------------- */

void values_tell_turns(int session)
{
    turns.session = session;
    turns.wanted = true;
    values_weigh(session);
}

bool values_weigh(int session)
{
    int n = hpm_turns(session, &turns.all, turns.of, VALUES_MAX);

    for (int i = 0; i < n && i < VALUES_MAX; i++)
        turns.automatic |= turns.of[i].automatic;
    return turns.automatic;
}

int values_take(const struct reading *r, unsigned format)
{
    static struct sys_hpm_value values[VALUES_MAX + 1];
    int n = hpm_values(&r->what, values, VALUES_MAX);

    if (r->total && turns.automatic)
        values_tell_turns(turns.session);

    if (n < 0)
        return n;
    n = n < VALUES_MAX ? n : VALUES_MAX;
    int all = frequency_add(r, values, n);
    if (format == FORMAT_SERIES)
        return keep_reading(values, (size_t)n);
    if (format != FORMAT_TEXT) {
        record_values(format, r, values, n, all);
        return 0;
    }
    print_turns(values, n);
    printf("hpmstat: %s\n  %18s  %-24s  %-14s  %s\n", r->title, "value", "name", "interval",
           "   seen");
    for (int i = 0; i < all; i++)
        print_value(&values[i]);
    if (r->what.scope == SYS_SCOPE_MACHINE)
        print_accounts(values, n);
    return 0;
}
