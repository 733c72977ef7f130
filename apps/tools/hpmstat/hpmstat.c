/*
 * Counts events and metrics while a program runs, like perf stat:
 *
 *     hpmstat events=cycles,ipc,l1d.miss:u -- phases kind=sort
 *     hpmstat per=machine ms=1000 interval=100
 *     hpmstat list=miss
 *     hpmstat breakdown=1 interval=10 format=series -- phases kind=sort
 *
 * It counts the program and all its descendants, the program alone, each of its threads, or the
 * whole machine; and prints totals at the end, or the difference of every interval. A count that
 * took turns with others is printed with its 95 % interval and the part of the time in which it was
 * counted. In place of events it can print where the cycles went (breakdown.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/tools/measuring/program.h"
#include "apps/tools/hpmstat/hpmstat.h"

enum { THREADS_MAX = 256, NAMES_MAX = 4096 };
enum { PER_FAMILY, PER_PROCESS, PER_THREAD, PER_MACHINE };

static const char *events = "", *out = "";
static uint64_t interval_ms, run_ms = 1000, round_length, buffer_kb = 64;
static uint64_t breakdown, marks, cpu = CPU_SETSIZE;
static unsigned per, format;
static bool weighs; /* there are automatic weights */
static const char *const format_choices[] = {"text", "series",  "csv",      "json",
                                             "log",  "log-csv", "log-json", NULL};
static const char *const per_choices[] = {"family", "process", "thread", "machine", NULL};
static const struct args_entry entries[] = {
    {"events", ARGS_TEXT, &events, 1, NAMES_MAX - 32, NULL,
     "events and metrics, separated by commas; name*4: four times the slices, 1 to 8; name*auto: "
     "by "
     "its variance; name!: all the time; {name,name}: in the same slices"},
    {"round", ARGS_NUMBER, &round_length, 0, 1ull << 36, NULL,
     "cycles that a round of all groups takes at least; the shortest that is asked for rules; 0: "
     "the usual"},
    {"breakdown", ARGS_NUMBER, &breakdown, 0, 1, NULL,
     "1: where the cycles went, in place of events"},
    {"per", ARGS_CHOICE, &per, 0, 0, per_choices,
     "whose counts: the program's and those of what it starts, the program's alone, each "
     "thread's, the machine's"},
    {"interval", ARGS_NUMBER, &interval_ms, 0, 3600000, NULL,
     "milliseconds between printings; 0: at the end only"},
    {"format", ARGS_CHOICE, &format, 0, 0, format_choices,
     "text; a series of lines, one for each interval, printed at the end so that printing disturbs "
     "nothing; csv or json lines for programs; or log, a line at each time that a thread leaves "
     "its CPU and at each interval on it, printed at the end"},
    {"buffer", ARGS_NUMBER, &buffer_kb, 4, 1024, NULL,
     "format=log: KB of memory for each CPU's records, a power of two"},
    {"marks", ARGS_NUMBER, &marks, 0, 1, NULL,
     "1: names each reading in the simulated machine's ground truth"},
    {"cpu", ARGS_NUMBER, &cpu, 0, CPU_SETSIZE, NULL,
     "where hpmstat itself is to run, beside what it measures; the largest: anywhere"},
    {"ms", ARGS_NUMBER, &run_ms, 1, 3600000, NULL, "how long, where no program is given"},
    PROGRAM_OUT(&out),
};
static const struct args_table table = {
    "hpmstat",
    "counts events and metrics: hpmstat events=NAMES [...] [-- program argument ...]; hpmstat "
    "list: what can be counted here; list=WORD: what has the word in its name or description",
    entries, sizeof entries / sizeof entries[0]};

/* Counted by default, as far as the machine has them. */
static const char *const usual[] = {"cycles",      "instructions",     "ipc",
                                    "branch.miss", "l1d.miss",         "llc.miss",
                                    "tlb.miss",    "mem.remote_cache", "mem.remote"};

