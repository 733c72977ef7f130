/*
 * Says what happens to a program's memory while it runs: what is resident and what is swapped out, faults, pages read and
 * written, of the process and of each of its regions.
 *
 *     memstat -- lu n=1024
 *     memstat interval=100 regions=1 -- warehouse ms=500
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/hpm/program.h"
#include "apps/libc/memory.h"

enum { REGIONS_MAX = 128, LOOK_MS = 50 };

static uint64_t interval_ms, regions = 1;
static const struct args_entry entries[] = {
    {"interval", ARGS_NUMBER, &interval_ms, 0, 3600000, NULL,
     "milliseconds between printings; 0: at the end only"},
    {"regions", ARGS_NUMBER, &regions, 0, 1, NULL, "1: of each region as well, as last seen"},
};
static const struct args_table table = {
    "memstat", "says what happens to a program's memory: memstat [...] -- program argument ...", entries,
    sizeof entries / sizeof entries[0]};

static struct sys_memory_region region[REGIONS_MAX];
static int region_count;

static uint64_t kilobytes(uint64_t bytes)
{
    return bytes / 1024;
}

static void print_memory(const char *name, double ms, const struct sys_memory *m)
{
    printf("memstat: %s, %.1f ms: %" PRIu64 " KB mapped, %" PRIu64 " KB resident, %" PRIu64
           " KB swapped out\n",
           name, ms, kilobytes(m->mapped_bytes), kilobytes(m->resident_bytes), kilobytes(m->swapped_bytes));
    printf("  memory: %" PRIu64 " of %" PRIu64 " KB free\n", kilobytes(m->free_bytes),
           kilobytes(m->memory_bytes));
    if (!m->policy[0])
        return;
    printf("  pool: %s, %" PRIu64 " of %" PRIu64 " KB; tracker: %s\n", m->policy, kilobytes(m->pool_bytes),
           kilobytes(m->limit_bytes), m->tracker);
    printf("  faults: %" PRIu64 " major, %" PRIu64 " minor, %" PRIu64 " first; waited for a frame: %" PRIu64
           "\n",
           m->major_faults, m->minor_faults, m->first_faults, m->waits);
    printf("  pages: %" PRIu64 " in, %" PRIu64 " out, %" PRIu64 " left clean, %" PRIu64 " rescued\n",
           m->page_ins, m->page_outs, m->clean_outs, m->rescued);
    if (m->prefetched)
        printf("  prefetched: %" PRIu64 ", used: %" PRIu64 ", evicted unused: %" PRIu64 "\n", m->prefetched,
               m->prefetched_used, m->wasted);
    if (m->read_errors || m->write_errors)
        printf("  errors: %" PRIu64 " reading, %" PRIu64 " writing\n", m->read_errors, m->write_errors);
    if (m->swap_bytes)
        printf("  swap: %" PRIu64 " of %" PRIu64 " KB free, %" PRIu64 " reads, %" PRIu64
               " writes of the machine\n",
               kilobytes(m->swap_free_bytes), kilobytes(m->swap_bytes), m->swap_reads, m->swap_writes);
}

static const char *rights(uint32_t prot, char out[4])
{
    out[0] = prot & SYS_PROT_READ ? 'r' : '-';
    out[1] = prot & SYS_PROT_WRITE ? 'w' : '-';
    out[2] = prot & SYS_PROT_EXEC ? 'x' : '-';
    out[3] = 0;
    return out;
}

static void print_regions(void)
{
    char text[4];
    int shown = region_count < REGIONS_MAX ? region_count : REGIONS_MAX;

    printf("  %-15s %16s %10s %10s %10s %10s %10s\n", "region", "at", "KB", "resident", "swapped", "faults",
           "major");
    for (int i = 0; i < shown; i++) {
        const struct sys_memory_region *r = &region[i];
        printf("  %-15s %16" PRIx64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
               " %s\n",
               r->name, r->start, kilobytes(r->bytes), kilobytes(r->resident_bytes),
               kilobytes(r->swapped_bytes), r->faults, r->major_faults, rights(r->prot, text));
    }
    if (region_count > shown)
        printf("  and %d more\n", region_count - shown);
}

/* Of a program that has ended there are none: those seen last stay. */
static void look_at_regions(int pid)
{
    static struct sys_memory_region now[REGIONS_MAX];
    int n = memory_regions(pid, now, REGIONS_MAX);

    if (n <= 0)
        return;
    memcpy(region, now, sizeof region);
    region_count = n;
}

static void watch(struct program *p, const char *name)
{
    struct sys_memory m;
    uint64_t ms = interval_ms ? interval_ms : LOOK_MS;

    while (program_sleep(p, ms)) {
        if (regions)
            look_at_regions(p->pid);
        if (!interval_ms || memory_read(p->pid, &m))
            continue;
        print_memory(name, program_ms(p), &m);
        if (regions)
            print_regions();
    }
}

int main(int argc, char **argv)
{
    struct program program;
    struct sys_memory m;
    int own = 1;

    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    args_parse_or_exit(&table, own, argv);
    if (own + 1 >= argc)
        args_refuse(&table, "no program behind '--'");
    char **command = argv + own + 1;
    int err = program_begin(&program, command, argc - own - 1);
    if (err)
        args_refuse(&table, "%s cannot be started: %s", command[0], strerror(-err));
    watch(&program, command[0]);
    int status = program_end(&program);
    if (memory_read(program.pid, &m) == 0)
        print_memory(command[0], program_ms(&program), &m);
    if (regions)
        print_regions();
    return status;
}
