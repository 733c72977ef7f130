/* Checks that each CPU answers the others, and that its counters count a loop of known length. */
#include "kernel/selftest/check.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "sched/sched.h"
#include "hpm/count.h"

#define ANSWER_TRIES   100
#define ANSWER_WAIT_NS (1 * NS_PER_S)
#define ANSWER_NS      (1 * NS_PER_MS) /* one of the tries must be within it */
#define ROUNDS         ((uint64_t)100000)
#define COUNT_TRIES    5
#define MHZ_MAX        20000

static uint64_t per_cpu[CPU_MAX];

/* ---- Answers --------------------------------------------------------------------------------- */

static void note_cpu(void *arg)
{
    *(unsigned *)arg = this_cpu()->index;
}

/* Returns the shortest time until a CPU's answer is back, or UINT64_MAX if none came. */
static uint64_t answer_time(struct cpu *cpu)
{
    uint64_t best = UINT64_MAX;

    for (unsigned i = 0; i < ANSWER_TRIES && best > ANSWER_NS; i++) {
        unsigned who = CPU_MAX;
        uint64_t since_ns = arch_clock_ns();
        if (call_cpu(cpu, note_cpu, &who, ANSWER_WAIT_NS) || who != cpu->index)
            return UINT64_MAX;
        best = MIN(best, arch_clock_ns() - since_ns);
    }
    return best;
}

/* A thread stays on its CPU while it does not sleep, so all times are from one CPU. */
static void every_cpu_answers(struct measured *m)
{
    m->unit = "ns";
    m->high = ANSWER_NS;
    if (cpu_count() == 1) {
        m->skipped = "there is one CPU";
        return;
    }
    cpu_for_each (cpu)
        per_cpu[cpu->index] = cpu == this_cpu() ? 0 : answer_time(cpu);
    unsigned worst = largest_of_cpus(per_cpu);
    m->value = per_cpu[worst];
    ksnprintf(m->note, sizeof(m->note), "to and from CPU %u, the best of up to %u times", worst,
              ANSWER_TRIES);
}

/* ---- Counters -------------------------------------------------------------------------------- */

static struct {
    uint64_t instructions, cycles, ns;
} counted[CPU_MAX];

static uint64_t too_many(uint64_t instructions)
{
    return instructions > 10 * ROUNDS ? instructions - 10 * ROUNDS : 10 * ROUNDS - instructions;
}

/* Keeps the try nearest to the known count, since interrupts are counted, too; of equal ones the
 * shortest. The clock is read outside the counters, so that time between the two readings cannot
 * add cycles. */
static void count_loop(unsigned cpu)
{
    for (unsigned i = 0; i < COUNT_TRIES; i++) {
        struct hpm_breakdown b;
        uint64_t since_ns = arch_clock_ns();
        hpm_read_thread(&thread_current()->hpm, &b);
        uint64_t instructions = b.instructions, cycles = b.cycles;
        arch_loop(ROUNDS);
        hpm_read_thread(&thread_current()->hpm, &b);
        uint64_t ns = arch_clock_ns() - since_ns;
        instructions = b.instructions - instructions;
        uint64_t off = too_many(instructions), best = too_many(counted[cpu].instructions);
        if (i && (off > best || (off == best && ns >= counted[cpu].ns)))
            continue;
        counted[cpu].instructions = instructions;
        counted[cpu].cycles = b.cycles - cycles;
        counted[cpu].ns = ns;
    }
}

static bool count_everywhere(struct measured *m)
{
    if (!hpm_caps()->present)
        m->skipped = "there are no performance counters that are known";
    else if (!hpm_caps()->kernel)
        m->skipped = "the kernel is not counted";
    else if (on_every_cpu(count_loop))
        m->skipped = "no memory for its threads";
    return !m->skipped;
}

static void counters_count_instructions(struct measured *m)
{
    m->unit = "instructions";
    m->low = 10 * ROUNDS;
    m->high = 10 * ROUNDS + ROUNDS / 5;
    if (hpm_caps()->present && !hpm_caps()->instructions)
        m->skipped = "this PMU counts no instructions";
    if (m->skipped || !count_everywhere(m))
        return;
    for (unsigned i = 0; i < cpu_count(); i++)
        per_cpu[i] = too_many(counted[i].instructions);
    unsigned worst = largest_of_cpus(per_cpu);
    m->value = counted[worst].instructions;
    ksnprintf(m->note, sizeof(m->note), "in a loop of %llu, on CPU %u",
              (unsigned long long)(10 * ROUNDS), worst);
}

static void counters_count_cycles(struct measured *m)
{
    uint64_t slowest = UINT64_MAX, fastest = 0;

    m->unit = "MHz";
    m->low = 1;
    m->high = MHZ_MAX;
    if (!count_everywhere(m))
        return;
    for (unsigned i = 0; i < cpu_count(); i++) {
        uint64_t mhz = counted[i].cycles * 1000 / MAX(counted[i].ns, (uint64_t)1);
        slowest = MIN(slowest, mhz);
        fastest = MAX(fastest, mhz);
    }
    m->value = fastest > MHZ_MAX ? fastest : slowest;
    ksnprintf(m->note, sizeof(m->note), "cycles by time, the fastest CPU %llu, the clock %llu",
              (unsigned long long)fastest, (unsigned long long)(arch_ticks_hz() / 1000000));
}

const struct check cpu_checks[] = {
    {"cpus-answer", every_cpu_answers},
    {"pmu-instructions", counters_count_instructions},
    {"pmu-cycles", counters_count_cycles},
    {0},
};
