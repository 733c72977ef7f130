/* See hpm_lives.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_lives.h"
#include "test/host/double/random.h"
#include "hpm/count.h"

/* Two events take turns on two counters, because one of the counters is the only one for both. */
static const struct {
    const char *name;
    enum machine_event event;
} counted_events[LIVES_EVENTS_MAX] = {
    {"LOADS:u", MACHINE_EVENT_LOADS},
    {"L1I_MISSES:u", MACHINE_EVENT_L1I_MISSES},
    {"SERVED:REMOTE_L2:u", MACHINE_EVENT_SERVED_REMOTE_L2},
    {"DCACHE:REMOTE_L2:u", MACHINE_EVENT_DCACHE_REMOTE_L2},
    {"STORES:u", MACHINE_EVENT_STORES},
    {"MISPREDICTS", MACHINE_EVENT_MISPREDICTS},
    {"STALL:TLB", MACHINE_EVENT_STALL_TLB},
    {"L1D_MISSES", MACHINE_EVENT_L1D_MISSES},
    {"COMPLETION", MACHINE_EVENT_COMPLETION},
    {"SERVED:LOCAL_L2", MACHINE_EVENT_SERVED_LOCAL_L2},
    {"STALL:DCACHE:u", MACHINE_EVENT_STALL_DCACHE},
    {"TLB_MISSES", MACHINE_EVENT_TLB_MISSES},
    {"STALL:BRANCH", MACHINE_EVENT_STALL_BRANCH},
    {"STALL:ICACHE", MACHINE_EVENT_STALL_ICACHE},
    {"SERVED:LOCAL_L3", MACHINE_EVENT_SERVED_LOCAL_L3},
    {"DCACHE:LOCAL_L2", MACHINE_EVENT_DCACHE_LOCAL_L2},
    {"DCACHE:LOCAL_L3:u", MACHINE_EVENT_DCACHE_LOCAL_L3},
};

/* Events of a kind of thread in RATE_CYCLES cycles. */
enum { KINDS = 3, RATE_CYCLES = 10000, RUN_OF_A_KIND = 40 };
static uint32_t rate[KINDS][LIVES_EVENTS_MAX];

static uint64_t seed;
static struct hpm_sums past; /* of the process; of a family: of its forgotten processes */
/* Processes of a family that are not forgotten: number i is member i % MEMBERS. */
enum { MEMBERS = 32 };
static struct hpm_sums member[MEMBERS];
static uint64_t truth[MACHINE_EVENTS], at_switch[DOUBLE_CPUS][MACHINE_EVENTS];

const char *lives_event(unsigned i)
{
    return counted_events[i].name;
}

static double uniform(void)
{
    return (double)(test_random(&seed) >> 11) / (double)(1ull << 53);
}

/* Draws the kinds' rates, which differ by up to 25 times, for each event separately. */
static void draw_rates(void)
{
    for (unsigned e = 0; e < LIVES_EVENTS_MAX; e++) {
        double mean = 20 * exp(uniform() * 3);
        for (unsigned k = 0; k < KINDS; k++)
            rate[k][e] = (uint32_t)(mean * exp(uniform() * 3.2 - 1.6)) + 1;
    }
}

static void end_stretch(unsigned cpu, bool counts)
{
    for (unsigned e = 0; e < MACHINE_EVENTS; e++) {
        truth[e] += counts ? double_cpus[cpu].at_read[e] - at_switch[cpu][e] : 0;
        at_switch[cpu][e] = double_cpus[cpu].at_read[e];
    }
}

/* Switches; interrupts wait until the truth has changed hands. */
static void move_to(unsigned cpu, int next)
{
    bool counts = running[cpu] >= 0;

    double_late = true;
    switch_to(cpu, next);
    end_stretch(cpu, counts);
    double_late = false;
    double_deliver();
}

/* A slice ends behind a piece of work, never between its cycles and its events. */
static void work(unsigned kind, uint64_t cycles)
{
    double_late = true;
    double_execute(cycles / 2, cycles);
    for (unsigned e = 0; e < LIVES_EVENTS_MAX; e++) {
        double mean = (double)rate[kind][e] * (double)cycles / RATE_CYCLES,
               n = mean * (0.7 + 0.6 * uniform());
        double_count(counted_events[e].event, (uint64_t)(n + uniform()));
    }
    double_late = false;
    double_deliver();
}

