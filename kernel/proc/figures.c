/* See figures.h. */
#include "kernel/mem/mem.h"
#include "kernel/proc/figures.h"
#include "kernel/core/printf.h"
#include "kernel/dev/model/machine_find.h"
#include "mm/pool/swap.h"
#include "mm/track/track.h"

_Static_assert(SYS_CURVE_POINTS == TRACK_CURVE_POINTS, "a curve is handed on as it is");

static void put_curve(const struct track_curve *curve, struct sys_curve *out)
{
    *out = (struct sys_curve){
        .pages = curve->pages,
        .accesses = curve->accesses,
        .first_uses = curve->cold,
        .epochs = curve->epochs,
        .epoch_ms = curve->epoch_ms,
        .sample_shift = curve->shift,
        .points = SYS_CURVE_POINTS,
        .has_mru = curve->has_mru,
    };
    memcpy(out->lru, curve->lru, sizeof(out->lru));
    memcpy(out->mru, curve->mru, sizeof(out->mru));
}

/* Reads a curve; one of 0 points if there is none. */
static NOINLINE void curve_of(struct space *s, bool last, struct sys_curve *out)
{
    struct track_curve curve;

    *out = (struct sys_curve){0};
    if (track_read_curve(s, last, &curve))
        put_curve(&curve, out);
}

void process_remember(struct process *p)
{
    struct space_stats stats;
    struct sys_curve curve;

    space_stats(p->space, &stats);
    curve_of(p->space, true, &curve);
    bool irq = spin_lock(&p->lock);
    p->memory = stats;
    p->curve = curve;
    spin_unlock(&p->lock, irq);
}

static void copy_name(char out[16], const char *text)
{
    ksnprintf(out, 16, "%s", text ? text : "");
}

static void put_policies(const struct space_stats *s, struct sys_memory *out)
{
    const struct replace_report *r = &s->replace;
    const struct pool_prefetch *ahead = &s->prefetch;

    copy_name(out->policy, s->policy);
    copy_name(out->in_force, r->policy);
    out->switches = r->switches;
    out->remembered = r->history;
    for (unsigned i = 0; i < MIN(r->experts, (unsigned)ARRAY_SIZE(out->expert)); i++) {
        copy_name(out->expert[i].name, r->expert[i].policy);
        out->expert[i].misses = r->expert[i].misses;
    }
    copy_name(out->prefetch, ahead->policy);
    out->prefetch_level = ahead->level;
    out->prefetch_unused = ahead->unused;
    out->prefetch_late = ahead->late;
    out->prefetch_stopped = ahead->stopped;
}

static void put_division(const struct pool_division *d, struct sys_memory *out)
{
    copy_name(out->goal, d->goal);
    out->target_bytes = (uint64_t)d->target * PAGE_SIZE;
    out->planned_bytes = (uint64_t)d->planned * PAGE_SIZE;
    out->weight = d->weight;
    out->step_bytes = (uint64_t)d->step * PAGE_SIZE;
    out->hot_bytes = (uint64_t)d->hot * PAGE_SIZE;
    out->lost_ppm = d->lost;
    out->lost_more_ppm = d->lost_more;
    out->lost_less_ppm = d->lost_less;
}

static void put_process(const struct space_stats *s, struct sys_memory *out)
{
    const struct pool_stats *pool = &s->pool;

    out->mapped_bytes = s->mapped_pages * PAGE_SIZE;
    out->resident_bytes = s->resident_pages * PAGE_SIZE;
    out->swapped_bytes = s->out_pages * PAGE_SIZE;
    out->limit_bytes = s->limit_pages * PAGE_SIZE;
    out->room_bytes = s->room_pages * PAGE_SIZE;
    out->own_major_faults = s->waits;
    out->own_waited_ns = s->waited_ns;
    out->pool_bytes = s->pool_pages * PAGE_SIZE;
    out->faults = s->faults;
    out->first_faults = pool->first_faults;
    out->minor_faults = pool->minor_faults;
    out->major_faults = pool->major_faults;
    out->page_ins = pool->page_ins;
    out->page_outs = pool->page_outs;
    out->clean_outs = pool->clean_outs;
    out->prefetched = pool->prefetched;
    out->prefetched_used = pool->prefetched_used;
    out->wasted = pool->wasted;
    out->rescued = pool->rescued;
    out->waits = pool->waits_for_room;
    out->read_errors = pool->read_errors;
    out->write_errors = pool->write_errors;
    out->waited_ns = pool->waited_ns;
    out->watched = s->watched;
    put_policies(s, out);
    put_division(&s->division, out);
}

