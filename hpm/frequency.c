/*
 * See frequency.h. With trace.frequency=on each reading of the performance counters, at switches,
 * ticks and marks, comes with one of the two counters of a frequency driver
 * (hpm/pmu/frequency.h):
 * - The reference is added to the thread that ran. So in each quantum cycles divided by the
 *   reference are the effective frequency, and the reference is the time.
 * - In windows of 1/512 s or more of a CPU's busy time, the effective frequency is compared to
 *   the one that was told last, and told (event `frequency`) if it is 1/64 away.
 *
 * freq.pstate and freq.cpu may change at any time, also by freq.then: each CPU compares them with
 * the values that it acted on last.
 */
#include "hpm/frequency.h"
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/lib/fixed.h"
#include "kernel/trace/telemetry.h"

#define KEEP          255 /* freq.pstate: P-states stay as they are */
#define WINDOWS_PER_S 512
#define CHANGE_SHIFT  6 /* a difference of 1/64 is a change */

static uint64_t freq_pstate = KEEP, freq_cpu = CPU_MAX, freq_then = KEEP, freq_then_ms;
const struct arg frequency_args[] = {
    {.name = "freq.pstate",
     .type = ARG_U64,
     .value = &freq_pstate,
     .max = KEEP,
     .scope = ARG_LIVE,
     .help = "P-state of the CPUs, 0 being the fastest that can be asked for; 255: as it is"},
    {.name = "freq.cpu",
     .type = ARG_U64,
     .value = &freq_cpu,
     .max = CPU_MAX,
     .scope = ARG_LIVE,
     .help = "the CPU that freq.pstate is for, with the others of its core; 64: all"},
    {.name = "freq.then",
     .type = ARG_U64,
     .value = &freq_then,
     .max = KEEP,
     .help = "what freq.pstate becomes at freq.then_ms, for experiments; 255: it does not change"},
    {.name = "freq.then_ms",
     .type = ARG_U64,
     .value = &freq_then_ms,
     .max = 3600000,
     .help = "when freq.pstate becomes freq.then, milliseconds since the start of the clock"},
    {.name = NULL},
};

struct frequency_caps frequency_caps;
static const struct frequency_ops *ops; /* NULL: no driver */
static uint32_t refused;                /* atomic: the arguments that were refused last */

static uint16_t arguments(void)
{
    return (uint16_t)(__atomic_load_n(&freq_pstate, __ATOMIC_RELAXED) |
                      __atomic_load_n(&freq_cpu, __ATOMIC_RELAXED) << 8);
}

/* Returns why frequencies cannot be counted; NULL: they can. */
static const char *no_counts(void)
{
    if (!ops || !frequency_caps.counts)
        return "no-device";
    if (frequency_caps.by_pmu && !hpm_state.ops)
        return "hpm.pmu";
    return frequency_caps.by_pmu && !(hpm_caps()->user && hpm_caps()->kernel) ? "hpm.modes" : NULL;
}

static void print_found(void)
{
    char khz[FREQUENCY_PSTATES_MAX * 8] = "";
    size_t n = 0;

    for (unsigned p = 0; p < frequency_caps.pstates && n < sizeof khz; p++)
        n += ksnprintf(khz + n, sizeof khz - n, "%s%u",
                       p ? "," : " khz=", (unsigned)frequency_caps.khz[p]);
    kprintf("frequency: driver=%s counts=%s reference_hz=%llu pstates=%u%s\n", ops->name,
            no_counts() ? "no" : "yes", (unsigned long long)frequency_caps.reference_hz,
            frequency_caps.pstates, khz);
}

void frequency_init(void)
{
    bool wanted = telemetry_asked(TELEMETRY_QUANTA) && trace_frequency;

    frequency_caps = (struct frequency_caps){.lacks = "no-device"};
    ops = NULL;
    refused = 0;
    for (unsigned i = 0; frequency_backends[i] && !ops; i++)
        if (!frequency_backends[i]->probe(&frequency_caps))
            ops = frequency_backends[i];
    hpm_state.frequency = wanted && !no_counts();
    if (ops && (wanted || freq_pstate != KEEP || freq_then != KEEP))
        print_found();
    if (wanted && !hpm_state.frequency)
        kprintf("frequency: event=refused argument=trace.frequency reason=%s: the frequency of "
                "CPUs is not counted here\n",
                no_counts());
}

/* ---- P-states -------------------------------------------------------------------------------- */

