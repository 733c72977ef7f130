/*
 * The registers of the page-access trackers (kernel/dev/model/machine.h, struct machine_path):
 * commands, interrupt, and the ring in the guest's memory that drains write to. The trackers
 * themselves are in path.c.
 */
#include <errno.h>
#include "test/machine/engine.h"

#define ENTRY_BYTES sizeof(uint64_t)

void path_regs_init(struct vcpu *v)
{
    v->tracker.page =
        (struct machine_path *)(machine.pages + MACHINE_PATH_OFFSET + v->index * PAGE_SIZE);
}

/* Writes to memory line by line: the cache has the lines, modified. */
static void write_to_ring(struct vcpu *v, paddr_t at, void *bytes, uint64_t count)
{
    uint64_t line = machine.topology->line_bytes;

    qemu.copy(at, bytes, count, true);
    for (paddr_t l = ALIGN_DOWN(at, line); l < at + count; l += line) {
        cache_store(machine.cache, v->core, l, v->writer);
        execute_charge(v, MACHINE_PATH_LINE_CYCLES);
    }
    forget_hits(v);
}

/* Appends the log's entries to the ring while there is room. Returns their number. */
static uint32_t append(struct vcpu *v, struct machine_path_ring *ring)
{
    struct tracker *t = &v->tracker;
    struct path *u = &t->unit;
    uint32_t count = u->logged, left = count;

    for (uint64_t *from = u->log; left;) {
        uint64_t at = ring->head & (t->ring_entries - 1);
        uint32_t part = MIN(left, (uint32_t)(t->ring_entries - at));
        write_to_ring(v, t->ring_base + sizeof(*ring) + at * ENTRY_BYTES, from, part * ENTRY_BYTES);
        ring->head += part;
        from += part;
        left -= part;
    }
    ring->lost = t->lost_told = u->lost;
    write_to_ring(v, t->ring_base, ring, offsetof(struct machine_path_ring, tail));
    u->logged = 0;
    t->page->waiting = 0;
    return count;
}

/* Drains the log if it may do so by itself and there is room. Returns whether it did. */
static bool spill(struct vcpu *v)
{
    struct tracker *t = &v->tracker;
    struct machine_path_ring ring;

    if (!t->spill)
        return false;
    qemu.copy(t->ring_base, &ring, sizeof(ring), false);
    if (ring.head - ring.tail + t->unit.logged > t->ring_entries)
        return false;
    t->spilled += append(v, &ring);
    t->spills++;
    return true;
}

static void interrupt_if_due(struct vcpu *v)
{
    struct tracker *t = &v->tracker;
    bool full = t->threshold && t->unit.logged >= t->threshold && !spill(v);
    bool due = full || (t->spilled && t->spilled >= t->spill);

    if (t->unacknowledged || !due || !t->page->irq_address)
        return;
    t->unacknowledged = true;
    t->interrupts++;
    interrupt_send(t->page->irq_address, t->page->irq_data);
}