/* Thread number i, which is the CPU's hpm thread. */
struct life {
    uint64_t left;
    unsigned kind;
    struct hpm_sums *past; /* of its process */
};

static struct life new_life(const struct lives *l, unsigned i)
{
    static unsigned kind;
    double cycles = (double)l->cycles;

    if (l->program == LIVES_ALIKE)
        return (struct life){.left = l->cycles};
    if (l->program == LIVES_KINDS || i == 0 || test_random(&seed) % RUN_OF_A_KIND == 0)
        kind = (unsigned)(test_random(&seed) % KINDS);
    return (struct life){.left = 2000 + (uint64_t)(-cycles * log(1 - uniform())), .kind = kind};
}

/* Returns the sums of thread i's process; a process that ended long ago is forgotten for it. */
static struct hpm_sums *past_of(const struct lives *l, unsigned i)
{
    unsigned each = l->threads / l->processes;
    struct hpm_sums *of = &member[i / each % MEMBERS];

    if (l->processes == 1)
        return &past;
    if (i % each == 0) {
        if (i / each >= MEMBERS)
            hpm_sum_kept(of, &past);
        hpm_sums_clear(of);
    }
    return of;
}

/* Sums up as for a reading that none is subtracted from. */
static void sum_family(unsigned processes)
{
    for (unsigned i = 0; processes > 1 && i < MIN(processes, (unsigned)MEMBERS); i++)
        hpm_sum_kept(&member[(processes + i) % MIN(processes, (unsigned)MEMBERS)], &past);
}

/* Runs the CPUs' threads side by side, a piece of each at a time. */
static void run(const struct lives *l)
{
    struct life life[DOUBLE_CPUS] = {{.left = 0}};
    unsigned begun = 0, alive = 0;
    uint64_t piece = MIN(l->cycles / 8 + 500, l->slice / 10);

    do {
        for (unsigned c = 0; c < l->cpus; c++) {
            double_run_on(c);
            if (!life[c].left && begun < l->threads) {
                hpm_thread_init(&threads[c], 100 + begun, 10);
                life[c] = new_life(l, begun);
                life[c].past = past_of(l, begun++);
                move_to(c, (int)c);
                alive++;
            }
            if (!life[c].left)
                continue;
            uint64_t cycles = MIN(life[c].left, piece);
            work(life[c].kind, cycles);
            life[c].left -= cycles;
            if (life[c].left)
                continue;
            move_to(c, -1);
            hpm_sum_ended(&threads[c], UINT64_MAX, life[c].past);
            alive--;
        }
    } while (alive || begun < l->threads);
}

void lives_run(const struct lives *l, struct lives_count *out)
{
    struct hpm_session *s;
    char names[512] = "", why[160];

    seed = l->seed * 0x9e3779b97f4a7c15 | 1;
    for (unsigned i = 0; i < 10; i++)
        test_random(&seed);
    draw_rates();
    with_argument("hpm.breakdown", 0);
    with_argument("hpm.slice_cycles", l->slice);
    with_argument("hpm.counters", l->events == 2 ? 2 : HPM_COUNTERS_MAX);
    double_machine_present = true;
    host_ticks = seed >> 40; /* seed of the order of turns */
    double_boot();
    threads_begin(THREADS);
    for (unsigned e = 0; e < l->events; e++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s,",
                 counted_events[e].name);
    if (hpm_session_open(names, &s, why, sizeof why))
        panic("%s: %s", names, why);
    memset(truth, 0, sizeof truth);
    hpm_sums_clear(&past);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        end_stretch(c, false);
    run(l);
    sum_family(l->processes);
    for (unsigned e = 0; e < l->events; e++) {
        struct hpm_value v;
        hpm_session_value(s, e, &past, &v);
        out[e] = (struct lives_count){counted_events[e].name, v.estimate,
                                      truth[counted_events[e].event]};
    }
    hpm_session_close(s);
    threads_end(NULL);
    with_argument("hpm.breakdown", 1);
    with_argument("hpm.counters", HPM_COUNTERS_MAX);
    with_argument("hpm.slice_cycles", 1000000);
}
