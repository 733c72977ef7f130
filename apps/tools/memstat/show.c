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
    printf("  faults: major=%" PRIu64 " minor=%" PRIu64 " first=%" PRIu64 " waits=%" PRIu64
           ": waits for a frame\n",
           m->major_faults, m->minor_faults, m->first_faults, m->waits);
    printf("  pages: in=%" PRIu64 " out=%" PRIu64 " clean=%" PRIu64 " rescued=%" PRIu64
           ": clean ones left without being written\n",
           m->page_ins, m->page_outs, m->clean_outs, m->rescued);
    if (m->major_faults)
        printf("  waiting: ms=%.1f each_us=%.1f: for pages to be read\n",
               (double)m->waited_ns / 1e6, (double)m->waited_ns / 1e3 / (double)m->major_faults);
    if (m->read_errors || m->write_errors)
        printf("  errors: reading=%" PRIu64 " writing=%" PRIu64 "\n", m->read_errors,
               m->write_errors);
}

/* Recall: the part of pages that had to be read that was read ahead. Precision: the part of pages
 * read ahead, and used or evicted since, that was used. */
static void show_prefetching(const struct sys_memory *m)
{
    if (!m->prefetched)
        return;
    printf("  prefetched: pages=%" PRIu64 " used=%" PRIu64 " wasted=%" PRIu64 " unused=%" PRIu64
           ": wasted were evicted unused, unused are resident\n",
           m->prefetched, m->prefetched_used, m->wasted, m->prefetch_unused);
    printf("  prefetching: by=%s level=%" PRIu64 " recall_pct=%.1f precision_pct=%.1f late=%" PRIu64
           " stopped=%" PRIu64
           ": late were used while being read, stopped by the limit on unused\n",
           m->prefetch, m->prefetch_level,
           percent(m->prefetched_used, m->prefetched_used + m->major_faults),
           percent(m->prefetched_used, m->prefetched_used + m->wasted), m->prefetch_late,
           m->prefetch_stopped);
}

static void show_policy(const struct sys_memory *m)
{
    if (!m->expert[0].name[0])
        return;
    printf("  policy: name=%s in_force=%s changes=%" PRIu64 "\n", m->policy, m->in_force,
           m->switches);
    printf("  experts:");
    for (unsigned i = 0; i < EXPERTS && m->expert[i].name[0]; i++)
        printf(" %s=%" PRIu64, m->expert[i].name, m->expert[i].misses);
    printf(": misses that each would have had\n");
}

/* Prints cycles of the simulated machine, or nanoseconds on another one. */
static void show_cost(const struct sys_memory *m)
{
    double per_ns = m->cycles_hz ? (double)m->cycles_hz / 1e9 : 1;

    printf("  tracking: unit=%s cost=%.0f per_record=%.0f logging=%.0f using=%.0f",
           m->cycles_hz ? "cycles" : "ns", (double)m->cost_ns * per_ns,
           (double)m->cost_ns * per_ns / (double)m->entries, (double)m->log_ns * per_ns,
           (double)m->deliver_ns * per_ns);
    if (m->ran_ns)
        printf(" permille=%.2f ran_ms=%.1f: of the time that watched threads ran",
               10 * percent(m->cost_ns, m->ran_ns), (double)m->ran_ns / 1e6);
    printf("\n");
}

static void show_tracker(const struct sys_memory *m)
{
    if (!m->entries)
        return;
    printf("  tracker: name=%s watches=%s processes=%" PRIu32 " one_page_of=%u records=%" PRIu64
           " lost=%" PRIu64 " interrupts=%" PRIu64 ": watches this process, and processes in all\n",
           m->tracker, m->watched ? "yes" : "no", m->spaces, 1u << m->sample_shift, m->entries,
           m->entries_lost, m->interrupts);
    show_cost(m);
}

static void show_division(const struct sys_memory *m)
{
    if (!m->goal[0])
        return;
    printf("  division: by=%s kept_kb=%" PRIu64 " planned_kb=%" PRIu64 " weight=%" PRIu64
           " hot_kb=%" PRIu64 ": kept when memory is short, hot are used all the time\n",
           m->goal, kilobytes(m->target_bytes), kilobytes(m->planned_bytes), m->weight,
           kilobytes(m->hot_bytes));
    printf("  speed: lost_pct=%.1f step_kb=%" PRIu64 " more_lost_pct=%.1f less_lost_pct=%.1f: lost "
           "to waiting as planned, and with a step more or less\n",
           (double)m->lost_ppm / 1e4, kilobytes(m->step_bytes), (double)m->lost_more_ppm / 1e4,
           (double)m->lost_less_ppm / 1e4);
}

