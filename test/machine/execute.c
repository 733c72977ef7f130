/*
 * The cost of a block and of a memory access. QEMU calls execute_block() at the start of each
 * translated block, before its accesses, and the other callbacks after each access.
 *
 *   - A block's instructions take completion time at once. Its bytes are fetched through the L1I.
 *     Its successor was predicted or not.
 *   - A load or an atomic operation that misses stalls for the latency of its source. A store
 *     enters the store buffer, and stalls only when that is full. Atomic operations and fences wait
 *     until it is empty.
 *   - The modelled TLB is also the simulator's translation cache: QEMU is asked only on a modelled
 *     miss.
 */
#include "test/machine/engine.h"

#define LARGEST_ACCESS 16 /* largest number of bytes that QEMU accesses at once */

/* Set in the addresses of instruction translations, to tell them from data: no canonical address
 * has this bit alone. QEMU may run a block at another virtual address than the one it was
 * translated at, which must not become a wrong data translation. */
#define CODE_ADDRESS ((vaddr_t)1 << 55)

/* ---- Instructions ---------------------------------------------------------------------------- */

/* what: the part of the TLB misses that it is */
static void tlb_walk(struct vcpu *v, enum machine_event what)
{
    v->data_line = NEVER; /* its translation may be the victim */
    event(v, MACHINE_EVENT_TLB_MISSES);
    event(v, what);
    stall(v, MACHINE_EVENT_STALL_TLB, machine.topology->walk_cycles);
}

/* Tells the tracker, which sits behind the TLB, of memory in the lower half. */
static void track(struct vcpu *v, vaddr_t va, bool store)
{
    if (!v->tracker.unit.space || !isa_user(va))
        return;
    path_missed(v, va, store);
    if (machine.trace_walks)
        page_trace_access(v, va, store);
}

/* Tells the page trace, which is ground truth. */
static void page_used(struct vcpu *v, vaddr_t va, bool store)
{
    if (va >> PAGE_SHIFT == v->traced_page || !v->tracker.unit.space || !isa_user(va))
        return;
    v->traced_page = va >> PAGE_SHIFT;
    page_trace_access(v, va, store);
}

static bool global_page(const struct vcpu *v, vaddr_t va)
{
    return v->globals && !isa_user(va);
}

/* Tells the PMU of a walk for instructions. */
static void walked_for_code(struct vcpu *v, const struct block *b)
{
    struct access a = {
        .pc = b->pc,
        .va = b->pc,
        .pa = b->page | (b->pc & PAGE_MASK),
        .flags = b->mode == MODE_USER ? MACHINE_RECORD_USER : 0,
        .source = MACHINE_L1,
        .fetch = true,
        .walk = machine.topology->walk_cycles,
    };
    pmu_access(v, &a);
}

static void translate_code(struct vcpu *v, const struct block *b)
{
    vaddr_t va = b->pc ^ CODE_ADDRESS;

    v->code_page = b->pc >> PAGE_SHIFT;
    if (tlb_lookup(&v->tlb, va, v->space))
        return;
    tlb_walk(v, MACHINE_EVENT_ITLB_MISSES);
    track(v, b->pc, false);
    tlb_insert(&v->tlb, va, v->space, global_page(v, b->pc), b->page, false);
    walked_for_code(v, b);
}

static void fetch_lines(struct vcpu *v, uint64_t line, unsigned lines)
{
    for (; lines; line++, lines--) {
        struct cache_result r = cache_fetch(machine.cache, v->core, line << machine.line_shift);
        if (r.source == CACHE_L1)
            continue;
        event(v, MACHINE_EVENT_L1I_MISSES);
        stall_for(v, MACHINE_EVENT_STALL_ICACHE, r.source, r.latency);
    }
}

/* A loop runs in few lines. Adjacent lines are in different sets, so none evicts another. */
#define CODE_LINES 4

static void fetch(struct vcpu *v, const struct block *b)
{
    fetch_lines(v, b->line, b->lines);
    if (b->line == v->code_first + v->code_lines && v->code_lines + b->lines <= CODE_LINES) {
        v->code_lines += b->lines;
    } else {
        v->code_first = b->line;
        v->code_lines = b->lines;
    }
    if (!b->second_lines)
        return;
    fetch_lines(v, b->second_line, b->second_lines);
    v->code_lines = 0;
}

