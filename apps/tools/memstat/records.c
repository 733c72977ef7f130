/*
 * See memstat.h: writes records for programs (measuring/record.h). Leaves out what the machine does
 * not have or do: without a swap disk there is no record `swap`.
 */
#include "apps/tools/memstat/memstat.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

enum {
    EXPERTS = sizeof(((struct sys_memory *)0)->expert) / sizeof(struct sys_expert),
    PAGE = 4096
};

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Begins a record, with the columns that all kinds have: when, and of which process. */
static void begin(const struct memstat_as *as, const char *kind)
{
    record_begin(as->format, "memstat", kind);
    record_real("ms", as->ms, 3);
    record_text("of", as->of);
    record_number_if("process", as->pid != SYS_MEMORY_FILES, as->pid);
}

/* ---- Memory and its pool --------------------------------------------------------------------- */

static void record_pool(const struct memstat_as *as, const struct sys_memory *m)
{
    begin(as, "pool");
    record_text("policy", m->policy);
    record_text_if("in_force", m->in_force);
    record_number_if("changes", m->expert[0].name[0] != '\0', m->switches);
    record_text_if("tracker", m->tracker);
    record_number("pool_bytes", m->pool_bytes);
    record_number_if("limit_bytes", m->limit_bytes != 0, m->limit_bytes);
    record_number("major_faults", m->major_faults);
    record_number("minor_faults", m->minor_faults);
    record_number("first_faults", m->first_faults);
    record_number("frame_waits", m->waits);
    record_number("pages_in", m->page_ins);
    record_number("pages_out", m->page_outs);
    record_number("pages_clean", m->clean_outs);
    record_number("pages_rescued", m->rescued);
    record_number("waited_ns", m->waited_ns);
    record_real_if("waited_each_us", m->major_faults != 0,
                   (double)m->waited_ns / 1e3 / (double)m->major_faults, 3);
    record_number("read_errors", m->read_errors);
    record_number("write_errors", m->write_errors);
    record_end();
}

static void record_prefetching(const struct memstat_as *as, const struct sys_memory *m)
{
    uint64_t needed = m->prefetched_used + m->major_faults, told = m->prefetched_used + m->wasted;

    if (!m->prefetched)
        return;
    begin(as, "prefetching");
    record_text("by", m->prefetch);
    record_number("level", m->prefetch_level);
    record_number("prefetched_pages", m->prefetched);
    record_number("used_pages", m->prefetched_used);
    record_number("wasted_pages", m->wasted);
    record_number("unused_pages", m->prefetch_unused);
    record_real_if("recall_pct", needed != 0, percent(m->prefetched_used, needed), 3);
    record_real_if("precision_pct", told != 0, percent(m->prefetched_used, told), 3);
    record_number("late_pages", m->prefetch_late);
    record_number("stopped", m->prefetch_stopped);
    record_end();
}

static void record_experts(const struct memstat_as *as, const struct sys_memory *m)
{
    for (unsigned i = 0; i < EXPERTS && m->expert[i].name[0]; i++) {
        begin(as, "expert");
        record_text("policy", m->expert[i].name);
        record_number("misses", m->expert[i].misses);
        record_end();
    }
}

/* What memory is lost to waiting is a prediction of the curve, of which no error is known. */
static void record_division(const struct memstat_as *as, const struct sys_memory *m)
{
    bool curve = m->step_bytes != 0;

    if (!m->goal[0])
        return;
    begin(as, "division");
    record_text("by", m->goal);
    record_number_if("kept_bytes", m->target_bytes != 0, m->target_bytes);
    record_number("planned_bytes", m->planned_bytes);
    record_number("weight", m->weight);
    record_number("hot_bytes", m->hot_bytes);
    record_number_if("step_bytes", curve, m->step_bytes);
    record_real_if("lost_pct", curve, (double)m->lost_ppm / 1e4, 4);
    record_real_if("more_lost_pct", curve, (double)m->lost_more_ppm / 1e4, 4);
    record_real_if("less_lost_pct", curve, (double)m->lost_less_ppm / 1e4, 4);
    record_end();
}

static void record_tracker(const struct memstat_as *as, const struct sys_memory *m)
{
    double per_ns = (double)m->cycles_hz / 1e9;
    bool cycles = m->cycles_hz != 0;

    if (!m->entries)
        return;
    begin(as, "tracker");
    record_text("name", m->tracker);
    record_number("watched", m->watched);
    record_number("processes", m->spaces);
    record_number("one_page_of", 1ull << m->sample_shift);
    record_number("records", m->entries);
    record_number("records_lost", m->entries_lost);
    record_number("interrupts", m->interrupts);
    record_number("cost_ns", m->cost_ns);
    record_number("logging_ns", m->log_ns);
    record_number("using_ns", m->deliver_ns);
    record_real_if("cost_cycles", cycles, (double)m->cost_ns * per_ns, 0);
    record_real_if("logging_cycles", cycles, (double)m->log_ns * per_ns, 0);
    record_real_if("using_cycles", cycles, (double)m->deliver_ns * per_ns, 0);
    record_number_if("ran_ns", m->ran_ns != 0, m->ran_ns);
    record_real_if("cost_permille", m->ran_ns != 0, 10 * percent(m->cost_ns, m->ran_ns), 3);
    record_end();
}