void path_missed(struct vcpu *v, vaddr_t va, bool store)
{
    struct tracker *t = &v->tracker;

    if (!path_walk(&t->unit, va, store))
        return;
    t->logged++;
    t->page->waiting = t->unit.logged;
    interrupt_if_due(v);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static int configure(struct vcpu *v)
{
    struct tracker *t = &v->tracker;
    volatile struct machine_path *page = t->page;
    struct path_sizes size = {page->pab_entries, page->filter_entries, page->log_entries};

    if (page->threshold > size.log || (page->spill && !page->threshold))
        return -EINVAL;
    if (size.pab && (!is_pow2(page->ring_entries) || page->ring_entries < size.log ||
                     !IS_ALIGNED(page->ring_base, sizeof(struct machine_path_ring))))
        return -EINVAL;
    int error = path_configure(&t->unit, size);
    if (error)
        return error;
    t->threshold = page->threshold;
    t->ring_base = page->ring_base;
    t->ring_entries = page->ring_entries;
    t->spill = page->spill;
    t->spilled = 0;
    t->unacknowledged = false;
    page->waiting = 0;
    return 0;
}

static int drain(struct vcpu *v)
{
    struct tracker *t = &v->tracker;
    struct machine_path_ring ring;

    if (!t->unit.pab)
        return -EINVAL;
    t->unacknowledged = false;
    t->spilled = 0;
    if (!t->unit.logged && t->unit.lost == t->lost_told)
        return 0;
    qemu.copy(t->ring_base, &ring, sizeof(ring), false);
    t->drains++;
    return (int)append(v, &ring);
}

/* Returns whether the CPU runs the space with the page in its TLB: then a use of the page makes no
 * walk. */
static bool in_tlb(struct vcpu *v, uint64_t key)
{
    vaddr_t va = (key & MACHINE_PATH_PAGE) << PAGE_SHIFT;

    return v->tracker.unit.space == key >> MACHINE_PATH_SPACE_SHIFT && execute_translated(v, va);
}

static int probe(struct vcpu *v)
{
    uint64_t key = v->tracker.page->operand;
    unsigned is = 0;

    if (key & ~path_key(MACHINE_PATH_SPACES - 1, (vaddr_t)MACHINE_PATH_PAGE << PAGE_SHIFT))
        return -EINVAL;
    for (struct vcpu *o = machine.vcpus; o < machine.vcpus + machine.cpus; o++) {
        is |= path_probe(&o->tracker.unit, key);
        if (o->tracker.unit.pab && in_tlb(o, key))
            is |= MACHINE_PATH_IS_USED;
    }
    execute_charge(v, machine.topology->tlb_invalidate_cycles);
    return (int)is;
}

static int forget_page(struct vcpu *v)
{
    for (struct vcpu *o = machine.vcpus; o < machine.vcpus + machine.cpus; o++)
        path_forget_page(&o->tracker.unit, v->tracker.page->operand);
    execute_charge(v, machine.topology->tlb_invalidate_cycles);
    return 0;
}

static int forget_space(struct vcpu *v)
{
    for (struct vcpu *o = machine.vcpus; o < machine.vcpus + machine.cpus; o++)
        path_forget_space(&o->tracker.unit, v->tracker.page->operand >> MACHINE_PATH_SPACE_SHIFT &
                                                (MACHINE_PATH_SPACES - 1));
    execute_charge(v, machine.topology->tlb_invalidate_cycles);
    return 0;
}

static int (*const commands[MACHINE_PATH_COMMANDS])(struct vcpu *) = {
    [MACHINE_PATH_CMD_CONFIGURE] = configure,
    [MACHINE_PATH_CMD_DRAIN] = drain,
    [MACHINE_PATH_CMD_PROBE] = probe,
    [MACHINE_PATH_CMD_FORGET_PAGE] = forget_page,
    [MACHINE_PATH_CMD_FORGET_SPACE] = forget_space,
};

static void obey(struct vcpu *v)
{
    volatile struct machine_path *page = v->tracker.page;
    const struct path *u = &v->tracker.unit;
    uint32_t which = page->command;

    page->result = which < MACHINE_PATH_COMMANDS && commands[which] ? commands[which](v) : -EINVAL;
    page->walks = u->walks;
    page->pab_hits = u->pab_hits;
    page->filter_hits = u->filter_hits;
    page->lost = u->lost;
}

void path_store(struct vcpu *v, size_t offset)
{
    if (offset == offsetof(struct machine_path, command))
        obey(v);
    if (offset == offsetof(struct machine_path, sample_shift))
        v->tracker.unit.sample_shift =
            MIN(v->tracker.page->sample_shift, (uint32_t)MACHINE_PATH_SAMPLE_SHIFT_MAX);
    if (offset == offsetof(struct machine_path, space))
        v->tracker.unit.space = v->tracker.page->space & (MACHINE_PATH_SPACES - 1);
}
