/* Measures what waiting for other chips' caches costs, for PMUs that count the accesses they serve
 * but not the cycles: stalls are then accesses times the latency of one. A CPU of another chip
 * writes lines; this one reads them, each line containing the address of the next, so that it waits
 * for every one. Overlapping accesses are counted as if they did not overlap, which makes it an
 * upper bound ([A] 2.5). */
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/mem/mem.h"

#define LINES  256
#define STRIDE 256 /* bytes; far enough apart that no line is fetched with its neighbour */
#define TRIES  5
/* Wait until the other CPU's stores are done and both clocks agree. */
#define SETTLE_NS (20 * NS_PER_US)
#define ANSWER_NS (100 * NS_PER_MS)
#define ORDER     4 /* of the lines' memory, in pages */

_Static_assert(LINES *STRIDE <= PAGE_SIZE << ORDER, "there is room for the lines");

struct line {
    struct line *volatile next;
    uint8_t rest[STRIDE - sizeof(void *)];
};

/* Brings all lines into this CPU's caches, modified. They form one chain, in an order that no
 * prefetcher predicts (a congruential generator of full period: Knuth, volume 2, 3.2.1.2). For
 * call_cpu. */
static void write_lines(void *arg)
{
    struct line *lines = arg;

    for (unsigned i = 0; i < LINES; i++)
        lines[i].next = &lines[(5 * i + 17) % LINES];
}

/* Returns the ticks that reading all lines takes; UINT64_MAX: this CPU is on the writer's chip. */
static uint64_t read_lines(const struct line *at, unsigned chip)
{
    bool irq = arch_irq_save();
    uint64_t took = UINT64_MAX;

    if (this_cpu()->place.chip != chip) {
        uint64_t settled_ns = arch_clock_ns() + SETTLE_NS;
        while (arch_clock_ns() < settled_ns)
            arch_cpu_relax();
        took = arch_ticks();
        for (unsigned i = 0; i < LINES; i++)
            at = at->next;
        took = arch_ticks() - took;
    }
    arch_irq_restore(irq);
    return took;
}

/* Returns the median of several measurements, for interrupts may fall into one, and clocks may
 * still differ. */
static uint64_t typical(struct line *lines, struct cpu *writer)
{
    uint64_t took[TRIES];

    for (unsigned i = 0; i < TRIES; i++) {
        bool written = !call_cpu(writer, write_lines, lines, ANSWER_NS);
        uint64_t ticks = written ? read_lines(lines, writer->place.chip) : UINT64_MAX;
        unsigned at = i;
        for (; at && took[at - 1] > ticks; at--)
            took[at] = took[at - 1];
        took[at] = ticks;
    }
    return took[TRIES / 2];
}

static bool is_first_of_chip(const struct cpu *cpu)
{
    for (const struct cpu *other = cpus; other < cpu; other++)
        if (other->place.chip == cpu->place.chip)
            return false;
    return true;
}

uint32_t remote_latency(void)
{
    uint64_t ticks = 0, chips = 0;
    paddr_t pa;

    if (frame_alloc(ORDER, &pa))
        return 0;
    cpu_for_each (cpu) {
        uint64_t took = is_first_of_chip(cpu) ? typical(phys_to_virt(pa), cpu) : UINT64_MAX;
        if (took == UINT64_MAX)
            continue;
        ticks += took;
        chips++;
    }
    frame_free(pa, ORDER);
    return chips ? (uint32_t)(fixed_muldiv(ticks, hpm_state.pmu.cycles_per_tick, PMU_RATE_ONE) /
                              LINES / chips)
                 : 0;
}

void hpm_cpus_started(void)
{
    if (!hpm_state.ops || hpm_caps()->remote != HPM_UNKNOWN ||
        !(hpm_caps()->served & SOURCES_REMOTE_CACHE))
        return;
    uint32_t latency = remote_latency();
    if (latency)
        remote_estimate(latency);
}