static void mode_changes(struct vcpu *v, enum mode mode)
{
    v->mode = &v->count[mode];
    pmu_mode_changed(v);
}

void execute_block(unsigned cpu, void *data)
{
    const struct block *b = data;
    struct vcpu *v = machine.running;

    (void)cpu;
    if (__builtin_expect(!v || v->cpu != *qemu.current, 0))
        v = turn_begin();
    if (__builtin_expect(v->now >= v->stop, 0))
        turn_stop(v);
    if (__builtin_expect(v->mode != &v->count[b->mode], 0))
        mode_changes(v, b->mode);
    uint64_t completion = (uint64_t)b->instructions * v->cpi;
    uint64_t time = completion * v->cycle_256 + v->time_rest;
    v->now += time >> CYCLE_SHIFT;
    v->time_rest = time & ((1u << CYCLE_SHIFT) - 1);
    v->mode->n[MACHINE_EVENT_INSTRUCTIONS] += b->instructions;
    v->mode->n[MACHINE_EVENT_COMPLETION] += completion;

    if (v->code_page != b->pc >> PAGE_SHIFT)
        translate_code(v, b);
    if (b->line < v->code_first || b->line + b->lines > v->code_first + v->code_lines ||
        b->second_lines)
        fetch(v, b);

    if (b->branch)
        event(v, MACHINE_EVENT_BRANCHES);
    const struct block *last = v->last;
    v->last = b->predicted ? b : NULL;
    if (last && branch_predict_update(&v->branch, last->pc, last->pc + last->bytes, b->pc)) {
        event(v, MACHINE_EVENT_MISPREDICTS);
        stall(v, MACHINE_EVENT_STALL_BRANCH, machine.topology->mispredict_cycles);
    }
}

/* ---- Data ------------------------------------------------------------------------------------ */

static void walk_for_data(struct vcpu *v, bool store)
{
    tlb_walk(v, store ? MACHINE_EVENT_DTLB_STORE_MISSES : MACHINE_EVENT_DTLB_LOAD_MISSES);
    v->walked = machine.topology->walk_cycles;
}

/* Returns the cycles of the walk that the present access has waited for; 0: there was none. */
static uint32_t take_walk(struct vcpu *v)
{
    uint32_t walk = v->walked;

    v->walked = 0;
    return walk;
}

/* Returns the page's translation, or NULL if QEMU does not know it, or no longer: then the access
 * is not modelled. */
static const struct tlb_entry *translate_miss(struct vcpu *v, qemu_plugin_meminfo_t info,
                                              vaddr_t va, bool store)
{
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, va);

    if (!where) {
        v->unknown++;
        return NULL;
    }
    paddr_t pa = qemu_plugin_hwaddr_phys_addr(where);
    bool io = qemu_plugin_hwaddr_is_io(where) || regs_contains(pa);
    walk_for_data(v, store);
    if (!io)
        track(v, va, store);
    return tlb_insert(&v->tlb, va, v->space, global_page(v, va), pa, io);
}

static void verify(struct vcpu *v, qemu_plugin_meminfo_t info, vaddr_t va,
                   const struct tlb_entry *e)
{
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, va);

    v->checked++;
    if (!where)
        return;
    paddr_t pa = qemu_plugin_hwaddr_phys_addr(where) & ~(paddr_t)PAGE_MASK;
    if (pa == tlb_frame(e))
        return;
    if (v->mismatches++ < 10)
        machine_say("translation: cpu %u at %#llx: %#llx, but QEMU has %#llx", v->index,
                    (unsigned long long)va, (unsigned long long)tlb_frame(e),
                    (unsigned long long)pa);
}

static const struct tlb_entry *translate(struct vcpu *v, qemu_plugin_meminfo_t info, vaddr_t va,
                                         bool store)
{
    const struct tlb_entry *e = tlb_lookup(&v->tlb, va, v->space);

    if (__builtin_expect(!e, 0))
        e = translate_miss(v, info, va, store);
    else if (__builtin_expect(machine.verify, 0))
        verify(v, info, va, e);
    if (__builtin_expect(machine.trace_changes, 0) && e && !tlb_is_io(e))
        page_used(v, va, store);
    return e;
}