/* Prints the machine's swap. Lost: slots that could not be written, and are not used again. */
static void show_swap(const struct sys_memory *m)
{
    printf("  swap: kb=%" PRIu64 " free_kb=%" PRIu64 " lost_kb=%" PRIu64 " reads=%" PRIu64
           " writes=%" PRIu64 ": of the machine\n",
           kilobytes(m->swap_bytes), kilobytes(m->swap_free_bytes), kilobytes(m->swap_bad_bytes),
           m->swap_reads, m->swap_writes);
}

/* Prints what pools of processes and that of files have in common. */
static void show_one_pool(const struct sys_memory *m)
{
    printf("  pool: policy=%s kb=%" PRIu64 " limit_kb=%" PRIu64 " tracker=%s\n", m->policy,
           kilobytes(m->pool_bytes), kilobytes(m->limit_bytes), m->tracker);
    show_faults(m);
    show_prefetching(m);
}

void show_files(void)
{
    struct sys_memory m;
    struct sys_curve c;

    if (memory_read(SYS_MEMORY_FILES, &m) || !m.policy[0])
        return;
    printf("memstat: of=files resident_kb=%" PRIu64 ": of all processes\n",
           kilobytes(m.resident_bytes));
    show_one_pool(&m);
    show_policy(&m);
    show_division(&m);
    if (!memory_curve(SYS_MEMORY_FILES, &c) && c.epochs)
        show_curve(&c, &m);
}

void show_memory(const char *program, double ms, const struct sys_memory *m)
{
    printf("memstat: of=%s ms=%.1f mapped_kb=%" PRIu64 " resident_kb=%" PRIu64
           " swapped_kb=%" PRIu64 "\n",
           program, ms, kilobytes(m->mapped_bytes), kilobytes(m->resident_bytes),
           kilobytes(m->swapped_bytes));
    printf("  memory: kb=%" PRIu64 " free_kb=%" PRIu64 ": of the machine\n",
           kilobytes(m->memory_bytes), kilobytes(m->free_bytes));
    if (!m->policy[0]) {
        show_tracker(m);
        return;
    }
    show_one_pool(m);
    if (m->swap_bytes)
        show_swap(m);
    show_policy(m);
    show_division(m);
    show_tracker(m);
}

/* ---- Pools ----------------------------------------------------------------------------------- */

/* Prints the frames that a process has, those that it keeps when memory is short, and their worth:
 * the speed lost to waiting that its curve predicts. */
static void show_pool(const struct memstat_as *as, uint32_t pid, const char *name,
                      const struct sys_memory *m)
{
    if (as) {
        record_process(as, pid, name, m);
        return;
    }
    printf("  %5" PRIu32 "  %-12.12s  %8" PRIu64 "  %8" PRIu64, pid, name, kilobytes(m->pool_bytes),
           kilobytes(m->limit_bytes));
    if (m->goal[0])
        printf("  %8" PRIu64 "  %8" PRIu64 "  %6" PRIu64 "  %6.1f  %7.1f  %7.1f",
               kilobytes(m->target_bytes), kilobytes(m->planned_bytes), m->weight,
               (double)m->lost_ppm / 1e4, ((double)m->lost_more_ppm - (double)m->lost_ppm) / 1e4,
               ((double)m->lost_less_ppm - (double)m->lost_ppm) / 1e4);
    printf("\n");
}

void show_pools(const struct memstat_as *as)
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
        if (!begun && !as)
            printf("  pools: by=%s: KB; speed lost to waiting in %%, and by how much that changes "
                   "with an 8th more or less\n  %5s  %-12s  %8s  %8s%s\n",
                   m.goal[0] ? m.goal : "even", "pid", "program", "has", "limit",
                   m.goal[0] ? "    target   planned  weight    lost  if more  if less" : "");
        begun = true;
        show_pool(as, thread[i].pid, thread[i].name, &m);
    }
    if (begun && !memory_read(SYS_MEMORY_FILES, &m) && m.policy[0])
        show_pool(as, 0, "files", &m);
}

/* ---- Regions --------------------------------------------------------------------------------- */

const char *memstat_rights(uint32_t prot, char out[4])
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
    printf("  regions: count=%d\n  %-15s  %12s  %8s  %8s  %8s  %8s  %8s  %-6s  %s\n", count,
           "region", "at", "KB", "resident", "swapped", "faults", "major", "access", "policy");
    for (int i = 0; i < shown; i++) {
        const struct sys_memory_region *r = &region[i];
        printf("  %-15s  %12" PRIx64 "  %8" PRIu64 "  %8" PRIu64 "  %8" PRIu64 "  %8" PRIu64
               "  %8" PRIu64 "  %-6s  %s%s\n",
               r->name, r->start, kilobytes(r->bytes), kilobytes(r->resident_bytes),
               kilobytes(r->swapped_bytes), r->faults, r->major_faults,
               memstat_rights(r->prot, text), r->policy,
               r->advice <= SYS_ADVICE_RANDOM ? advice[r->advice] : "");
    }
    if (count > shown)
        printf("  and %d more\n", count - shown);
}
