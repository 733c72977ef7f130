/* See memstat.h: text. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/libc.h"
#include "apps/tools/memstat/memstat.h"

enum {
    THREADS_MAX = 256,
    EXPERTS = sizeof(((struct sys_memory *)0)->expert) / sizeof(struct sys_expert)
};

static uint64_t kilobytes(uint64_t bytes)
{
    return bytes / 1024;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void show_faults(const struct sys_memory *m)
{
    printf("  faults: %" PRIu64 " major, %" PRIu64 " minor, %" PRIu64
           " first; waited for a frame: %" PRIu64 "\n",
           m->major_faults, m->minor_faults, m->first_faults, m->waits);
    printf("  pages: %" PRIu64 " in, %" PRIu64 " out, %" PRIu64 " left clean, %" PRIu64
           " rescued\n",
           m->page_ins, m->page_outs, m->clean_outs, m->rescued);
    if (m->major_faults)
        printf("  waiting for pages: %.1f ms in all, %.1f us each\n", (double)m->waited_ns / 1e6,
               (double)m->waited_ns / 1e3 / (double)m->major_faults);
    if (m->read_errors || m->write_errors)
        printf("  errors: %" PRIu64 " reading, %" PRIu64 " writing\n", m->read_errors,
               m->write_errors);
}

/* Recall: the part of pages that had to be read that was read ahead. Precision: the part of pages
 * read ahead, and used or evicted since, that was used. */
static void show_prefetching(const struct sys_memory *m)
{
    if (!m->prefetched)
        return;
    printf("  prefetched: %" PRIu64 ", used: %" PRIu64 ", evicted unused: %" PRIu64 "\n",
           m->prefetched, m->prefetched_used, m->wasted);
    printf("  prefetching: %s, level %" PRIu64 "; recall %.1f %%, precision %.1f %%; %" PRIu64
           " wait for their first use\n",
           m->prefetch, m->prefetch_level,
           percent(m->prefetched_used, m->prefetched_used + m->major_faults),
           percent(m->prefetched_used, m->prefetched_used + m->wasted), m->prefetch_unused);
    printf("    used while still being read: %" PRIu64
           "; stopped by the limit on unused pages: %" PRIu64 "\n",
           m->prefetch_late, m->prefetch_stopped);
}

static void show_policy(const struct sys_memory *m)
{
    if (!m->expert[0].name[0])
        return;
    printf("  %s: %s in force, %" PRIu64 " changes; each would have missed:\n   ", m->policy,
           m->in_force, m->switches);
    for (unsigned i = 0; i < EXPERTS && m->expert[i].name[0]; i++)
        printf(" %s %" PRIu64 "%s", m->expert[i].name, m->expert[i].misses,
               strcmp(m->expert[i].name, m->in_force) == 0 ? "*" : "");
    printf("\n");
}

/* Prints cycles of the simulated machine, or microseconds on another one. */
static void show_cost(const struct sys_memory *m)
{
    const char *unit = m->cycles_hz ? "k cycles" : "us";
    double per_ns = m->cycles_hz ? (double)m->cycles_hz / 1e9 : 1;

    printf("    cost: %.0f %s, %.0f %s a record: logging %.0f, what is done with it %.0f",
           (double)m->cost_ns * per_ns / 1e3, unit,
           (double)m->cost_ns * per_ns / (double)m->entries, m->cycles_hz ? "cycles" : "ns",
           (double)m->log_ns * per_ns / 1e3, (double)m->deliver_ns * per_ns / 1e3);
    if (m->ran_ns)
        printf(";\n    %.2f permille of the %.1f ms that watched threads ran",
               10 * percent(m->cost_ns, m->ran_ns), (double)m->ran_ns / 1e6);
    printf("\n");
}

static void show_tracker(const struct sys_memory *m)
{
    if (!m->entries)
        return;
    printf("  tracker: %s, %s, %" PRIu32 " processes in all; ", m->tracker,
           m->watched ? "watches this process" : "does not watch this process", m->spaces);
    if (m->sample_shift)
        printf("logs one page of %u\n", 1u << m->sample_shift);
    else
        printf("logs every page\n");
    printf("    %" PRIu64 " records, %" PRIu64 " lost, %" PRIu64 " interrupts\n", m->entries,
           m->entries_lost, m->interrupts);
    show_cost(m);
}

static void show_division(const struct sys_memory *m)
{
    if (!m->goal[0])
        return;
    printf("  division by %s: %" PRIu64 " KB kept when memory is short, planned %" PRIu64
           ", weight %" PRIu64 "\n",
           m->goal, kilobytes(m->target_bytes), kilobytes(m->planned_bytes), m->weight);
    printf("    as planned it loses %.1f %% of its speed to waiting, %.1f with %" PRIu64
           " KB more, %.1f with as much less\n",
           (double)m->lost_ppm / 1e4, (double)m->lost_more_ppm / 1e4, kilobytes(m->step_bytes),
           (double)m->lost_less_ppm / 1e4);
    printf("    hot: %" PRIu64 " KB are used all the time\n", kilobytes(m->hot_bytes));
}

