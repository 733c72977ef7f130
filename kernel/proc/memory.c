/* See memory.h. */
#include "kernel/proc/memory.h"
#include "kernel/proc/user.h"
#include "kernel/printf.h"
#include "mm/swap.h"
#include "mm/track.h"

void memory_remember(struct process *p)
{
    struct space_stats stats;

    space_stats(p->space, &stats);
    bool irq = spin_lock(&p->lock);
    p->memory = stats;
    spin_unlock(&p->lock, irq);
}

static void put_process(const struct space_stats *s, struct sys_memory *out)
{
    const struct pool_stats *pool = &s->pool;

    out->mapped_bytes = s->mapped_pages * PAGE_SIZE;
    out->resident_bytes = s->resident_pages * PAGE_SIZE;
    out->swapped_bytes = s->out_pages * PAGE_SIZE;
    out->limit_bytes = s->limit_pages * PAGE_SIZE;
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
    ksnprintf(out->policy, sizeof(out->policy), "%s", s->policy ? s->policy : "");
}

static void put_machine(struct sys_memory *out)
{
    struct track_account tracker;
    struct frame_stats frames;
    struct swap_stats swap;

    frame_stats(&frames);
    swap_stats(&swap);
    track_read_account(&tracker);
    out->memory_bytes = frames.total_pages * PAGE_SIZE;
    out->free_bytes = frames.free_pages * PAGE_SIZE;
    out->swap_bytes = swap.slots * PAGE_SIZE;
    out->swap_free_bytes = swap.free_slots * PAGE_SIZE;
    out->swap_bad_bytes = swap.bad_slots * PAGE_SIZE;
    out->swap_reads = swap.reads;
    out->swap_writes = swap.writes;
    ksnprintf(out->tracker, sizeof(out->tracker), "%s", tracker.tracker);
}

static void read_ended(struct process *p, struct space_stats *out)
{
    bool irq = spin_lock(&p->lock);

    *out = p->memory;
    spin_unlock(&p->lock, irq);
}

static int memory_read(struct process *reader, uint32_t pid, struct sys_memory *out)
{
    struct process *p = process_look(pid), *ended;
    struct space_stats stats;

    *out = (struct sys_memory){0};
    if (p) {
        space_stats(p->space, &stats);
        process_look_end(p);
    } else if ((ended = children_find(reader, pid))) {
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

static unsigned prot_bits(unsigned prot)
{
    return (prot & PROT_R ? SYS_PROT_READ : 0) | (prot & PROT_W ? SYS_PROT_WRITE : 0) |
           (prot & PROT_X ? SYS_PROT_EXEC : 0);
}

/* One by one: the process may not be held while user memory is written to. */
static bool next_region(uint32_t pid, vaddr_t from, struct sys_memory_region *out)
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
    return true;
}

static int64_t memory_regions(struct process *reader, uint32_t pid, vaddr_t at, size_t room)
{
    struct sys_memory_region region;
    struct sys_memory exists;
    vaddr_t from = 0;
    int64_t n = 0;

    if (memory_read(reader, pid, &exists))
        return -ESRCH;
    for (; next_region(pid, from, &region); n++, from = region.start + region.bytes) {
        if ((size_t)n < room && arch_copy_to_user(at + (uint64_t)n * sizeof(region), &region, sizeof(region)))
            return -EFAULT;
        sched_point();
    }
    return n;
}

/* ---- The calls ---- */

int64_t sys_madvise(struct process *p, const uint64_t a[6])
{
    static const enum region_advice advice[] = {
        [SYS_ADVICE_NORMAL] = ADVICE_NORMAL,     [SYS_ADVICE_SEQUENTIAL] = ADVICE_SEQUENTIAL,
        [SYS_ADVICE_RANDOM] = ADVICE_RANDOM,     [SYS_ADVICE_WILLNEED] = ADVICE_WILLNEED,
        [SYS_ADVICE_DONTNEED] = ADVICE_DONTNEED,
    };

    return a[2] < ARRAY_SIZE(advice) ? space_advise(p->space, a[0], a[1], advice[a[2]]) : -EINVAL;
}

int64_t sys_memory(struct process *p, const uint64_t a[6])
{
    struct sys_memory memory;

    if (a[0] > UINT32_MAX)
        return -ESRCH;
    int err = memory_read(p, a[0] ? (uint32_t)a[0] : p->pid, &memory);
    return err ? err : user_put_struct(a[1], a[2], &memory, sizeof(memory));
}

int64_t sys_regions(struct process *p, const uint64_t a[6])
{
    if (a[0] > UINT32_MAX)
        return -ESRCH;
    return memory_regions(p, a[0] ? (uint32_t)a[0] : p->pid, a[1],
                          (size_t)(a[2] / sizeof(struct sys_memory_region)));
}