struct run {
    const char *name; /* of the measured object */
    int session;      /* 0: none */
    double last_ms;   /* end of the last interval, since the program began */
    struct program program;
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* Takes a reading; skips a process or thread that has ended. */
static void take_reading(const struct reading *r)
{
    int err = breakdown ? breakdown_take(r, format) : values_take(r, format);

    if (err && err != -ESRCH)
        printf("hpmstat: %s reason=%s: cannot be read: %s\n", r->title, args_reason(err),
               strerror(-err));
}

static void take_threads(const struct run *run, const char *when, double now_ms)
{
    static struct sys_thread_info threads[THREADS_MAX];
    int n = application_threads(run->program.pid, threads, THREADS_MAX);
    char title[96];

    for (int i = 0; i < n && i < THREADS_MAX; i++) {
        struct reading r = {.name = threads[i].name,
                            .title = title,
                            .from_ms = run->last_ms,
                            .to_ms = now_ms,
                            .what = {.session = (uint32_t)run->session,
                                     .scope = SYS_SCOPE_THREAD,
                                     .pid = threads[i].pid,
                                     .tid = threads[i].tid,
                                     .since_last = !breakdown}};
        snprintf(title, sizeof title, "of=%s thread=%" PRIu32 " %s", threads[i].name,
                 threads[i].tid, when);
        take_reading(&r);
    }
}

static const uint32_t scopes[] = {[PER_FAMILY] = SYS_SCOPE_FAMILY,
                                  [PER_PROCESS] = SYS_SCOPE_PROCESS,
                                  [PER_THREAD] = SYS_SCOPE_PROCESS,
                                  [PER_MACHINE] = SYS_SCOPE_MACHINE};

/* Returns whose totals are to be read. */
static struct sys_hpm_read whole_of(const struct run *run)
{
    return (struct sys_hpm_read){.session = (uint32_t)run->session,
                                 .scope = scopes[per],
                                 .pid = per == PER_MACHINE ? 0 : (uint32_t)run->program.pid};
}

static void take_all(const struct run *run, const char *when, double now_ms, bool total)
{
    char title[96];
    struct reading r = {.name = run->name,
                        .title = title,
                        .from_ms = total ? 0 : run->last_ms,
                        .to_ms = now_ms,
                        .total = total,
                        .what = whole_of(run)};

    r.what.since_last = !breakdown && !total;
    if (marks)
        hpm_mark("reading");
    snprintf(title, sizeof title, "of=%s %s", run->name, when);
    take_reading(&r);
}

/* ---- Running --------------------------------------------------------------------------------- */

static void open_or_exit(struct run *run, const char *names)
{
    static char text[NAMES_MAX];
    char why[160];

    snprintf(text, sizeof text, "%s", names);
    if (round_length)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",round=%" PRIu64, round_length);
    run->session = hpm_open(text, why, sizeof why);
    if (run->session < 0)
        args_refuse(&table, "events", args_reason(run->session), "%s: %s", names,
                    why[0] ? why : strerror(-run->session));
    if (round_length || strpbrk(text, "*!{") || strstr(text, "round="))
        values_tell_turns(run->session);
    weighs = strstr(text, "*auto") != NULL;
}

/* Tries each name alone first, to find those that this machine has. */
static void open_usual(struct run *run)
{
    char names[256] = "", why[160];

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        int session = hpm_open(usual[i], why, sizeof why);
        if (session < 0)
            continue;
        hpm_close(session);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? "," : "",
                 usual[i]);
    }
    if (!names[0])
        args_refuse(&table, "events", "no-device", "%s", why); /* the reason of the last failure */
    open_or_exit(run, names);
}

/* Sleeps for an interval. Returns false if the program has ended or the time is up. */
static bool goes_on(struct run *run)
{
    if (run->program.pid)
        return program_sleep(&run->program, interval_ms);
    uint64_t passed = (uint64_t)program_ms(&run->program),
             left = run_ms > passed ? run_ms - passed : 0;
    program_sleep(&run->program, left < interval_ms ? left : interval_ms);
    return left > interval_ms;
}

static void take_intervals(struct run *run)
{
    char when[48];

    for (bool more = true; more;) {
        more = goes_on(run);
        double now_ms = program_ms(&run->program);
        snprintf(when, sizeof when, "at_ms=%.1f since_ms=%.1f", now_ms, run->last_ms);
        if (per == PER_THREAD)
            take_threads(run, when, now_ms);
        else
            take_all(run, when, now_ms, false);
        run->last_ms = now_ms;
    }
}

/* Takes records, and has automatic weights looked at, until the program has ended or the time is
 * up. */
static void attend(struct run *run)
{
    const uint64_t every_ms = 20;

    while (run->program.pid || program_ms(&run->program) < (double)run_ms) {
        if (!program_sleep(&run->program, every_ms))
            return;
        if (format >= FORMAT_LOG)
            log_take();
        if (weighs)
            values_weigh(run->session);
    }
}

