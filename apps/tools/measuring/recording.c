/* See recording.h. */
#include "apps/tools/measuring/recording.h"
#include <errno.h>
#include <inttypes.h>
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

/* All are taken before the first is noted: with frequent criteria noting a sample makes another,
 * and there would be no end. */
void recording_take(const struct recording *r, bool all,
                    void (*note)(const struct sys_sample *sample))
{
    size_t count = 0;
    int n = BATCH;

    places_turn();
    while (n == BATCH && (all || count < SOME) && hold_room(count)) {
        n = samples_take(r->session, held.samples + count, BATCH);
        count += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < count; i++)
        note(&held.samples[i]);
}

void recording_account(const struct recording *r, unsigned criterion,
                       struct sys_sample_account *out)
{
    *out = (struct sys_sample_account){0};
    samples_account(r->session, criterion, out);
}

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
    static const char *const why[] = {[SYS_NOT_STRETCHED] = "no",
                                      [SYS_STRETCHED_FOR_COST] = "cost",
                                      [SYS_STRETCHED_FOR_STORMS] = "storms"};
    char text[FIGURE_MAX];

    printf("%s: criterion=%s samples=%" PRIu64 " lost=%" PRIu64 " mean=%" PRIu64 " adapted=%s",
           head->tool, a->name, head->samples, a->lost, head->mean, a->asked ? "no" : "yes");
    if (head->stand_for)
        printf(" stand_for=%" PRIu64, head->stand_for);
    if (a->seen_permille < 1000)
        printf(" seen_pct=%" PRIu64 ".%" PRIu64, a->seen_permille / 10, a->seen_permille % 10);
    if (a->stretched != SYS_NOT_STRETCHED)
        printf(" lengthened=%s", why[a->stretched]);
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

void recording_cost(const struct recording *r, char out[FIGURE_MAX])
{
    struct sys_sample_account a;

    recording_account(r, 0, &a);
    uint64_t busy = recording_busy(r);
    if (busy)
        snprintf(out, FIGURE_MAX, "%.2f", figure_percent(a.cycles - r->began.cycles, busy));
    else
        snprintf(out, FIGURE_MAX, "unknown");
}

void recording_close(struct recording *r)
{
    samples_close(r->session);
}
