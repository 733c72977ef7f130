/* See recording.h. */
#include "apps/tools/measuring/recording.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/places.h"
#include "apps/libc/hpm.h"

enum { BATCH = 256, SOME = 16 * BATCH, WAIT_MAX_MS = 10 };

static int open_criteria(struct recording *r, const char *criteria,
                         const struct recording_wanted *wanted, uint32_t pid, char *why,
                         size_t size)
{
    struct sys_sample_account a = {0};

    struct sys_profiling what = {.criteria = (uintptr_t)criteria,
                                 .pid = pid,
                                 .rate = (uint32_t)wanted->rate,
                                 .permille = (uint32_t)wanted->limit,
                                 .chains = wanted->chains,
                                 .family = pid != 0};
    *r = (struct recording){.session = samples_open_chains(&what, why, size)};
    if (r->session < 0) {
        if (!why[0])
            snprintf(why, size, "%s", strerror(-r->session));
        return r->session;
    }
    while (!samples_account(r->session, r->criteria, &a))
        r->criteria++;
    r->began = a;
    return 0;
}

void recording_open_or_exit(struct recording *r, const struct args_table *table,
                            const struct recording_wanted *wanted, uint32_t pid)
{
    bool given = wanted->criteria[0];
    const char *criteria = given ? wanted->criteria : "cycles";
    char why[256];
    int err = open_criteria(r, criteria, wanted, pid, why, sizeof why);

    if (err == -ENODEV && !given) {
        printf("%s: criterion=time instead_of=cycles reason=no-device: this machine has no "
               "performance counters that are known\n",
               table->program);
        criteria = "time";
        err = open_criteria(r, criteria, wanted, pid, why, sizeof why);
    }
    if (err)
        args_refuse(table, "criteria", args_reason(err), "%s: %s", criteria, why);
}

/* Samples that have been taken and not noted. Grows by doubling and is not freed. */
static struct {
    struct sys_sample *samples;
    size_t room;
} held;

/* Makes room for a batch behind `count` samples. Returns false if there is no memory. */
static bool hold_room(size_t count)
{
    if (count + BATCH <= held.room)
        return true;
    size_t room = held.room ? 2 * held.room : BATCH;
    struct sys_sample *more = realloc(held.samples, room * sizeof *more);
    if (!more)
        return false;
    held.samples = more;
    held.room = room;
    return true;
}

uint64_t recording_wait_ms(double ms)
{
    return ms < 1 ? 1 : ms < WAIT_MAX_MS ? (uint64_t)ms : WAIT_MAX_MS;
}

size_t recording_collect(const struct recording *r, bool all)
{
    size_t count = 0;
    int n = BATCH;

    places_turn();
    while (n == BATCH && (all || count < SOME) && hold_room(count)) {
        n = samples_take(r->session, held.samples + count, BATCH);
        count += n > 0 ? (size_t)n : 0;
    }
    return count;
}

void recording_note(size_t count, void (*note)(const struct sys_sample *sample))
{
    for (size_t i = 0; i < count; i++)
        note(&held.samples[i]);
}

void recording_take(const struct recording *r, bool all,
                    void (*note)(const struct sys_sample *sample))
{
    recording_note(recording_collect(r, all), note);
}

void recording_account(const struct recording *r, unsigned criterion,
                       struct sys_sample_account *out)
{
    *out = (struct sys_sample_account){0};
    samples_account(r->session, criterion, out);
}

static const char *const lengthened[] = {[SYS_NOT_STRETCHED] = "no",
                                         [SYS_STRETCHED_FOR_COST] = "cost",
                                         [SYS_STRETCHED_FOR_STORMS] = "storms"};

static bool is_time(const struct sys_sample_account *a)
{
    return !strcmp(a->name, "time") || !strncmp(a->name, "time:", 5);
}

struct shares_form recording_form(const struct sys_sample_account *a, size_t rows,
                                  const char *line_end)
{
    return (struct shares_form){.rows = rows,
                                .unit = is_time(a) ? "ns" : "count",
                                .seen = a->stood_for,
                                .all = a->estimate,
                                .line_end = line_end};
}

void recording_print_head(const struct sys_sample_account *a, const struct recording_head *head)
{
    char text[FIGURE_MAX];

    printf("%s: criterion=%s samples=%" PRIu64 " lost=%" PRIu64 " mean=%" PRIu64 " adapted=%s",
           head->tool, a->name, head->samples, a->lost, head->mean, a->asked ? "no" : "yes");
    if (head->stand_for)
        printf(" stand_for=%" PRIu64, head->stand_for);
    if (a->seen_permille < 1000)
        printf(" seen_pct=%" PRIu64 ".%" PRIu64, a->seen_permille / 10, a->seen_permille % 10);
    if (a->stretched != SYS_NOT_STRETCHED)
        printf(" lengthened=%s", lengthened[a->stretched]);
    if (a->throttled)
        printf(" storms=%" PRIu64, a->throttled);
    printf(": one %s %s%s", is_time(a) ? "every" : "in",
           is_time(a) ? figure_time(head->mean, text) : figure_grouped(head->mean, text),
           head->line_end);
}

