/*
 * Prefetching policies on the accesses of programs (programs.h), in a memory that replaces by LRU
 * (paging.h): one line per program, size of memory as part of the footprint, and policy.
 *   recall_pct     faults that prefetching avoided, of the faults without it
 *   precision_pct  prefetched pages that were used, of those with a known fate
 *   io_pct         pages read, in percent more than without it
 * A second line, prefetch.wait, has reads that take as long as LATENCY accesses: [A]'s million
 * cycles, with some thousand cycles for an access to a page.
 *   wait_pct       time waited for pages, of the time waited without prefetching
 *   late_pct       used prefetched pages that were still being read
 * Environment: QUICK=1 (smaller), SEED (1), PROGRAM=name (only this program), LATENCY (140).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/host/double/paging.h"
#include "test/host/double/programs.h"

void panic(const char *fmt, ...)
{
    fprintf(stderr, "panic: %s\n", fmt);
    abort();
}

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void report(const char *program, const struct prefetch_ops *ops, const struct trace *t,
                   unsigned memory_pct, const struct paging_result *r,
                   const struct paging_result *without)
{
    double io = percent(r->faults + r->fetched, without->faults) - (without->faults ? 100 : 0);

    printf("RESULT prefetch program=%s policy=%s pages=%u memory_pct=%u accesses=%zu faults=%llu "
           "fetched=%llu used=%llu "
           "recall_pct=%.1f precision_pct=%.1f io_pct=%+.1f level=%u\n",
           program, ops->name, t->pages, memory_pct, t->length, (unsigned long long)r->faults,
           (unsigned long long)r->fetched, (unsigned long long)r->used,
           without->faults ? 100 - percent(r->faults, without->faults) : 0,
           percent(r->used, r->used + r->wasted), io, r->level);
    fflush(stdout);
}

static void simulate_waits(const char *program, const struct trace *t, unsigned memory_pct,
                           unsigned latency)
{
    uint32_t frames = t->pages * memory_pct / 100;
    struct paging_result none = paging_run(&prefetch_none, t, frames, latency, false);

    for (const struct prefetch_ops *const *ops = prefetch_policies; *ops; ops++) {
        struct paging_result r = paging_run(*ops, t, frames, latency, false);
        printf("RESULT prefetch.wait program=%s policy=%s memory_pct=%u latency=%u faults=%llu "
               "fetched=%llu "
               "late_pct=%.1f precision_pct=%.1f io_pct=%+.1f wait_pct=%.1f\n",
               program, (*ops)->name, memory_pct, latency, (unsigned long long)r.faults,
               (unsigned long long)r.fetched, percent(r.late, r.used),
               percent(r.used, r.used + r.wasted),
               percent(r.faults + r.fetched, none.faults) - (none.faults ? 100 : 0),
               percent(r.waited, none.waited));
        fflush(stdout);
    }
}

static void simulate(const struct program *program)
{
    static const unsigned memory_pct[] = {25, 45, 50, 75}, wait_pct[] = {25, 50, 75, 90};
    struct trace t = program_run(program);

    for (unsigned i = 0; i < ARRAY_SIZE(memory_pct); i++) {
        uint32_t frames = t.pages * memory_pct[i] / 100;
        struct paging_result without = paging_run(&prefetch_none, &t, frames, 0, false);
        for (const struct prefetch_ops *const *ops = prefetch_policies; *ops; ops++) {
            struct paging_result r =
                *ops == &prefetch_none ? without : paging_run(*ops, &t, frames, 0, false);
            report(program_names[program->kind], *ops, &t, memory_pct[i], &r, &without);
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(wait_pct); i++)
        simulate_waits(program_names[program->kind], &t, wait_pct[i],
                       (unsigned)number("LATENCY", 140));
    trace_free(&t);
}

int main(void)
{
    bool quick = number("QUICK", 0) != 0;
    struct program program = {.side = quick ? 512 : 2048, .filter = 64, .seed = number("SEED", 1)};
    const char *only = getenv("PROGRAM");

    program.pages = program.side * program.side / 2048;
    program.length = 40ull * program.pages;
    printf("# make bench-prefetch SEED=%lu\n"
           "# recall: faults avoided.  precision: prefetched pages that were used.  io: pages "
           "read, more "
           "than without.\n"
           "# level: at the end; spatial: the window; ppg: least weight of an edge.\n"
           "# prefetch.wait: reads take this number of accesses.  late: used while under way.\n"
           "# wait: time waited for pages, of that without prefetching.\n",
           number("SEED", 1));
    for (unsigned kind = 0; kind < PROGRAM_KINDS; kind++) {
        program.kind = kind;
        if (!only || strcmp(only, program_names[kind]) == 0)
            simulate(&program);
    }
    return 0;
}
