/* See memstat.h: miss-rate curves. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include "apps/tools/memstat/memstat.h"

enum { BAR = 24, PAGE = 4096 };

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void bar(double pct)
{
    int full = (int)(pct * BAR / 100 + 0.5);

    printf("  |");
    for (int i = 0; i < BAR; i++)
        putchar(i < full ? '#' : ' ');
    putchar('|');
}

static uint64_t memory_at(const struct sys_curve *c, unsigned i)
{
    return c->pages * (i + 1) / c->points * PAGE;
}

/* Prints the share of misses with this memory, as numbers and as bars. */
static void show_point(const struct sys_curve *c, unsigned i, uint64_t again, const char *mark)
{
    double lru = percent(c->lru[i], again), mru = percent(c->mru[i], again);

    printf("  %9" PRIu64 "  %5.1f", memory_at(c, i) / 1024, lru);
    if (c->has_mru)
        printf("  %5.1f", mru);
    bar(lru);
    if (c->has_mru)
        bar(mru);
    printf("%s\n", mark);
}

/* First uses miss with any memory, and are left out of misses and accesses. */
void show_curve(const struct sys_curve *c, const struct sys_memory *m)
{
    uint64_t again = c->accesses - (c->first_uses < c->accesses ? c->first_uses : c->accesses);
    bool marked = !m->limit_bytes;

    printf("  curve: pages=%" PRIu64 " again=%" PRIu64 " epoch_ms=%" PRIu64 " epochs=%" PRIu64
           " sampled=%s: misses by memory, in %% of the accesses to pages used before\n",
           c->pages, again, c->epoch_ms, c->epochs, c->sample_shift ? "yes" : "no");
    if (!again)
        return;
    printf("  %9s  %5s%s\n", "KB", "LRU", c->has_mru ? "    MRU" : "");
    for (unsigned i = 0; i < c->points; i++) {
        bool limit = !marked && memory_at(c, i) >= m->limit_bytes;
        marked |= limit;
        show_point(c, i, again, limit ? "  limit" : "");
    }
}

static void put_points(const char *name, const struct sys_curve *c, const uint64_t *misses)
{
    printf(" %s=", name);
    for (unsigned i = 0; i < c->points; i++)
        printf("%s%" PRIu64, i ? "," : "", misses[i]);
}

void show_series(const char *program, int pid, double ms, const struct sys_memory *m,
                 const struct sys_curve *c)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("MEMORY program=%s pid=%d ms=%.1f clock_ms=%.1f resident_kb=%" PRIu64 " pool_kb=%" PRIu64
           " limit_kb=%" PRIu64 " major=%" PRIu64 " minor=%" PRIu64 " first=%" PRIu64 " in=%" PRIu64
           " out=%" PRIu64 " prefetched=%" PRIu64 " used=%" PRIu64 " wasted=%" PRIu64
           " waited_us=%" PRIu64 " own_major=%" PRIu64 " own_waited_us=%" PRIu64 " entries=%" PRIu64
           " lost=%" PRIu64 "\n",
           program, pid, ms, (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6,
           m->resident_bytes / 1024, m->pool_bytes / 1024, m->limit_bytes / 1024, m->major_faults,
           m->minor_faults, m->first_faults, m->page_ins, m->page_outs, m->prefetched,
           m->prefetched_used, m->wasted, m->waited_ns / 1000, m->own_major_faults,
           m->own_waited_ns / 1000, m->entries, m->entries_lost);
    if (!c || !c->epochs)
        return;
    printf("MRC program=%s pid=%d ms=%.1f pages=%" PRIu64 " accesses=%" PRIu64 " first=%" PRIu64
           " limit_kb=%" PRIu64,
           program, pid, ms, c->pages, c->accesses, c->first_uses, m->limit_bytes / 1024);
    put_points("lru", c, c->lru);
    if (c->has_mru)
        put_points("mru", c, c->mru);
    printf("\n");
}
