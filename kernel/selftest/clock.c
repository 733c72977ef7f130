/* Checks the clock's rate against another clock of the machine, that it is the same on every CPU,
 * and each CPU's timer against it. */
#include "kernel/selftest/check.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "sched/sched.h"

#define RATE_TRIES     5
#define RATE_PPM_MAX   1000
#define CLOCK_READS    20000
#define TIMER_TRIES    100
#define TIMER_SLEEP_NS (10 * NS_PER_MS)
#define TIMER_LATE_NS  (1 * NS_PER_MS) /* one of the tries must be within it */
#define MILLION        1000000

/* ---- Rate ------------------------------------------------------------------------------------ */

static uint64_t parts_per_million(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) / (b / MILLION);
}

/* Takes the best of some tries, as any disturbance makes a try worse. */
static void the_clock_runs_as_fast_as_another(struct measured *m)
{
    uint64_t best = UINT64_MAX, hz = 0;
    const char *name = "";

    m->unit = "ppm";
    m->high = RATE_PPM_MAX;
    for (unsigned i = 0; i < RATE_TRIES && best > RATE_PPM_MAX; i++) {
        if (arch_clock_check(&name, &hz)) {
            m->skipped = "the machine has no other clock that is known";
            return;
        }
        best = MIN(best, parts_per_million(hz, arch_ticks_hz()));
    }
    m->value = best;
    ksnprintf(m->note, sizeof(m->note), "%llu kHz by %s, believed %llu kHz",
              (unsigned long long)hz / 1000, name, (unsigned long long)arch_ticks_hz() / 1000);
}

/* ---- One clock on all CPUs ------------------------------------------------------------------- */

static uint64_t latest_ns, backwards_ns; /* atomic; backwards_ns: the largest step */

static void read_clock(UNUSED unsigned cpu)
{
    for (unsigned i = 0; i < CLOCK_READS; i++) {
        uint64_t others_ns = __atomic_load_n(&latest_ns, __ATOMIC_SEQ_CST);
        uint64_t now_ns = arch_clock_ns();
        uint64_t step = now_ns < others_ns ? others_ns - now_ns : 0;
        uint64_t worst = __atomic_load_n(&backwards_ns, __ATOMIC_RELAXED);
        while (step > worst && !__atomic_compare_exchange_n(&backwards_ns, &worst, step, false,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        if (now_ns > others_ns)
            __atomic_compare_exchange_n(&latest_ns, &others_ns, now_ns, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED);
    }
}

static void the_clock_never_runs_backwards(struct measured *m)
{
    latest_ns = backwards_ns = 0;
    m->unit = "ns";
    if (on_every_cpu(read_clock))
        m->skipped = "no memory for its threads";
    m->value = backwards_ns;
    ksnprintf(m->note, sizeof(m->note), "backwards from CPU to CPU, of %u readings",
              CLOCK_READS * cpu_count());
}

/* ---- Timer ----------------------------------------------------------------------------------- */

static uint64_t late_ns; /* the best try of the CPU measured last */

static void sleep_often(UNUSED unsigned cpu)
{
    uint64_t best = UINT64_MAX;

    for (unsigned i = 0; i < TIMER_TRIES && best > TIMER_LATE_NS; i++) {
        uint64_t until_ns = arch_clock_ns() + TIMER_SLEEP_NS;
        sched_sleep_until(until_ns);
        /* A sleep that is too short gives a very large number. */
        best = MIN(best, arch_clock_ns() - until_ns);
    }
    late_ns = best;
}

/*
 * Measures one CPU after the other. On real CPUs sleepers do not disturb each other; but where CPUs
 * take turns, as under an emulator, sleeps that end together would measure the number of CPUs.
 */
static void the_timer_is_in_time(struct measured *m)
{
    unsigned worst = 0;

    m->unit = "ns";
    m->high = TIMER_LATE_NS;
    for (unsigned i = 0; i < cpu_count() && m->value <= TIMER_LATE_NS; i++) {
        if (on_cpu(i, sleep_often)) {
            m->skipped = "no memory for its threads";
            return;
        }
        worst = late_ns > m->value ? i : worst;
        m->value = MAX(m->value, late_ns);
    }
    ksnprintf(m->note, sizeof(m->note), "late after %llu us, the best of up to %u times, on CPU %u",
              (unsigned long long)(TIMER_SLEEP_NS / NS_PER_US), TIMER_TRIES, worst);
}

const struct check clock_checks[] = {
    {"clock-rate", the_clock_runs_as_fast_as_another},
    {"clock-backwards", the_clock_never_runs_backwards},
    {"timer-late", the_timer_is_in_time},
    {0},
};
