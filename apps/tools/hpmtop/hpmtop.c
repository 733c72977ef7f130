/*
 * Shows repeatedly which functions and threads the machine's time goes to, like top and perf top:
 *
 *     hpmtop interval=500 -- scoreboard ms=10000
 *     hpmtop plain=1 times=3 criteria=L1D_MISSES
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/common/args.h"
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/places.h"
#include "apps/tools/measuring/program.h"
#include "apps/tools/measuring/recording.h"
#include "apps/tools/measuring/shares.h"
#include "apps/tools/measuring/value.h"
#include "apps/libc/hpm.h"

enum { TEXT_MAX = 4095, TAKE_MS = 20, METRICS_MAX = 4 };
enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

static struct recording_wanted wanted = RECORDING_WANTED;
static const char *metrics = "";
static uint64_t rows = 12, interval_ms = 1000, times, plain;
static unsigned format;
static const char *const format_choices[] = {"text", "csv", "json", NULL};
static const struct args_entry entries[] = {
    RECORDING_ENTRIES(wanted),
    {"metrics", ARGS_TEXT, &metrics, 0, TEXT_MAX, NULL,
     "up to 4 events and metrics to show of each thread; if none are given ipc and l1d.mpki, "
     "where there are"},
    {"interval", ARGS_NUMBER, &interval_ms, 10, 3600000, NULL, "milliseconds between two pictures"},
    {"times", ARGS_NUMBER, &times, 0, 1000000000, NULL,
     "how many pictures; 0: until the program ends"},
    {"rows", ARGS_NUMBER, &rows, 1, 1000, NULL, "of each table"},
    {"plain", ARGS_NUMBER, &plain, 0, 1, NULL, "1: one below the other, without escape sequences"},
    {"format", ARGS_CHOICE, &format, 0, 0, format_choices,
     "text, or csv or json lines for programs, which have no escape sequences either"},
};
static const struct args_table table = {
    "hpmtop", "shows where time goes: hpmtop interval=MS [...] [-- program argument ...]", entries,
    sizeof entries / sizeof entries[0]};

/* Erases the rest of the previous picture's line. */
static const char *line_end = "\033[K\n";

static struct recording recording;
static struct shares functions[RECORDING_CRITERIA_MAX],
    threads; /* since the last picture; threads: of the first criterion */

/* Counts shown for each thread beside its share. */
static struct {
    int session; /* 0: none */
    int count;
    char name[METRICS_MAX][32];
} shown;

