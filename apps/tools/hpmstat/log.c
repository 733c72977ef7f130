/*
 * format=log, log-csv, log-json: what threads counted over time. Records are kept until the program
 * has ended, so that printing disturbs nothing, and are then put in order: each thread's by its
 * length, for the differences, and all by time, for the lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/hpmstat/hpmstat.h"
#include "apps/tools/measuring/record.h"

enum { TAKE_BYTES = 1 << 16 };

static struct {
    int session;
    size_t figures, bytes; /* of a record */
    uint8_t *records;
    size_t count, room;
    uint64_t lost;
    bool dropped; /* there was no memory for what was taken */
} kept;

/* Of each figure: what the lines add up to, what no line tells, and the final reading. */
static struct account {
    char name[160];
    uint64_t sum, rest, left, final;
} account[VALUES_MAX];

static struct sys_hpm_logged *record_at(size_t i)
{
    return (struct sys_hpm_logged *)(kept.records + i * kept.bytes);
}

static struct sys_hpm_pair *pairs_of(struct sys_hpm_logged *r)
{
    return (struct sys_hpm_pair *)(r + 1);
}

/* ---- Taking ---------------------------------------------------------------------------------- */

int log_begin(int session, const struct sys_hpm_log *what, char *why, size_t size)
{
    int figures = hpm_log(session, what, why, size);

    if (figures < 0)
        return figures;
    kept.session = session;
    kept.figures = (size_t)figures;
    kept.bytes = sizeof(struct sys_hpm_logged) + kept.figures * sizeof(struct sys_hpm_pair);
    return 0;
}

static bool has_room(void)
{
    if ((kept.room - kept.count) * kept.bytes >= TAKE_BYTES)
        return true;
    size_t room = 2 * kept.room + TAKE_BYTES / kept.bytes + 1;
    uint8_t *more = realloc(kept.records, room * kept.bytes);
    if (!more)
        return false;
    kept.records = more;
    kept.room = room;
    return true;
}

void log_take(void)
{
    int n = 1;

    while (n > 0 && !kept.dropped) {
        kept.dropped = !has_room();
        if (kept.dropped)
            return;
        n = hpm_log_take(kept.session, kept.records + kept.count * kept.bytes,
                         (kept.room - kept.count) * kept.bytes);
        for (int i = 0; i < n; i++)
            kept.lost += record_at(kept.count++)->lost;
    }
}

/* ---- Differences ----------------------------------------------------------------------------- */

/* Rests in front, then thread by thread. */
static int by_thread(const void *a, const void *b)
{
    const struct sys_hpm_logged *x = a, *y = b;
    bool x_rest = x->why == SYS_LOG_REST, y_rest = y->why == SYS_LOG_REST;

    if (x_rest != y_rest)
        return x_rest ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return (x->why == SYS_LOG_ENDED) - (y->why == SYS_LOG_ENDED);
}

static int by_time(const void *a, const void *b)
{
    const struct sys_hpm_logged *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (int)x->tid - (int)y->tid;
}

/* Reads the final counts of a thread that has no record of its end. last: its latest record. If the
 * thread still runs, the difference is what is left; if it has ended, the rests contain its counts,
 * and the part that `last` has told already is subtracted from them. */
static void account_unended(struct sys_hpm_logged *last)
{
    static struct sys_hpm_value v[VALUES_MAX];
    const struct sys_hpm_read read = {.session = (uint32_t)kept.session,
                                      .scope = SYS_SCOPE_THREAD,
                                      .pid = last->pid,
                                      .tid = last->tid};
    int n = hpm_values(&read, v, VALUES_MAX);

    for (size_t f = 0, i = 0; f < kept.figures; f++) {
        while (n > 0 && v[i].kind != SYS_VALUE_COUNT)
            i++;
        if (n > 0)
            account[f].left += v[i++].counted - pairs_of(last)[f].counted;
        else
            account[f].rest -= pairs_of(last)[f].counted;
    }
}

/* Replaces totals by differences, from the last record to the first. */
static void take_differences(void)
{
    for (size_t i = kept.count; i-- > 0;) {
        struct sys_hpm_logged *r = record_at(i), *before = i ? record_at(i - 1) : NULL;
        struct sys_hpm_logged *next = i + 1 < kept.count ? record_at(i + 1) : NULL;
        if (r->why == SYS_LOG_REST) {
            for (size_t f = 0; f < kept.figures; f++)
                account[f].rest += pairs_of(r)[f].counted;
            continue;
        }
        if (r->why != SYS_LOG_ENDED && (!next || next->tid != r->tid))
            account_unended(r);
        bool first = !before || before->why == SYS_LOG_REST || before->tid != r->tid;
        r->length -= first ? 0 : before->length;
        for (size_t f = 0; f < kept.figures; f++) {
            pairs_of(r)[f].counted -= first ? 0 : pairs_of(before)[f].counted;
            pairs_of(r)[f].seen -= first ? 0 : pairs_of(before)[f].seen;
            account[f].sum += pairs_of(r)[f].counted;
        }
    }
}