uint64_t recording_busy(const struct recording *r)
{
    struct sys_sample_account a;

    recording_account(r, 0, &a);
    uint64_t passed = a.passed - r->began.passed, idle = a.idle - r->began.idle;
    return passed > idle ? passed - idle : 0;
}

double recording_cost_pct(const struct recording *r)
{
    struct sys_sample_account a;

    recording_account(r, 0, &a);
    uint64_t busy = recording_busy(r);
    return busy ? figure_percent(a.cycles - r->began.cycles, busy) : NAN;
}

void recording_cost(const struct recording *r, char out[FIGURE_MAX])
{
    double percent = recording_cost_pct(r);

    if (isnan(percent))
        snprintf(out, FIGURE_MAX, "unknown");
    else
        snprintf(out, FIGURE_MAX, "%.2f", percent);
}

void recording_close(struct recording *r)
{
    samples_close(r->session);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void begin_record(const struct recording_as *as, const char *kind,
                         const struct sys_sample_account *a)
{
    record_begin(as->format, as->tool, kind);
    record_real("ms", as->ms, 3);
    record_text("criterion", a->name);
}

void recording_record_head(const struct sys_sample_account *a, const struct recording_head *head,
                           const struct recording_as *as)
{
    bool time = is_time(a);

    begin_record(as, "criterion", a);
    record_number("samples", head->samples);
    record_number("lost", a->lost);
    record_number_if("mean_events", !time && head->samples, head->mean);
    record_number_if("mean_ns", time && head->samples, head->mean);
    record_number("adapted", !a->asked);
    record_number_if("stand_for_events", !time && head->stand_for, head->stand_for);
    record_number_if("stand_for_ns", time && head->stand_for, head->stand_for);
    record_real("seen_pct", (double)a->seen_permille / 10, 1);
    record_text_if("lengthened", a->stretched ? lengthened[a->stretched] : NULL);
    record_number("storms", a->throttled);
    record_end();
}

/* A figure scaled to what was not seen has no limits here: how sure its whole is is not known. */
static void record_weight(const struct sys_sample_account *a, const struct shares *s,
                          uint64_t weight)
{
    static const char *const columns[][3] = {{"events", "events_low", "events_high"},
                                             {"ns", "ns_low", "ns_high"}};
    uint64_t count = figure_scaled(weight, a->stood_for, a->estimate);
    double all = (double)figure_scaled(s->weight, a->stood_for, a->estimate), low = 0, high = 0;
    bool known = shares_interval(s, weight, &low, &high);

    record_real("share_pct", figure_percent(weight, s->weight), 3);
    record_real_if("share_low_pct", known, low, 3);
    record_real_if("share_high_pct", known, high, 3);
    for (unsigned i = 0; i < 2; i++) {
        bool mine = is_time(a) == (i == 1), limits = mine && known && a->seen_permille >= 1000;
        record_number_if(columns[i][0], mine, count);
        record_real_if(columns[i][1], limits, all * low / 100, 0);
        record_real_if(columns[i][2], limits, all * high / 100, 0);
    }
}

static void record_share(const struct sys_sample_account *a, const struct shares *s,
                         const struct share *row, const struct recording_as *as)
{
    bool region = s->by == SHARES_REGION, code = s->by == SHARES_FUNCTION || s->by == SHARES_LINE;

    begin_record(as, "share", a);
    record_text("by", shares_by_choices[s->by]);
    record_number("samples", row->samples);
    record_weight(a, s, row->weight);
    record_text_if("function", code ? row->name : NULL);
    record_text_if("region", region ? row->name : NULL);
    record_text_if("program", row->program);
    record_text_if("file", row->file);
    record_number_if("line", s->by == SHARES_LINE && row->number, row->number);
    record_number_if("thread", s->by == SHARES_THREAD, row->number);
    record_number_if("process", s->by == SHARES_THREAD || s->by == SHARES_PROCESS, row->pid);
    record_end();
}

void recording_record_shares(const struct sys_sample_account *a, const struct shares *s,
                             size_t rows, const struct recording_as *as)
{
    size_t n = 0, shown = 0;
    const struct share **sorted = shares_sorted(s, &n);
    uint64_t samples = s->samples, weight = s->weight;

    for (; sorted && shown < n && shown < rows; shown++) {
        record_share(a, s, sorted[shown], as);
        samples -= sorted[shown]->samples;
        weight -= sorted[shown]->weight;
    }
    free(sorted);
    if (!samples)
        return;
    begin_record(as, "rest", a);
    record_number("rows", (sorted ? n : s->rows.count) - shown);
    record_number("samples", samples);
    record_weight(a, s, weight);
    record_text_if("reason", sorted ? NULL : "no-memory");
    record_end();
}
