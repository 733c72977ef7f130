/*
 * Prints where the cycles of programs went: by cause, and stalls for data by source, next to the
 * stalls that the accesses and the machine's documented latencies predict ([A] 2.5, Table 2.7). As
 * text, or as a series for tools/plot_breakdown.sh.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/record.h"
#include "apps/tools/measuring/since.h"
#include "hpm/events/fit.h"
#include "apps/tools/hpmstat/hpmstat.h"

#define WORD(field) (offsetof(struct sys_breakdown, field) / sizeof(uint64_t))
#define COUNT(a)    (sizeof(a) / sizeof(a)[0])

/* In the order of struct hpm_breakdown. */
static const struct cause {
    const char *key, *name;
} causes[] =
    {
        {"instruction_cache", "instruction cache"},
        {"branch", "branch misprediction"},
        {"data_cache", "data cache"},
        {"translation", "address translation"},
        {"other", "other"},
        {"front_end", "front end"},
        {"back_end", "back end"},
},
  sources[] = {
      {"l1", "L1"},
      {"local_l2", "local L2"},
      {"local_l3", "local L3"},
      {"remote_l2", "remote L2"},
      {"remote_l3", "remote L3"},
      {"local_memory", "local memory"},
      {"remote_memory", "remote memory"},
};
enum {
    DATA_CACHE = 2,
    PIPELINE = 5
}; /* the cause that is split by source; and the causes of the pipeline's halves */
_Static_assert(COUNT(causes) == COUNT(((struct sys_breakdown *)0)->stall), "each cause has a name");
_Static_assert(COUNT(sources) == COUNT(((struct sys_breakdown *)0)->dcache),
               "each source has a name");

static bool is_counted(const struct sys_breakdown *b, size_t word)
{
    return b->counted >> word & 1;
}

/* Returns the stalled cycles of all causes. */
static uint64_t stalled(const struct sys_breakdown *b)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < COUNT(causes); i++)
        sum += b->stall[i];
    return sum;
}

static uint64_t not_stalled(const struct sys_breakdown *b)
{
    uint64_t sum = stalled(b);

    return sum < b->cycles ? b->cycles - sum : 0;
}

/* Returns whether all causes of stalls are counted, so that the rest is completion. */
static bool is_complete(const struct sys_breakdown *b)
{
    bool by_cause = true, by_half = true;

    for (size_t i = 0; i < COUNT(causes); i++)
        if (!is_counted(b, WORD(stall) + i))
            *(i < PIPELINE ? &by_cause : &by_half) = false;
    return by_cause || by_half;
}

static uint64_t estimate(const struct sys_breakdown *b, size_t source)
{
    return b->served[source] * b->latency[source];
}

/* ---- Readings -------------------------------------------------------------------------------- */

/* The last reading of an object that is read more than once. */
struct earlier {
    struct sys_hpm_read what;
    struct sys_breakdown first, last;
};
static struct {
    struct earlier *at;
    size_t count, room;
} earlier;

/* Returns the last reading of an object, all 0 if it was not read before. NULL: no memory. */
static struct earlier *find_earlier(const struct sys_hpm_read *what)
{
    for (size_t i = 0; i < earlier.count; i++)
        if (!memcmp(&earlier.at[i].what, what, sizeof *what))
            return &earlier.at[i];
    if (earlier.count == earlier.room) {
        size_t room = earlier.room ? 2 * earlier.room : 16;
        struct earlier *more = realloc(earlier.at, room * sizeof *more);
        if (!more)
            return NULL;
        earlier.at = more;
        earlier.room = room;
    }
    earlier.at[earlier.count] = (struct earlier){.what = *what};
    return &earlier.at[earlier.count++];
}

bool breakdown_begin(void)
{
    const struct sys_hpm_read machine = {.scope = SYS_SCOPE_MACHINE};
    struct earlier *e = find_earlier(&machine);

    if (!e || hpm_breakdown(&machine, &e->first) || !is_counted(&e->first, WORD(cycles)))
        return false;
    e->last = e->first;
    return true;
}

