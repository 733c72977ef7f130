/*
 * TLB shootdown. If the processor does it by itself, nothing else is needed. Otherwise each CPU has
 * one request and a set of requesters that wait for its answer. A requester fills in its request,
 * adds itself to the set of every CPU that runs in the space, interrupts these CPUs and waits until
 * all have removed it. While it waits it answers other requests, so two requesters never wait for
 * each other.
 *
 * A CPU runs in the space that cpu->space names. That suffices where a switch of spaces flushes
 * translations: a CPU publishes cpu->space before it loads the tables, and the requester changes
 * the tables before it reads cpu->space. So a CPU that the requester misses loads tables that have
 * already changed. Idle CPUs have no space loaded and are left alone.
 */
#include "kernel/mem/mem.h"
#include "kernel/core/cpu.h"

#define FLUSH_ALL_PAGES 32 /* from here on flushing everything is cheaper than page by page */

struct tlb_request {
    struct arch_space *space;
    vaddr_t va;
    size_t n;
    uint64_t unanswered; /* bit per CPU; atomic: set by the requester, cleared by the CPUs asked */
    uint64_t requesters; /* bit per CPU that waits for this CPU's answer; atomic */
} ALIGNED(CACHE_LINE);

_Static_assert(CPU_MAX <= 64, "sets of CPUs are one word here");

static struct tlb_request requests[CPU_MAX];

static uint64_t bit_of(unsigned cpu)
{
    return (uint64_t)1 << cpu;
}

/* Answers all requests to this CPU. Interrupts off. */
static void answer(void)
{
    unsigned self = this_cpu()->index;
    uint64_t waiting = __atomic_exchange_n(&requests[self].requesters, 0, __ATOMIC_ACQ_REL);

    while (waiting) {
        struct tlb_request *r = &requests[__builtin_ctzll(waiting)];
        waiting &= waiting - 1;
        arch_tlb_flush(r->space, r->va, r->n);
        __atomic_fetch_and(&r->unanswered, ~bit_of(self), __ATOMIC_ACQ_REL);
    }
}

void tlb_ipi(void)
{
    answer();
}

/* Returns the set of CPUs other than `self` that may hold translations of `space`; NULL: of the
 * kernel. */
static uint64_t users_of(const struct arch_space *space, unsigned self)
{
    uint64_t set = 0;

    cpu_for_each (c) {
        if (c->index == self || !__atomic_load_n(&c->online, __ATOMIC_ACQUIRE))
            continue;
        if (!space || __atomic_load_n(&c->space, __ATOMIC_SEQ_CST) == space)
            set |= bit_of(c->index);
    }
    return set;
}

static void ask_cpus(uint64_t set, unsigned self)
{
    for (; set; set &= set - 1) {
        unsigned cpu = __builtin_ctzll(set);
        uint64_t before =
            __atomic_fetch_or(&requests[cpu].requesters, bit_of(self), __ATOMIC_ACQ_REL);
        if (!before)
            arch_ipi_send(&cpus[cpu], IPI_TLB);
    }
}

void tlb_shootdown(struct arch_space *space, vaddr_t va, size_t n)
{
    ASSERT(arch_irq_enabled() && this_cpu()->spin_depth == 0);
    if (n >= FLUSH_ALL_PAGES)
        n = 0;
    if (arch_tlb_flush_everywhere(space, va, n))
        return;
    bool irq = arch_irq_save();
    struct cpu *me = this_cpu();
    struct tlb_request *r = &requests[me->index];
    if (!space || me->space == space)
        arch_tlb_flush(space, va, n);
    r->space = space;
    r->va = va;
    r->n = n;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint64_t set = users_of(space, me->index);
    __atomic_store_n(&r->unanswered, set, __ATOMIC_RELEASE);
    ask_cpus(set, me->index);
    while (__atomic_load_n(&r->unanswered, __ATOMIC_ACQUIRE)) {
        answer();
        arch_irq_restore(irq);
        arch_cpu_relax();
        arch_irq_save();
    }
    arch_irq_restore(irq);
}