/* Prints the machine's swap. Lost: slots that could not be written, and are not used again. */
static void show_swap(const struct sys_memory *m)
{
    printf("  swap: %" PRIu64 " of %" PRIu64 " KB free", kilobytes(m->swap_free_bytes),
           kilobytes(m->swap_bytes));
    if (m->swap_bad_bytes)
        printf(", %" PRIu64 " KB lost", kilobytes(m->swap_bad_bytes));
    printf(", %" PRIu64 " reads, %" PRIu64 " writes of the machine\n", m->swap_reads,
           m->swap_writes);
}

void show_memory(const char *program, double ms, const struct sys_memory *m)
{
    printf("memstat: %s, %.1f ms: %" PRIu64 " KB mapped, %" PRIu64 " KB resident, %" PRIu64
           " KB swapped out\n",
           program, ms, kilobytes(m->mapped_bytes), kilobytes(m->resident_bytes),
           kilobytes(m->swapped_bytes));
    printf("  memory: %" PRIu64 " of %" PRIu64 " KB free\n", kilobytes(m->free_bytes),
           kilobytes(m->memory_bytes));
    if (!m->policy[0]) {
        show_tracker(m);
        return;
    }
    printf("  pool: %s, %" PRIu64 " of %" PRIu64 " KB; tracker: %s\n", m->policy,
           kilobytes(m->pool_bytes), kilobytes(m->limit_bytes), m->tracker);
    show_faults(m);
    show_prefetching(m);
    if (m->swap_bytes)
        show_swap(m);
    show_policy(m);
    show_division(m);
    show_tracker(m);
}

/* ---- Pools ----------------------------------------------------------------------------------- */

/* Prints the frames that a process has, those that it keeps when memory is short, and their worth:
 * the speed lost to waiting that its curve predicts. */
static void show_pool(uint32_t pid, const char *name, const struct sys_memory *m)
{
    printf("  %5" PRIu32 " %-12.12s %8" PRIu64 " %8" PRIu64, pid, name, kilobytes(m->pool_bytes),
           kilobytes(m->limit_bytes));
    if (m->goal[0])
        printf(" %8" PRIu64 " %8" PRIu64 " %3" PRIu64 " %6.1f %9.1f %9.1f",
               kilobytes(m->target_bytes), kilobytes(m->planned_bytes), m->weight,
               (double)m->lost_ppm / 1e4, ((double)m->lost_more_ppm - (double)m->lost_ppm) / 1e4,
               ((double)m->lost_less_ppm - (double)m->lost_ppm) / 1e4);
    printf("\n");
}

void show_pools(void)
{
    static struct sys_thread_info thread[THREADS_MAX];
    struct sys_memory m;
    bool begun = false;
    uint32_t before = 0;
    int n = (int)syscall3(SYS_THREADS, 0, thread, sizeof thread);

    for (int i = 0; i < n && i < THREADS_MAX; i++) {
        if (thread[i].pid == before || memory_read((int)thread[i].pid, &m) || !m.policy[0])
            continue;
        before = thread[i].pid;
        if (!begun)
            printf("  pools by %s: KB; speed lost by waiting in %%, and by how much that changes "
                   "with an 8th more or less\n",
                   m.goal[0] ? m.goal : "even parts");
        if (!begun)
            printf("  %5s %-12s %8s %8s%s\n", "pid", "program", "has", "limit",
                   m.goal[0] ? "   target  planned  wt   lost  if more   if less" : "");
        begun = true;
        show_pool(thread[i].pid, thread[i].name, &m);
    }
}

/* ---- Regions --------------------------------------------------------------------------------- */

static const char *rights(uint32_t prot, char out[4])
{
    out[0] = prot & SYS_PROT_READ ? 'r' : '-';
    out[1] = prot & SYS_PROT_WRITE ? 'w' : '-';
    out[2] = prot & SYS_PROT_EXEC ? 'x' : '-';
    out[3] = 0;
    return out;
}

void show_regions(const struct sys_memory_region *region, int count, int room)
{
    static const char *const advice[] = {"", " sequential", " random"};
    char text[4];
    int shown = count < room ? count : room;

    if (!count)
        return;
    printf("  %-15s %12s %9s %9s %9s %9s %9s     %s\n", "region", "at", "KB", "resident", "swapped",
           "faults", "major", "policy");
    for (int i = 0; i < shown; i++) {
        const struct sys_memory_region *r = &region[i];
        printf("  %-15s %12" PRIx64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64
               " %s %s%s\n",
               r->name, r->start, kilobytes(r->bytes), kilobytes(r->resident_bytes),
               kilobytes(r->swapped_bytes), r->faults, r->major_faults, rights(r->prot, text),
               r->policy, r->advice <= SYS_ADVICE_RANDOM ? advice[r->advice] : "");
    }
    if (count > shown)
        printf("  and %d more\n", count - shown);
}