static int read_new(const struct reading *r, struct sys_breakdown *b)
{
    struct earlier *e = find_earlier(&r->what);
    int err = e ? hpm_breakdown(&r->what, b) : -ENOMEM;

    if (err)
        return err;
    if (r->total) {
        breakdown_since(b, &e->first);
        return 0;
    }
    struct sys_breakdown now = *b;
    breakdown_since(b, &e->last);
    e->last = now;
    return 0;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static double ratio(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

static void print_part(const struct sys_breakdown *b, const char *name, uint64_t cycles)
{
    char text[FIGURE_MAX];

    printf("  %18s  %-24s  %5.1f %%", figure_grouped(cycles, text), name,
           100 * ratio(cycles, b->cycles));
    if (b->instructions)
        printf("  %8.3f", ratio(cycles, b->instructions));
    else
        printf("  %8s", "-");
}

/* Marks a figure that was scaled. */
static void print_fitted(const struct sys_breakdown *b, unsigned figure)
{
    if (b->fitted >> figure & 1)
        printf("  fitted");
}

/* Prints the estimate's error where the figures make up a thousandth of the cycles. */
static void print_estimate(const struct sys_breakdown *b, size_t source)
{
    uint64_t is = b->dcache[source], expected = estimate(b, source),
             most = is > expected ? is : expected;
    double error = 100 * (ratio(expected, is) - 1);
    char text[FIGURE_MAX];

    printf("  %18s", figure_grouped(expected, text));
    if (is && most >= b->cycles / 1000)
        printf(error > 999 ? "  over 999 %%" : "  %+6.1f %%", error);
}

static void print_sources(const struct sys_breakdown *b)
{
    char name[32];

    for (size_t i = 0; i < COUNT(sources); i++) {
        if (!is_counted(b, WORD(dcache) + i))
            continue;
        snprintf(name, sizeof name, "  %s", sources[i].name);
        print_part(b, name, b->dcache[i]);
        if (b->latency[i] && is_counted(b, WORD(served) + i))
            print_estimate(b, i);
        print_fitted(b, FIT_DCACHE + (unsigned)i);
        printf("\n");
    }
}

/* Prints estimates where a PMU counts the accesses, not the cycles. */
static void print_estimated_sources(const struct sys_breakdown *b)
{
    char name[32];

    for (size_t i = 0; i < COUNT(sources); i++) {
        if (is_counted(b, WORD(dcache) + i) || !is_counted(b, WORD(served) + i) || !b->latency[i])
            continue;
        snprintf(name, sizeof name, "%s, estimated", sources[i].name);
        print_part(b, name, estimate(b, i));
        printf("\n");
    }
}

static void print_text(const char *title, const struct sys_breakdown *b)
{
    printf("hpmstat: %s cycles=%" PRIu64, title, b->cycles);
    if (is_counted(b, WORD(instructions)))
        printf(" instructions=%" PRIu64 " cpi=%.3f", b->instructions,
               ratio(b->cycles, b->instructions));
    printf(" seen_pct=%.1f: each figure was seen for at least that part\n",
           100 * ratio(b->seen_cycles, b->cycles));
    printf("  %18s  %-24s  %7s  %8s  %18s  %s\n", "cycles", "cause", "share", "CPI", "estimated",
           "error");
    print_part(b, is_complete(b) ? "completion" : "all else", not_stalled(b));
    printf("\n");
    for (size_t i = 0; i < COUNT(causes); i++) {
        if (!is_counted(b, WORD(stall) + i))
            continue;
        print_part(b, causes[i].name, b->stall[i]);
        print_fitted(b, (unsigned)i);
        printf("\n");
        if (i == DATA_CACHE)
            print_sources(b);
    }
    print_estimated_sources(b);
}

/* ---- Series ---------------------------------------------------------------------------------- */

struct row {
    char name[32];
    double from_ms, to_ms;
    uint32_t tid;
    bool total;
    struct sys_breakdown b;
};
static struct {
    struct row *at;
    size_t count, room;
} rows;

static int keep_row(const struct reading *r, const struct sys_breakdown *b)
{
    if (rows.count == rows.room) {
        size_t room = rows.room ? 2 * rows.room : 64;
        struct row *more = realloc(rows.at, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        rows.at = more;
        rows.room = room;
    }
    struct row *row = &rows.at[rows.count++];
    *row = (struct row){
        .from_ms = r->from_ms, .to_ms = r->to_ms, .tid = r->what.tid, .total = r->total, .b = *b};
    snprintf(row->name, sizeof row->name, "%s", r->name);
    return 0;
}

static void print_word(const struct sys_breakdown *b, const char *key, const char *suffix,
                       size_t word, uint64_t value)
{
    if (is_counted(b, word))
        printf(" %s%s=%" PRIu64, key, suffix, value);
}

/* Prints a row: BREAKDOWN interval|total of=NAME [thread=N] from_ms= to_ms= name=value ... All
 * values but times and instructions are cycles. */
static void print_row(const struct row *row)
{
    const struct sys_breakdown *b = &row->b;

    printf("BREAKDOWN %s of=%s", row->total ? "total" : "interval", row->name);
    if (row->tid)
        printf(" thread=%" PRIu32, row->tid);
    printf(" from_ms=%.3f to_ms=%.3f", row->from_ms, row->to_ms);
    print_word(b, "cycles", "", WORD(cycles), b->cycles);
    print_word(b, "instructions", "", WORD(instructions), b->instructions);
    print_word(b, "idle", "", WORD(idle_cycles), b->idle_cycles);
    printf(" seen=%" PRIu64 " %s=%" PRIu64, b->seen_cycles, is_complete(b) ? "completion" : "rest",
           not_stalled(b));
    for (size_t i = 0; i < COUNT(causes); i++)
        print_word(b, causes[i].key, "", WORD(stall) + i, b->stall[i]);
    for (size_t i = 0; i < COUNT(sources); i++) {
        print_word(b, sources[i].key, "", WORD(dcache) + i, b->dcache[i]);
        if (b->latency[i])
            print_word(b, sources[i].key, "_estimated", WORD(served) + i, estimate(b, i));
    }
    printf("\n");
}

void breakdown_print_series(void)
{
    for (size_t i = 0; i < rows.count; i++)
        print_row(&rows.at[i]);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void record_word(const struct sys_breakdown *b, const char *key, size_t word, uint64_t value)
{
    if (is_counted(b, word))
        record_number(key, value);
    else
        record_none(key);
}

/* All values but times and instructions are cycles. */
static void record_breakdown(unsigned format, const struct reading *r,
                             const struct sys_breakdown *b)
{
    char key[48];

    values_begin_record(format, "breakdown", r);
    record_word(b, "cycles", WORD(cycles), b->cycles);
    record_word(b, "instructions", WORD(instructions), b->instructions);
    record_word(b, "idle", WORD(idle_cycles), b->idle_cycles);
    record_number("seen", b->seen_cycles);
    record_number(is_complete(b) ? "completion" : "rest", not_stalled(b));
    for (size_t i = 0; i < COUNT(causes); i++)
        record_word(b, causes[i].key, WORD(stall) + i, b->stall[i]);
    for (size_t i = 0; i < COUNT(sources); i++) {
        record_word(b, sources[i].key, WORD(dcache) + i, b->dcache[i]);
        snprintf(key, sizeof key, "%s_estimated", sources[i].key);
        if (b->latency[i])
            record_word(b, key, WORD(served) + i, estimate(b, i));
        else
            record_none(key);
    }
    record_end();
}

int breakdown_take(const struct reading *r, unsigned format)
{
    struct sys_breakdown b;
    int err = read_new(r, &b);

    if (err || format == FORMAT_SERIES)
        return err ? err : keep_row(r, &b);
    if (format == FORMAT_TEXT)
        print_text(r->title, &b);
    else
        record_breakdown(format, r, &b);
    return 0;
}