/* ---- Printing -------------------------------------------------------------------------------- */

static const char *const why[] = {[SYS_LOG_TIME] = "time",
                                  [SYS_LOG_LEFT] = "left",
                                  [SYS_LOG_ENDED] = "ended",
                                  [SYS_LOG_ASKED] = "asked"};
static enum record_format lines; /* of a log for programs */

/* A line for each figure of the record. */
static void record_logged(struct sys_hpm_logged *r, uint64_t began_ns)
{
    for (size_t f = 0; f < kept.figures; f++) {
        record_begin(lines, "hpmstat", "log");
        record_real("at_ms", (double)(int64_t)(r->time_ns - began_ns) / 1e6, 6);
        record_number("thread", r->tid);
        record_number("pid", r->pid);
        record_number("cpu", r->cpu);
        record_text("why", why[r->why]);
        record_number("length", r->length);
        record_text("name", account[f].name);
        record_number("counted", pairs_of(r)[f].counted);
        record_number("seen", pairs_of(r)[f].seen);
        record_end();
    }
}

/* LOG at_ms= thread= pid= cpu= why= length= name=counted/seen ... */
static void print_record(struct sys_hpm_logged *r, uint64_t began_ns)
{
    printf("LOG at_ms=%.6f thread=%" PRIu32 " pid=%" PRIu32 " cpu=%" PRIu16
           " why=%s length=%" PRIu64,
           (double)(int64_t)(r->time_ns - began_ns) / 1e6, r->tid, r->pid, r->cpu, why[r->why],
           r->length);
    for (size_t f = 0; f < kept.figures; f++)
        printf(" %s=%" PRIu64 "/%" PRIu64, account[f].name, pairs_of(r)[f].counted,
               pairs_of(r)[f].seen);
    printf("\n");
}

static int read_final(const struct sys_hpm_read *what)
{
    static struct sys_hpm_value v[VALUES_MAX];
    int n = hpm_values(what, v, VALUES_MAX);

    for (size_t f = 0, i = 0; n > 0 && f < kept.figures; i++)
        if (v[i].kind == SYS_VALUE_COUNT) {
            memcpy(account[f].name, v[i].name, sizeof account[f].name);
            account[f++].final = v[i].counted;
        }
    return n;
}

static bool adds_up(const struct account *a)
{
    return a->sum + a->rest + a->left == a->final;
}

static void print_accounts(size_t logged, bool machine)
{
    printf("hpmstat: logged=%zu lost=%" PRIu64 "%s\n", logged, kept.lost,
           kept.dropped ? " reason=no-memory: what came later was not taken" : "");
    for (size_t f = 0; f < kept.figures; f++) {
        const struct account *a = &account[f];
        printf("hpmstat: log=%s sum=%" PRIu64 " rest=%" PRIu64 " left=%" PRIu64, a->name, a->sum,
               a->rest, a->left);
        if (machine)
            printf(" final=- check=-\n");
        else
            printf(" final=%" PRIu64 " check=%s\n", a->final, adds_up(a) ? "ok" : "off");
    }
}

static void record_accounts(size_t logged, bool machine)
{
    record_begin(lines, "hpmstat", "logged");
    record_number("logged", logged);
    record_number("lost", kept.lost);
    record_text("reason", kept.dropped ? "no-memory" : "");
    record_end();
    for (size_t f = 0; f < kept.figures; f++) {
        const struct account *a = &account[f];
        record_begin(lines, "hpmstat", "account");
        record_text("name", a->name);
        record_number("sum", a->sum);
        record_number("rest", a->rest);
        record_number("left", a->left);
        if (machine) {
            record_none("final");
            record_none("check");
        } else {
            record_number("final", a->final);
            record_text("check", adds_up(a) ? "ok" : "off");
        }
        record_end();
    }
}

static void sort_records(int (*order)(const void *, const void *))
{
    if (kept.count)
        qsort(kept.records, kept.count, kept.bytes, order);
}

void log_print(const struct sys_hpm_read *what, uint64_t began_ns, unsigned format)
{
    bool machine = what->scope == SYS_SCOPE_MACHINE, text = format == FORMAT_LOG;
    size_t rests = 0;

    lines = format == FORMAT_LOG_JSON ? RECORD_JSON : RECORD_CSV;
    log_take();
    hpm_log_take(kept.session, NULL, 0);
    log_take();
    int n = read_final(what);
    if (n < 0) {
        printf("hpmstat: log=none reason=unreadable: the final reading failed: %s\n", strerror(-n));
        return;
    }
    sort_records(by_thread);
    take_differences();
    sort_records(by_time);
    for (size_t i = 0; i < kept.count; i++) {
        bool rest = record_at(i)->why == SYS_LOG_REST;
        rests += rest;
        if (!rest)
            (text ? print_record : record_logged)(record_at(i), began_ns);
    }
    (text ? print_accounts : record_accounts)(kept.count - rests, machine);
}