/* Says once why arguments are not obeyed. */
static void refuse(uint16_t asked)
{
    if (__atomic_exchange_n(&refused, asked + 1u, __ATOMIC_RELAXED) == asked + 1u)
        return;
    if (frequency_caps.pstates)
        kprintf("frequency: event=refused argument=freq.pstate reason=value: the P-states of this "
                "hardware are 0 to %u\n",
                frequency_caps.pstates - 1);
    else
        kprintf("frequency: event=refused argument=freq.pstate reason=%s: this hardware has no "
                "P-states that the kernel can choose\n",
                frequency_caps.lacks);
}

static void tell(struct hpm_frequency *f, uint32_t khz, unsigned pstate, enum trace_frequency how)
{
    f->told_khz = khz;
    TELEMETRY_PUT(TELEMETRY_QUANTA, TRACE_FREQUENCY, khz, pstate, how);
}

/* Tells the frequency of the window, if it is another than was told, and begins the next one. */
static void look(struct hpm_frequency *f)
{
    struct frequency_count w = f->window;
    uint32_t khz = (uint32_t)fixed_muldiv(w.core, frequency_caps.reference_hz / 1000, w.reference);
    uint32_t apart = khz > f->told_khz ? khz - f->told_khz : f->told_khz - khz;

    f->window = (struct frequency_count){0};
    if ((uint64_t)apart << CHANGE_SHIFT > f->told_khz)
        tell(f, khz, KEEP, TRACE_FREQUENCY_MEASURED);
}

/* Returns the P-state that this CPU is to have by the arguments; KEEP: as it is. */
static unsigned wanted_pstate(uint16_t asked)
{
    unsigned pstate = asked & 0xff, cpu = asked >> 8;

    if (pstate == KEEP || (cpu != CPU_MAX && cpu != this_cpu()->index))
        return KEEP;
    if (pstate < frequency_caps.pstates)
        return pstate;
    refuse(asked);
    return KEEP;
}

/* Obeys the arguments if they have changed. What was counted until now, at the frequency before,
 * has been read. */
static void obey(struct hpm_frequency *f, uint16_t asked)
{
    unsigned pstate = wanted_pstate(asked);

    f->asked = asked;
    if (pstate == KEEP)
        return;
    if (!f->told_khz && f->window.reference)
        look(f); /* of the time before */
    ops->set(pstate);
    f->window = (struct frequency_count){0};
    if (frequency_caps.khz[pstate])
        tell(f, frequency_caps.khz[pstate], pstate, TRACE_FREQUENCY_SET);
    else
        f->told_khz = 0; /* it is told when it has been measured */
}

/* Makes freq.pstate what freq.then says, once, if it is time. */
static void change_in_time(void)
{
    uint64_t then = __atomic_load_n(&freq_then, __ATOMIC_RELAXED);

    if (then == KEEP || arch_clock_ns() < freq_then_ms * NS_PER_MS)
        return;
    if (__atomic_exchange_n(&freq_then, KEEP, __ATOMIC_RELAXED) != KEEP)
        __atomic_store_n(&freq_pstate, then, __ATOMIC_RELAXED);
}

void frequency_obey(struct hpm_cpu *hpm)
{
    change_in_time();
    uint16_t asked = arguments();

    if (asked == hpm->frequency.asked)
        return;
    if (hpm_state.frequency)
        account_here(); /* which obeys, unless this CPU has no counters */
    if (asked != hpm->frequency.asked)
        obey(&hpm->frequency, asked);
}

void frequency_begin(struct hpm_cpu *hpm)
{
    hpm->frequency = (struct hpm_frequency){.asked = KEEP | CPU_MAX << 8};
    if (hpm_state.frequency)
        ops->read(&hpm->frequency.last);
}

/* ---- Effective frequency --------------------------------------------------------------------- */

void frequency_follow(struct hpm_cpu *hpm)
{
    struct hpm_frequency *f = &hpm->frequency;
    struct frequency_count now;

    ops->read(&now);
    uint64_t core = now.core - f->last.core, reference = now.reference - f->last.reference;
    f->last = now;
    if (hpm->current) { /* the clock of a halted CPU runs on, where it is the reference */
        if (hpm->row == ROW_HERE)
            hpm->current->reference += reference;
        f->window.core += core;
        f->window.reference += reference;
        if (f->window.reference >= frequency_caps.reference_hz / WINDOWS_PER_S)
            look(f);
    }
    change_in_time();
    if (arguments() != f->asked)
        obey(f, arguments());
}
