/*
 * Shows what happens to a program's memory while it runs: resident and swapped-out pages, faults,
 * reads and writes, of the process and of each region; its curve of misses; the division of memory
 * among processes, and why; prefetching; the cost of tracking.
 *
 *     memstat -- lu n=1024
 *     memstat interval=100 regions=1 -- warehouse ms=500
 *     memstat format=series interval=100 -- cg
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/tools/measuring/program.h"
#include "apps/tools/memstat/memstat.h"

enum { REGIONS_MAX = 128, LOOK_MS = 20 };
enum { FORMAT_TEXT, FORMAT_SERIES, FORMAT_CSV, FORMAT_JSON };

static uint64_t interval_ms, regions = 1, curve = 1, pools = 1, files = 1;
static unsigned format;
static const char *out = "";
static const char *const formats[] = {"text", "series", "csv", "json", NULL};
static const struct args_entry entries[] = {
    {"interval", ARGS_NUMBER, &interval_ms, 0, 3600000, NULL,
     "milliseconds between printings; 0: at the end only"},
    {"regions", ARGS_NUMBER, &regions, 0, 1, NULL, "1: of each region as well, as last seen"},
    {"curve", ARGS_NUMBER, &curve, 0, 1, NULL,
     "1: how often it would miss with other memory, where a tracker has watched it"},
    {"pools", ARGS_NUMBER, &pools, 0, 1, NULL,
     "1: with each interval, what every process has of memory"},
    {"files", ARGS_NUMBER, &files, 0, 1, NULL,
     "1: of files' pages as well, where memory is limited"},
    {"format", ARGS_CHOICE, &format, 0, 0, formats,
     "text: for people; series: a line MEMORY and a line MRC each time, for make plot-mrc; csv or "
     "json lines for programs"},
    PROGRAM_OUT(&out),
};
static const struct args_table table = {
    "memstat", "says what happens to a program's memory: memstat [...] -- program argument ...",
    entries, sizeof entries / sizeof entries[0]};

static struct sys_memory_region region[REGIONS_MAX];
static int region_count;

/* A program that has ended has no regions; those read last stay. */
static void look_at_regions(int pid)
{
    static struct sys_memory_region now[REGIONS_MAX];
    int n = memory_regions(pid, now, REGIONS_MAX);

    if (n <= 0)
        return;
    memcpy(region, now, sizeof region);
    region_count = n;
}

static void record_files(struct memstat_as as)
{
    struct sys_memory m;
    struct sys_curve c;

    as.of = "files";
    as.pid = SYS_MEMORY_FILES;
    if (memory_read(SYS_MEMORY_FILES, &m) || !m.policy[0])
        return;
    record_memory(&as, &m);
    if (curve && !memory_curve(SYS_MEMORY_FILES, &c) && c.epochs)
        record_curve(&as, &c);
}

/* c: NULL: there is no curve. */
static void record_all(const struct memstat_as *as, const struct sys_memory *m,
                       const struct sys_curve *c, bool running)
{
    record_memory(as, m);
    if (curve && c)
        record_curve(as, c);
    if (pools && running)
        show_pools(as);
    if (regions)
        record_regions(as, region, region_count, REGIONS_MAX);
    if (files)
        record_files(*as);
}

static void show(const struct program *p, const char *name, bool running)
{
    struct sys_memory m;
    struct sys_curve c;

    if (memory_read(p->pid, &m))
        return;
    bool known = memory_curve(p->pid, &c) == 0 && c.epochs;
    if (format == FORMAT_SERIES) {
        show_series(name, p->pid, program_ms(p), &m, known ? &c : NULL);
        return;
    }
    if (format != FORMAT_TEXT) {
        struct memstat_as as = {format == FORMAT_CSV ? RECORD_CSV : RECORD_JSON, name,
                                (uint32_t)p->pid, program_ms(p)};
        record_all(&as, &m, known ? &c : NULL, running);
        return;
    }
    show_memory(name, program_ms(p), &m);
    if (curve && known)
        show_curve(&c, &m);
    if (pools && running)
        show_pools(NULL);
    if (regions)
        show_regions(region, region_count, REGIONS_MAX);
    if (files)
        show_files();
}

static void watch(struct program *p, const char *name)
{
    uint64_t ms = interval_ms ? interval_ms : LOOK_MS;

    while (program_sleep(p, ms)) {
        if (regions)
            look_at_regions(p->pid);
        if (interval_ms)
            show(p, name, true);
    }
}

int main(int argc, char **argv)
{
    struct program program;
    int first = program_parse_or_exit(&table, argc, argv);

    if (first == argc)
        args_refuse(&table, "program", "missing", "no program behind '--'");
    char **command = argv + first;
    FILE *report = program_open_report_or_exit(&table, out);
    program_begin_or_exit(&program, &table, command, argc - first);
    program_report_to(report);
    watch(&program, command[0]);
    int status = program_end(&program);
    show(&program, command[0], false);
    return status;
}