static void note_sample(const struct sys_sample *s)
{
    shares_add(&functions[s->criterion], s);
    if (s->criterion == 0)
        shares_add(&threads, s);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Reads a thread's metrics since the last time. Returns 0 or -Exxx. */
static int read_metrics(const struct share *thread, struct sys_hpm_value out[METRICS_MAX])
{
    struct sys_hpm_read read = {.session = (uint32_t)shown.session,
                                .scope = SYS_SCOPE_THREAD,
                                .pid = thread->pid,
                                .tid = thread->number,
                                .since_last = 1};

    if (!thread->pid)
        return -ESRCH;
    int n = hpm_values(&read, out, METRICS_MAX);
    return n < 0 ? n : 0;
}

static void print_metric(const struct sys_hpm_value *v)
{
    char text[FIGURE_MAX] = "-";

    if (v->kind == SYS_VALUE_COUNT && v->seen_permille)
        figure_grouped(v->count, text);
    else if (v->kind == SYS_VALUE_METRIC && !v->trouble)
        snprintf(text, sizeof text, "%.3f", (double)v->millionths / 1e6);
    printf("  %14s", text);
}

static void print_thread(const struct share *t, double cpus)
{
    struct sys_hpm_value v[METRICS_MAX];
    bool known = shown.count && !read_metrics(t, v);
    double share = figure_percent(t->weight, threads.weight);

    if (cpus > 0)
        printf("  %5.1f %%", cpus * share);
    printf("  %5.1f %%  %8" PRIu64, share, t->samples);
    for (int i = 0; i < shown.count; i++)
        if (known)
            print_metric(&v[i]);
        else
            printf("  %14s", "-");
    printf("  %8" PRIu32 "  %8" PRIu32 "  %s%s", t->number, t->pid, t->program, line_end);
}

/* `cpus`: the number of CPUs that the samples' weights stand for; 0: they do not stand for time. */
static void print_threads(double cpus)
{
    size_t n = 0;
    const struct share **sorted = shares_sorted(&threads, &n);

    printf("hpmtop: threads=%zu%s", n, line_end);
    if (cpus > 0)
        printf("      CPU");
    printf("    share   samples");
    for (int i = 0; i < shown.count; i++)
        printf("  %14s", shown.name[i]);
    printf("    thread   process  program%s", line_end);
    for (size_t i = 0; sorted && i < n && i < rows; i++)
        print_thread(sorted[i], cpus);
    if (sorted && n > rows)
        printf("  rest: rows=%zu%s", n - (size_t)rows, line_end);
    free(sorted);
}

/* Writes a thread as a record, and each of its metrics that can be read as one more. */
static void record_thread(const struct share *t, double cpus, const struct recording_as *as)
{
    struct sys_hpm_value v[METRICS_MAX];
    double low, high, share = figure_percent(t->weight, threads.weight);
    bool known = shares_interval(&threads, t->weight, &low, &high);

    record_begin(as->format, as->tool, "thread");
    record_real("ms", as->ms, 3);
    record_number("thread", t->number);
    record_number("process", t->pid);
    record_text_if("program", t->program);
    record_number("samples", t->samples);
    record_real("share_pct", share, 3);
    record_real_if("share_low_pct", known, low, 3);
    record_real_if("share_high_pct", known, high, 3);
    record_real_if("cpu_pct", cpus > 0, cpus * share, 3);
    record_end();
    if (!shown.count || read_metrics(t, v))
        return;
    for (int i = 0; i < shown.count; i++) {
        record_begin(as->format, as->tool, "value");
        record_real("ms", as->ms, 3);
        record_number("thread", t->number);
        record_number("process", t->pid);
        record_text("name", v[i].name);
        record_value(&v[i]);
        record_end();
    }
}

/* `cpus` as above. */
static void record_threads(double cpus, const struct recording_as *as)
{
    size_t n = 0;
    const struct share **sorted = shares_sorted(&threads, &n);

    for (size_t i = 0; sorted && i < n && i < rows; i++)
        record_thread(sorted[i], cpus, as);
    free(sorted);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static bool is_of_time(unsigned criterion)
{
    struct sys_sample_account a;

    recording_account(&recording, criterion, &a);
    return !strcmp(a.name, "cycles") || !strcmp(a.name, "time");
}

/* Returns the number of CPUs that were busy since the last call. */
static double busy_cpus(void)
{
    static struct sys_sample_account last;
    struct sys_sample_account now;

    recording_account(&recording, 0, &now);
    uint64_t passed = now.passed - last.passed, idle = now.idle - last.idle;
    last = now;
    return passed > idle
               ? (double)(passed - idle) / (double)passed * (double)sysconf(_SC_NPROCESSORS_ONLN)
               : 0;
}

/* as: NULL: as text. */
static void print_functions(unsigned criterion, const struct recording_as *as)
{
    struct sys_sample_account a;
    struct shares *s = &functions[criterion];

    recording_account(&recording, criterion, &a);
    struct recording_head head = {"hpmtop", s->samples,
                                  s->samples ? s->weight / s->samples : a.period, 0, line_end};
    if (as) {
        recording_record_head(&a, &head, as);
        recording_record_shares(&a, s, (size_t)rows, as);
        shares_clear(s);
        return;
    }
    recording_print_head(&a, &head);
    struct shares_form form = recording_form(&a, (size_t)rows, line_end);
    shares_print(s, &form);
    shares_clear(s);
}

static void record_picture(const struct program *p)
{
    struct recording_as as = {format == FORMAT_CSV ? RECORD_CSV : RECORD_JSON, "hpmtop",
                              program_ms(p)};
    double cpus = busy_cpus();

    record_begin(as.format, as.tool, "picture");
    record_real("ms", as.ms, 3);
    record_real("busy_cpus", cpus, 3);
    record_number("cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    record_real("cost_pct", recording_cost_pct(&recording), 3);
    record_number("threads", threads.rows.count);
    record_end();
    for (unsigned i = 0; i < recording.criteria; i++)
        print_functions(i, &as);
    record_threads(is_of_time(0) ? cpus : 0, &as);
    shares_clear(&threads);
    fflush(stdout);
}

static void print_picture(const struct program *p)
{
    double cpus = busy_cpus();
    char cost[FIGURE_MAX];

    recording_cost(&recording, cost);
    if (!plain)
        printf("\033[H");
    printf("hpmtop: ms=%.1f busy_cpus=%.2f cpus=%ld cost_pct=%s: sampling's part of that since "
           "the beginning%s",
           program_ms(p), cpus, sysconf(_SC_NPROCESSORS_ONLN), cost, line_end);
    for (unsigned i = 0; i < recording.criteria; i++)
        print_functions(i, NULL);
    print_threads(is_of_time(0) ? cpus : 0);
    shares_clear(&threads);
    if (!plain)
        printf("\033[J");
    fflush(stdout);
}

/* ---- Running --------------------------------------------------------------------------------- */

static int open_metrics(const char *names, char *why, size_t size)
{
    struct sys_hpm_read read = {.scope = SYS_SCOPE_THREAD};
    struct sys_hpm_value v[METRICS_MAX];
    int opened = hpm_open(names, why, size);

    if (opened < 0)
        return opened;
    read.session = (uint32_t)opened;
    int n = hpm_values(&read, v, METRICS_MAX);
    if (n < 0 || n > METRICS_MAX) {
        hpm_close(opened);
        snprintf(why, size, n < 0 ? "no memory" : "more than 4");
        return n < 0 ? n : -ENOSPC;
    }
    shown.session = opened;
    shown.count = n;
    for (int i = 0; i < n; i++)
        snprintf(shown.name[i], sizeof shown.name[i], "%.31s", v[i].name);
    return 0;
}

/* Opens the metrics asked for, or those of the default ones that there are. */
static void open_metrics_or_exit(void)
{
    static const char *const usual[] = {"ipc,l1d.mpki", "ipc", NULL};
    char why[256];

    int err = metrics[0] ? open_metrics(metrics, why, sizeof why) : 0;
    if (err)
        args_refuse(&table, "metrics", args_reason(err), "%s: %s", metrics,
                    why[0] ? why : "they cannot be counted");
    for (unsigned i = 0; !metrics[0] && usual[i] && open_metrics(usual[i], why, sizeof why); i++)
        ;
}

static void open_all_or_exit(void)
{
    recording_open_or_exit(&recording, &table, &wanted, 0);
    open_metrics_or_exit();
    threads.by = SHARES_THREAD;
    for (unsigned i = 0; i < recording.criteria; i++)
        functions[i].by = SHARES_FUNCTION;
}

/* Records until the next picture is due. Returns false if the program has ended. */
static bool record_interval(struct program *p)
{
    double until = program_ms(p) + (double)interval_ms;
    bool runs = true;

    for (double left; runs && (left = until - program_ms(p)) > 0;) {
        runs = program_sleep(p, left < TAKE_MS ? (uint64_t)left + 1 : TAKE_MS);
        recording_take(&recording, false, note_sample);
    }
    return runs;
}

static void begin_screen(void)
{
    if (plain || format != FORMAT_TEXT)
        line_end = "\n";
    else
        printf("\033[2J");
}

int main(int argc, char **argv)
{
    struct program p;
    int program = program_parse_or_exit(&table, argc, argv);

    if (program == argc && !times)
        args_refuse(&table, "times", "missing",
                    "neither times= nor a program behind '--': it would never end");
    open_all_or_exit();
    program_begin_or_exit(&p, &table, argv + program, argc - program);
    if (p.pid)
        places_name((uint32_t)p.pid, argv[program]);
    begin_screen();
    busy_cpus();
    bool runs = true;
    for (uint64_t i = 0; runs && (!times || i < times); i++) {
        runs = record_interval(&p);
        if (format == FORMAT_TEXT)
            print_picture(&p);
        else
            record_picture(&p);
    }
    recording_close(&recording);
    return runs ? 0 : program_end(&p); /* a program that still runs ends with this one */
}