static void device_access(struct vcpu *v, paddr_t pa, bool store)
{
    take_walk(v); /* only accesses to memory are recorded */
    if (regs_contains(pa)) {
        regs_access(v, pa, store);
        return;
    }
    if (store && machine.isa->sends_ipi(pa))
        execute_charge(v, machine.topology->ipi_cycles);
    execute_device(v);
}

static void count_served(struct vcpu *v, const struct cache_result *r, bool store)
{
    event(v, MACHINE_EVENT_L1D_MISSES);
    event(v, MACHINE_EVENT_SERVED_LOCAL_L2 + r->source - MACHINE_LOCAL_L2);
    if (r->source == CACHE_REMOTE_L2 || r->source == CACHE_REMOTE_L3)
        truth_served(v, r);
    if (store)
        return;
    event(v, MACHINE_EVENT_L1D_LOAD_MISSES);
    if (r->source == CACHE_LOCAL_L2 && machine.topology->l3.ways)
        return;
    event(v, MACHINE_EVENT_LLC_LOADS);
    if (r->source != CACHE_LOCAL_L2 && r->source != CACHE_LOCAL_L3)
        event(v, MACHINE_EVENT_LLC_LOAD_MISSES);
}

/* Returns how many bytes of an access from `va` on are in the line of va. */
static uint16_t bytes_in_line(const struct vcpu *v, const qemu_plugin_meminfo_t *info, vaddr_t va)
{
    unsigned bytes = v->access_bytes ? v->access_bytes : 1u << qemu_plugin_mem_size_shift(*info);
    unsigned line = machine.topology->line_bytes;

    return (uint16_t)MIN(bytes, line - (va & (line - 1)));
}

/* Counts a data access that missed the L1D or the TLB, after it is done, and tells the PMU and the
 * ground truth. */
static void missed(struct vcpu *v, vaddr_t pc, vaddr_t va, paddr_t pa, const struct cache_result *r,
                   const qemu_plugin_meminfo_t *info, uint8_t flags)
{
    struct access a = {
        .pc = pc,
        .va = va,
        .pa = pa,
        .flags = flags | (isa_user(pc) ? MACHINE_RECORD_USER : 0) |
                 (r->modified ? MACHINE_RECORD_MODIFIED : 0),
        .source = r->source,
        .latency = r->latency,
        .walk = take_walk(v),
        .bytes = bytes_in_line(v, info, va),
    };
    if (r->source != CACHE_L1)
        count_served(v, r, flags & MACHINE_RECORD_STORE);
    truth_access(&a);
    pmu_access(v, &a);
}

/* Returns whether an access hit the L1D and the TLB. */
static inline bool hit(const struct vcpu *v, const struct cache_result *r)
{
    return r->source == CACHE_L1 && !v->walked;
}

static void load_part(struct vcpu *v, qemu_plugin_meminfo_t info, vaddr_t va, vaddr_t pc)
{
    const struct tlb_entry *e = translate(v, info, va, false);

    if (__builtin_expect(!e, 0))
        return;
    paddr_t pa = tlb_frame(e) | (va & PAGE_MASK);
    if (__builtin_expect(tlb_is_io(e), 0)) {
        device_access(v, pa, false);
        return;
    }
    struct cache_result r = cache_load(machine.cache, v->core, pa);
    v->data_line = va >> machine.line_shift;
    v->data_writable = false;
    if (hit(v, &r))
        return;
    if (r.source != CACHE_L1)
        stall_dcache(v, r.source, r.latency);
    missed(v, pc, va, pa, &r, &info, 0);
}

static void store_to(struct vcpu *v, const struct tlb_entry *e, vaddr_t va, vaddr_t pc,
                     const qemu_plugin_meminfo_t *info)
{
    paddr_t pa = tlb_frame(e) | (va & PAGE_MASK);
    if (__builtin_expect(tlb_is_io(e), 0)) {
        device_access(v, pa, true);
        return;
    }
    struct cache_result r = cache_store(machine.cache, v->core, pa, v->writer);
    v->data_line = va >> machine.line_shift;
    v->data_writable = true;
    uint64_t latency = r.latency; /* in cycles of the clock, as the buffer keeps them */
    if (r.source <= CACHE_LOCAL_L3)
        latency = latency * v->cycle_256 >> CYCLE_SHIFT;
    cycles_t wait = storebuf_put(&v->stores, vcpu_cycles(v), latency);
    if (wait)
        stall_time(v, MACHINE_EVENT_STALL_OTHER, wait);
    if (!hit(v, &r))
        missed(v, pc, va, pa, &r, info, MACHINE_RECORD_STORE);
}