static uint64_t span_ns(uint64_t ticks)
{
    uint64_t hz = arch_ticks_hz();

    return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

static void put_tracker(struct sys_memory *out)
{
    struct track_account a;

    track_read_account(&a);
    copy_name(out->tracker, a.tracker);
    out->cycles_hz = machine_id() ? machine_id()->cycles_hz : 0;
    out->spaces = a.watched;
    out->sample_shift = a.sample_shift;
    out->entries = a.entries;
    out->entries_lost = a.lost;
    out->interrupts = a.interrupts;
    out->log_ns = span_ns(a.log_ticks);
    out->deliver_ns = span_ns(a.deliver_ticks);
    out->cost_ns = span_ns(a.cost_ticks);
    out->ran_ns = span_ns(a.ran_ticks);
}

static void put_machine(struct sys_memory *out)
{
    struct frame_stats frames;
    struct swap_stats swap;

    frame_stats(&frames);
    swap_stats(&swap);
    out->memory_bytes = frames.total_pages * PAGE_SIZE;
    out->free_bytes = frames.free_pages * PAGE_SIZE;
    out->swap_bytes = swap.slots * PAGE_SIZE;
    out->swap_free_bytes = swap.free_slots * PAGE_SIZE;
    out->swap_bad_bytes = swap.bad_slots * PAGE_SIZE;
    out->swap_reads = swap.reads;
    out->swap_writes = swap.writes;
    put_tracker(out);
}

static void read_ended(struct process *p, struct space_stats *out)
{
    bool irq = spin_lock(&p->lock);

    *out = p->memory;
    spin_unlock(&p->lock, irq);
}

int process_memory_for(struct process *reader, uint32_t pid, struct sys_memory *out)
{
    bool files = pid == SYS_MEMORY_FILES;
    struct process *p = files ? NULL : process_look_for(reader, pid), *ended;
    struct space_stats stats;

    *out = (struct sys_memory){0};
    if (files) {
        if (!space_stats_of_files(&stats))
            return -ENOENT;
    } else if (p) {
        space_stats(p->space, &stats);
        process_look_end(p);
    } else if ((ended = proctree_child(reader, pid))) {
        read_ended(ended, &stats);
        process_put(ended);
        out->ended = 1;
    } else {
        return -ESRCH;
    }
    put_process(&stats, out);
    put_machine(out);
    return 0;
}

int process_curve_for(struct process *reader, uint32_t pid, struct sys_curve *out)
{
    bool files = pid == SYS_MEMORY_FILES;
    struct process *p = files ? NULL : process_look_for(reader, pid), *ended;
    struct track_curve curve;

    *out = (struct sys_curve){0};
    if (files) {
        if (track_read_curve_of_files(&curve))
            put_curve(&curve, out);
    } else if (p) {
        curve_of(p->space, false, out);
        process_look_end(p);
    } else if ((ended = proctree_child(reader, pid))) {
        bool irq = spin_lock(&ended->lock);
        *out = ended->curve;
        spin_unlock(&ended->lock, irq);
        process_put(ended);
    } else {
        return -ESRCH;
    }
    return out->points ? 0 : -ENOENT;
}

bool process_memory(uint32_t pid, struct space_stats *out)
{
    struct process *p = process_look(pid);

    if (!p)
        return false;
    space_stats(p->space, out);
    process_look_end(p);
    return true;
}

bool process_curve(uint32_t pid, struct track_curve *out)
{
    struct process *p = process_look(pid);
    bool is = p && track_read_curve(p->space, false, out);

    if (p)
        process_look_end(p);
    return is;
}

bool process_region_name(uint32_t pid, unsigned tag, char *name)
{
    struct process *p = process_look(pid);
    bool is = p && space_region_name(p->space, tag, name);

    if (p)
        process_look_end(p);
    return is;
}

static unsigned prot_bits(unsigned prot)
{
    return (prot & PROT_R ? SYS_PROT_READ : 0) | (prot & PROT_W ? SYS_PROT_WRITE : 0) |
           (prot & PROT_X ? SYS_PROT_EXEC : 0);
}

bool process_next_region(uint32_t pid, vaddr_t from, struct sys_memory_region *out)
{
    struct process *p = process_look(pid);
    struct region_stats r;
    bool is = p && space_next_region(p->space, from, &r);

    if (p)
        process_look_end(p);
    if (!is)
        return false;
    *out = (struct sys_memory_region){
        .start = r.start,
        .bytes = r.end - r.start,
        .resident_bytes = r.resident_pages * PAGE_SIZE,
        .swapped_bytes = r.out_pages * PAGE_SIZE,
        .faults = r.faults,
        .major_faults = r.slow_faults,
        .prot = prot_bits(r.prot),
        .advice = r.advice,
    };
    memcpy(out->name, r.name, sizeof(out->name));
    copy_name(out->policy, r.policy);
    return true;
}
