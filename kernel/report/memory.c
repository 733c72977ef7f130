#include "kernel/report/report.h"
#include "kernel/core/printf.h"
#include "kernel/proc/process.h"
#include "kernel/trace/record.h"
#include "mm/mm.h"
#include "mm/track/track.h"

#define SEEN_MAX 64

/* What was recorded last of a process. A process for which no entry is free is not recorded. */
static struct seen {
    uint32_t pid; /* 0: free */
    uint32_t level;
    uint64_t switches, mru_regions, epochs;
    const char *policy;
} seen[SEEN_MAX]; /* of the thread of stream.c only */

static struct seen *seen_of(uint32_t pid)
{
    for (unsigned i = 0; i < SEEN_MAX; i++)
        if (seen[i].pid == pid)
            return &seen[i];
    return NULL;
}

/* Frees the entries of processes that have ended. */
static void free_seen(void)
{
    struct space_stats m;

    for (unsigned i = 0; i < SEEN_MAX; i++)
        if (seen[i].pid && !process_memory(seen[i].pid, &m))
            seen[i] = (struct seen){0};
}

static struct seen *begin_seen(uint32_t pid)
{
    struct seen *s = seen_of(pid);

    if (s || (s = seen_of(0)))
        s->pid = pid;
    return s;
}

static uint64_t us(uint64_t ticks)
{
    uint64_t hz = arch_ticks_hz();

    return ticks / hz * 1000000 + ticks % hz * 1000000 / hz;
}

static void put_counts(uint32_t pid, const struct space_stats *m)
{
    const struct pool_stats *p = &m->pool;

    telemetry_put(TRACE_MEMORY,
                  (const uint64_t[]){pid, m->resident_pages, m->out_pages, m->pool_pages,
                                     m->limit_pages, m->division.target, p->first_faults,
                                     p->minor_faults, p->major_faults, p->waited_ns / 1000,
                                     p->page_ins, p->page_outs, p->clean_outs, p->prefetched,
                                     p->prefetched_used, p->wasted});
}

static void put_policy(uint32_t pid, const char *region, const char *policy, uint64_t changes)
{
    telemetry_put(TRACE_MEMORY_POLICY,
                  (const uint64_t[]){pid, ctf_text(region), ctf_text(policy), changes});
}

/* Puts the policies of a pool's regions that have changed. */
static void put_regions(uint32_t pid, const struct replace_report *r, uint64_t changed)
{
    char name[REGION_NAME_MAX];

    for (unsigned tag = 0; tag < REPLACE_REGIONS_MAX; tag++)
        if (changed >> tag & 1 && process_region_name(pid, tag, name))
            put_policy(pid, name, r->mru_regions >> tag & 1 ? replace_mru.name : r->policy,
                       r->switches);
}

static void put_changes(uint32_t pid, const struct space_stats *m, struct seen *s)
{
    const struct replace_report *r = &m->replace;

    if (s->policy != r->policy)
        put_policy(pid, "", r->policy, r->switches);
    put_regions(pid, r, r->mru_regions ^ s->mru_regions);
    if (!s->policy || s->level != m->prefetch.level)
        telemetry_put(TRACE_MEMORY_PREFETCH,
                      (const uint64_t[]){pid, ctf_text(m->prefetch.policy), m->prefetch.level});
    s->policy = r->policy;
    s->mru_regions = r->mru_regions;
    s->level = m->prefetch.level;
}

static NOINLINE void put_curve(uint32_t pid, struct seen *s)
{
    uint64_t values[6 + 2 * TRACK_CURVE_POINTS];
    struct track_curve c;

    if (!process_curve(pid, &c) || !c.epochs || c.epochs == s->epochs)
        return;
    s->epochs = c.epochs;
    values[0] = pid;
    values[1] = c.epochs;
    values[2] = c.pages;
    values[3] = c.accesses;
    values[4] = c.cold;
    values[5] = c.has_mru;
    memcpy(values + 6, c.lru, sizeof(c.lru));
    memcpy(values + 6 + TRACK_CURVE_POINTS, c.mru, sizeof(c.mru));
    telemetry_put(TRACE_MEMORY_CURVE, values);
}

static void put_process(uint32_t pid)
{
    struct space_stats m;
    struct seen *s;

    if (!process_memory(pid, &m) || !(s = begin_seen(pid)))
        return;
    if (m.policy) {
        put_counts(pid, &m);
        put_changes(pid, &m, s);
    }
    put_curve(pid, s);
}

static void put_tracker(void)
{
    struct track_account a;

    track_read_account(&a);
    if (a.entries)
        telemetry_put(TRACE_TRACKER, (const uint64_t[]){a.watched, a.entries, a.lost, a.interrupts,
                                                        us(a.cost_ticks), us(a.ran_ticks)});
}

void memory_record(uint64_t *next_ns)
{
    uint64_t now_ns = arch_clock_ns();
    uint32_t pid = 0;

    if (!telemetry_wants(TELEMETRY_MEMORY)) {
        *next_ns = UINT64_MAX;
        return;
    }
    if (now_ns < *next_ns)
        return;
    *next_ns = MAX(*next_ns + telemetry_ms * NS_PER_MS, now_ns);
    free_seen();
    for (struct process *p; (p = process_after(pid)); process_put(p)) {
        pid = process_pid(p);
        put_process(pid);
    }
    put_tracker();
}

void memory_report_files(void)
{
    struct space_stats m;

    if (!space_stats_of_files(&m) || !m.policy)
        return;
    kprintf("files: event=end policy=%s pages=%llu first_faults=%llu major_faults=%llu "
            "page_ins=%llu page_outs=%llu clean_outs=%llu prefetched=%llu wasted=%llu\n",
            m.policy, (unsigned long long)m.resident_pages, (unsigned long long)m.pool.first_faults,
            (unsigned long long)m.pool.major_faults, (unsigned long long)m.pool.page_ins,
            (unsigned long long)m.pool.page_outs, (unsigned long long)m.pool.clean_outs,
            (unsigned long long)m.pool.prefetched, (unsigned long long)m.pool.wasted);
}