static void print_log(const struct run *run)
{
    const struct timespec *began = &run->program.began;
    const struct sys_hpm_read what = whole_of(run);

    log_print(&what, (uint64_t)began->tv_sec * 1000000000 + (uint64_t)began->tv_nsec, format);
}

static void begin_log(const struct run *run)
{
    const struct sys_hpm_log what = {.every_ns = interval_ms * 1000000,
                                     .scope = scopes[per],
                                     .pid =
                                         per == PER_MACHINE ? 0 : (uint32_t)application_next_pid(),
                                     .bytes = (uint32_t)buffer_kb << 10};
    char why[160];
    int err = log_begin(run->session, &what, why, sizeof why);

    if (err)
        args_refuse(&table, "format", args_reason(err), "log: %s", why[0] ? why : strerror(-err));
}

static void stay(void)
{
    cpu_set_t at;

    if (cpu == CPU_SETSIZE)
        return;
    CPU_ZERO(&at);
    CPU_SET(cpu, &at);
    int err = pthread_setaffinity_np(pthread_self(), sizeof at, &at);
    if (err)
        args_refuse(&table, "cpu", args_reason(err), "%" PRIu64 ": %s", cpu, strerror(err));
}

/* Starts counting. */
static void begin_counting(struct run *run)
{
    if (breakdown && events[0])
        args_refuse(&table, "events", "conflict",
                    "events= and breakdown=1 are two ways to look: one at a time");
    if (breakdown && format >= FORMAT_LOG)
        args_refuse(&table, "format", "conflict", "a log is of events, not of a breakdown");
    if (breakdown && !breakdown_begin())
        args_refuse(&table, "breakdown", "no-device",
                    "this machine has no performance counters that are known, or hpm.pmu=none");
    if (events[0])
        open_or_exit(run, events);
    else if (!breakdown)
        open_usual(run);
    if (format >= FORMAT_LOG)
        begin_log(run);
    if (marks)
        hpm_mark("reading");
}

/* Returns the format that a list is to have: hpmstat list[=WORD] [format=csv]. */
static unsigned list_format(int argc, char **argv)
{
    unsigned f = 0;

    if (argc == 2)
        return FORMAT_TEXT;
    if (argc > 3 || strncmp(argv[2], "format=", 7) != 0)
        args_refuse(&table, "list", "value", "behind list= there is nothing but format=");
    while (format_choices[f] && strcmp(format_choices[f], argv[2] + 7) != 0)
        f++;
    if (!format_choices[f] || f == FORMAT_SERIES || f >= FORMAT_LOG)
        args_refuse(&table, "format", "value", "'%s' is no format of a list; use text, csv or json",
                    argv[2] + 7);
    return f;
}

int main(int argc, char **argv)
{
    struct run run = {0};
    char when[48];

    if (argc >= 2 && (!strcmp(argv[1], "list") || !strncmp(argv[1], "list=", 5)))
        return list_print(argv[1][4] ? argv[1] + 5 : "", list_format(argc, argv));

    int program = program_parse_or_exit(&table, argc, argv);
    if (program == argc && per != PER_MACHINE)
        args_refuse(&table, "program", "missing",
                    "no program behind '--'; without one only per=machine can be counted");
    if (per == PER_THREAD && !interval_ms && format < FORMAT_LOG)
        args_refuse(&table, "interval", "missing",
                    "per=thread takes an interval=, for threads that have ended have no "
                    "counts of their own");
    FILE *report = program_open_report_or_exit(&table, out);
    stay();
    run.name = per == PER_MACHINE ? "machine" : argv[program];
    begin_counting(&run);
    cost_begin();
    program_begin_or_exit(&run.program, &table, argv + program, argc - program);
    program_report_to(report);
    if (format >= FORMAT_LOG || (!interval_ms && weighs))
        attend(&run);
    else if (interval_ms)
        take_intervals(&run);
    else if (!run.program.pid)
        program_sleep(&run.program, run_ms);
    int status = program_end(&run.program);
    double now_ms = program_ms(&run.program);
    snprintf(when, sizeof when, "ms=%.1f", now_ms);
    if (format >= FORMAT_LOG)
        print_log(&run);
    else
        take_all(&run, when, now_ms, true);
    values_print_series();
    breakdown_print_series();
    cost_print(format);
    if (run.session)
        hpm_close(run.session);
    return status;
}