static void store_part(struct vcpu *v, qemu_plugin_meminfo_t info, vaddr_t va, vaddr_t pc)
{
    const struct tlb_entry *e = translate(v, info, va, true);
    if (__builtin_expect(e != NULL, 1))
        store_to(v, e, va, pc, &info);
}

static void atomic_part(struct vcpu *v, qemu_plugin_meminfo_t info, vaddr_t va, vaddr_t pc)
{
    const struct tlb_entry *e = translate(v, info, va, true);

    execute_fence(v);
    if (__builtin_expect(!e, 0))
        return;
    paddr_t pa = tlb_frame(e) | (va & PAGE_MASK);
    if (__builtin_expect(tlb_is_io(e), 0)) {
        device_access(v, pa, true);
        return;
    }
    struct cache_result r = cache_store(machine.cache, v->core, pa, v->writer);
    v->data_line = va >> machine.line_shift;
    v->data_writable = true;
    if (hit(v, &r))
        return;
    if (r.source != CACHE_L1)
        stall_dcache(v, r.source, r.latency);
    missed(v, pc, va, pa, &r, &info, MACHINE_RECORD_STORE | MACHINE_RECORD_ATOMIC);
}

/* Returns whether the access ends in another line than it begins in. Most can be told not to
 * without asking for their size. */
static inline bool crosses_line(qemu_plugin_meminfo_t info, vaddr_t va, vaddr_t *next)
{
    vaddr_t line = (vaddr_t)1 << machine.line_shift;
    vaddr_t offset = va & (line - 1);

    if (__builtin_expect(offset <= line - LARGEST_ACCESS, 1))
        return false;
    *next = (va | (line - 1)) + 1;
    return offset + ((vaddr_t)1 << qemu_plugin_mem_size_shift(info)) > line;
}

/* Makes the part of an access that is in the next line. */
static void second_part(struct vcpu *v, qemu_plugin_meminfo_t info, vaddr_t va, vaddr_t next,
                        vaddr_t pc,
                        void (*part)(struct vcpu *, qemu_plugin_meminfo_t, vaddr_t, vaddr_t))
{
    v->access_bytes = (uint16_t)(va + (1u << qemu_plugin_mem_size_shift(info)) - next);
    part(v, info, next, pc);
    v->access_bytes = 0;
}

void execute_load(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc)
{
    struct vcpu *v = machine.running;
    vaddr_t next;

    (void)cpu;
    v->mode->n[MACHINE_EVENT_LOADS]++;
    if (va >> machine.line_shift == v->data_line && !crosses_line(info, va, &next))
        return;
    load_part(v, info, va, (vaddr_t)pc);
    if (__builtin_expect(crosses_line(info, va, &next), 0))
        second_part(v, info, va, next, (vaddr_t)pc, load_part);
}

void execute_store(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc)
{
    struct vcpu *v = machine.running;
    vaddr_t next;

    (void)cpu;
    v->mode->n[MACHINE_EVENT_STORES]++;
    if (va >> machine.line_shift == v->data_line && v->data_writable &&
        !crosses_line(info, va, &next)) {
        cycles_t wait = storebuf_put(&v->stores, vcpu_cycles(v), 0);
        if (wait)
            stall_time(v, MACHINE_EVENT_STALL_OTHER, wait);
        return;
    }
    store_part(v, info, va, (vaddr_t)pc);
    if (__builtin_expect(crosses_line(info, va, &next), 0))
        second_part(v, info, va, next, (vaddr_t)pc, store_part);
}

void execute_atomic(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc)
{
    struct vcpu *v = machine.running;
    vaddr_t next;

    (void)cpu;
    v->mode->n[MACHINE_EVENT_STORES]++;
    atomic_part(v, info, va, (vaddr_t)pc);
    if (__builtin_expect(crosses_line(info, va, &next), 0))
        second_part(v, info, va, next, (vaddr_t)pc, atomic_part);
}