static void record_swap(const struct memstat_as *as, const struct sys_memory *m)
{
    if (!m->swap_bytes)
        return;
    begin(as, "swap");
    record_number("swap_bytes", m->swap_bytes);
    record_number("free_bytes", m->swap_free_bytes);
    record_number("lost_bytes", m->swap_bad_bytes);
    record_number("reads", m->swap_reads);
    record_number("writes", m->swap_writes);
    record_end();
}

void record_memory(const struct memstat_as *as, const struct sys_memory *m)
{
    bool files = as->pid == SYS_MEMORY_FILES;

    begin(as, "memory");
    record_number_if("mapped_bytes", !files, m->mapped_bytes);
    record_number("resident_bytes", m->resident_bytes);
    record_number_if("swapped_bytes", !files, m->swapped_bytes);
    record_number("machine_bytes", m->memory_bytes);
    record_number("machine_free_bytes", m->free_bytes);
    record_end();
    if (m->policy[0]) {
        record_pool(as, m);
        record_prefetching(as, m);
        record_experts(as, m);
        record_division(as, m);
    }
    if (!files) {
        record_swap(as, m);
        record_tracker(as, m);
    }
}

/* ---- Regions, curves, other processes -------------------------------------------------------- */

void record_regions(const struct memstat_as *as, const struct sys_memory_region *region, int count,
                    int room)
{
    static const char *const advice[] = {"none", "sequential", "random"};
    char text[24];

    for (int i = 0; i < count && i < room; i++) {
        const struct sys_memory_region *r = &region[i];
        begin(as, "region");
        record_text("region", r->name);
        snprintf(text, sizeof text, "0x%" PRIx64, r->start);
        record_text("start", text);
        record_number("region_bytes", r->bytes);
        record_number("resident_bytes", r->resident_bytes);
        record_number("swapped_bytes", r->swapped_bytes);
        record_number("faults", r->faults);
        record_number("major_faults", r->major_faults);
        record_text("access", memstat_rights(r->prot, text));
        record_text_if("policy", r->policy);
        record_text_if("advice", r->advice <= SYS_ADVICE_RANDOM ? advice[r->advice] : NULL);
        record_number("regions", (uint64_t)count);
        record_end();
    }
}

/* Where one page of several was watched it is an estimate, of which no error is known. */
void record_curve(const struct memstat_as *as, const struct sys_curve *c)
{
    uint64_t again = c->accesses - (c->first_uses < c->accesses ? c->first_uses : c->accesses);

    for (unsigned i = 0; i < c->points; i++) {
        begin(as, "curve");
        record_number("memory_bytes", c->pages * (i + 1) / c->points * PAGE);
        record_number("lru_misses", c->lru[i]);
        record_real_if("lru_pct", again != 0, percent(c->lru[i], again), 3);
        record_number_if("mru_misses", c->has_mru, c->mru[i]);
        record_real_if("mru_pct", c->has_mru && again, percent(c->mru[i], again), 3);
        record_number("accesses_again", again);
        record_number("pages", c->pages);
        record_number("one_page_of", 1ull << c->sample_shift);
        record_number("epoch_ms", c->epoch_ms);
        record_number("epochs", c->epochs);
        record_end();
    }
}

void record_process(const struct memstat_as *as, uint32_t pid, const char *name,
                    const struct sys_memory *m)
{
    bool divided = m->goal[0] != '\0', curve = divided && m->step_bytes;
    double lost = (double)m->lost_ppm / 1e4;

    record_begin(as->format, "memstat", "process");
    record_real("ms", as->ms, 3);
    record_number_if("process", pid != 0, pid);
    record_text("of", name);
    record_number("pool_bytes", m->pool_bytes);
    record_number_if("limit_bytes", m->limit_bytes != 0, m->limit_bytes);
    record_text_if("by", m->goal);
    record_number_if("kept_bytes", divided && m->target_bytes, m->target_bytes);
    record_number_if("planned_bytes", divided, m->planned_bytes);
    record_number_if("weight", divided, m->weight);
    record_real_if("lost_pct", curve, lost, 4);
    record_real_if("more_change_pct", curve, (double)m->lost_more_ppm / 1e4 - lost, 4);
    record_real_if("less_change_pct", curve, (double)m->lost_less_ppm / 1e4 - lost, 4);
    record_end();
}