/* Returns the last line that an access touches. */
static vaddr_t last_line(qemu_plugin_meminfo_t info, vaddr_t va)
{
    return (va + ((vaddr_t)1 << qemu_plugin_mem_size_shift(info)) - 1) >> machine.line_shift;
}

void execute_string_load(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc)
{
    vaddr_t line = last_line(info, va);

    if (line == machine.running->string_loaded)
        return;
    machine.running->string_loaded = line;
    execute_load(cpu, info, va, pc);
}

void execute_string_store(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t va, void *pc)
{
    vaddr_t line = last_line(info, va);

    if (line == machine.running->string_stored)
        return;
    machine.running->string_stored = line;
    execute_store(cpu, info, va, pc);
}

void execute_block_store(struct vcpu *v, vaddr_t va, uint64_t bytes, vaddr_t pc)
{
    const struct tlb_entry *e = tlb_lookup(&v->tlb, va, v->space);

    if (!e) {
        uint64_t attributes[2] = {0};
        paddr_t pa = qemu.translate(v->cpu, va & ~(vaddr_t)PAGE_MASK, attributes);
        if (pa == UINT64_MAX)
            return; /* it will fault and be repeated */
        walk_for_data(v, true);
        track(v, va, true);
        e = tlb_insert(&v->tlb, va, v->space, global_page(v, va), pa, false);
    }
    v->mode->n[MACHINE_EVENT_STORES]++;
    v->access_bytes = (uint16_t)bytes;
    for (vaddr_t end = va + bytes; va < end; va += machine.topology->line_bytes)
        store_to(v, e, va, pc, NULL);
    v->access_bytes = 0;
}

/* ---- Special instructions -------------------------------------------------------------------- */

void execute_charge(struct vcpu *v, uint64_t cycles)
{
    stall(v, MACHINE_EVENT_STALL_OTHER, cycles);
}

void execute_fence(struct vcpu *v)
{
    cycles_t wait = storebuf_drain(&v->stores, vcpu_cycles(v));
    if (wait)
        stall_time(v, MACHINE_EVENT_STALL_OTHER, wait);
}

void execute_device(struct vcpu *v)
{
    execute_charge(v, machine.topology->register_cycles);
    v->slice_end = v->stop = 0; /* it may have armed a timer */
}

/* Charges kernel time, in any mode. */
static void charge_kernel(struct vcpu *v, uint64_t cycles)
{
    if (v->mode != &v->count[MODE_KERNEL])
        mode_changes(v, MODE_KERNEL);
    v->last = NULL;
    execute_charge(v, cycles);
}

void execute_exception(struct vcpu *v)
{
    charge_kernel(v, machine.topology->exception_entry_cycles);
    event(v, MACHINE_EVENT_EXCEPTIONS);
}

void execute_exception_return(struct vcpu *v)
{
    charge_kernel(v, machine.topology->exception_return_cycles);
}

/* ---- TLB ------------------------------------------------------------------------------------- */

bool execute_translated(struct vcpu *v, vaddr_t va)
{
    return tlb_holds(&v->tlb, va, v->space) || tlb_holds(&v->tlb, va ^ CODE_ADDRESS, v->space);
}

void execute_flush_all(struct vcpu *v)
{
    tlb_flush_all(&v->tlb);
    v->code_page = NEVER;
    forget_hits(v);
}

void execute_flush_space(struct vcpu *v, uint16_t space)
{
    tlb_flush_space(&v->tlb, space);
    v->code_page = NEVER;
    forget_hits(v);
}

void execute_flush_page(struct vcpu *v, vaddr_t va, uint16_t space)
{
    tlb_flush_page(&v->tlb, va, space);
    tlb_flush_page(&v->tlb, va ^ CODE_ADDRESS, space);
    v->code_page = NEVER;
    forget_hits(v);
}

void execute_flush_page_all(struct vcpu *v, vaddr_t va)
{
    tlb_flush_page_all(&v->tlb, va);
    tlb_flush_page_all(&v->tlb, va ^ CODE_ADDRESS);
    v->code_page = NEVER;
    forget_hits(v);
}
