/*
 * Memory for two programs: one LRU list for all pages (global), or a pool for each, divided by
 * their curves (mrc.h, plan.h). Each program has a processor of its own. An access takes one unit
 * of time, a fault LATENCY of them. One line per pair, size of memory as part of both footprints,
 * and way of dividing it:
 *   ops       accesses of both in the given time, in percent of those with global allocation
 *   speedup   weighted: the sum over both of a program's accesses by those it makes alone with all
 *             the memory
 *   harmonic  the harmonic mean of both
 *   rates     faults of each in a thousand units of time, over the second half
 * Environment: QUICK=1 (shorter), SEED (1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mm/policy/curve/lrustack.h"
#include "mm/policy/curve/mrc.h"
#include "mm/policy/divide/plan.h"
#include "test/host/double/traces.h"

void panic(const char *fmt, ...)
{
    fprintf(stderr, "panic: %s\n", fmt);
    abort();
}

enum {
    PROGRAMS = 2,
    PAGES = 4096,
    LATENCY = 140,
    STEP = 64,
    EPOCH = 400000,
    POINTS = 2 * PAGES / STEP + 1
};

/* Its pages are numbered from `first`, so that one list can hold the pages of both. */
struct program {
    struct trace trace;
    uint32_t first;
    size_t next;
    uint64_t clock, ops, faults, faults_late, epoch_faults, epoch_ops;
    struct lrustack *resident;
    struct mrc *mrc;
    uint64_t misses[POINTS];
};

struct machine {
    struct program program[PROGRAMS];
    struct divide_pool pool[PROGRAMS];
    struct divide_room room;
    struct divide_config config;
    uint32_t memory;
    bool global, misses_only;
};

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void *room(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        panic("no memory");
    return memory;
}

static struct lrustack *stack(void)
{
    struct lrustack *s = room(lrustack_bytes(PROGRAMS * PAGES));

    lrustack_init(s, PROGRAMS * PAGES);
    return s;
}

static struct mrc *curves(void)
{
    struct mrc_config config = {
        .nodes = PAGES, .group = STEP, .memory = PROGRAMS * PAGES, .decay_shift = 1};
    struct mrc *m = room(mrc_bytes(&config));

    mrc_init(m, &config);
    return m;
}

static void begin(struct machine *m, const struct trace trace[PROGRAMS], uint32_t memory)
{
    struct lrustack *common = m->global ? stack() : NULL;

    m->memory = memory;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        m->program[i] = (struct program){.trace = trace[i],
                                         .first = i * PAGES,
                                         .resident = common ? common : stack(),
                                         .mrc = curves()};
        m->pool[i] = (struct divide_pool){.misses = m->program[i].misses,
                                          .spacing = STEP,
                                          .work = 1000000,
                                          .seen = DIVIDE_SEEN_UNKNOWN,
                                          .minimum = STEP,
                                          .weight = 1};
    }
}

static void end(struct machine *m)
{
    for (unsigned i = 0; i < PROGRAMS; i++) {
        if (i == 0 || !m->global)
            free(m->program[i].resident);
        free(m->program[i].mrc);
    }
}

static void step(struct machine *m, unsigned i, bool late)
{
    struct program *p = &m->program[i];
    uint32_t page = p->trace.page[p->next++ % p->trace.length], node = p->first + page;
    uint32_t frames = m->global ? m->memory : m->pool[i].pages;

    mrc_touch_all(p->mrc, &page, 1);
    p->clock++;
    p->ops++;
    p->epoch_ops++;
    if (!lrustack_holds(p->resident, node)) {
        p->clock += LATENCY;
        p->faults++;
        p->epoch_faults++;
        p->faults_late += late;
    }
    lrustack_touch(p->resident, node);
    while (p->resident->size > frames)
        lrustack_remove(p->resident, p->resident->bottom);
}

static void divide(struct machine *m)
{
    struct divide_report report;

    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct program *p = &m->program[i];
        if (p->epoch_ops)
            mrc_epoch(p->mrc);
        for (uint32_t k = 0; k < POINTS; k++)
            p->misses[k] = mrc_misses(p->mrc, MRC_LRU, k * STEP);
        m->pool[i].points = p->mrc->epochs ? POINTS : 0;
        m->pool[i].work = MAX(mrc_accesses(p->mrc), 1ull);
        m->pool[i].fault_time = m->misses_only ? 0 : LATENCY;
        m->pool[i].seen = p->mrc->epochs > 1 ? (int64_t)p->epoch_faults : DIVIDE_SEEN_UNKNOWN;
        p->epoch_faults = p->epoch_ops = 0;
    }
    if (divide_plan(&m->room, &m->config, m->pool, PROGRAMS, m->memory, &report))
        panic("divide");
}

static void run(struct machine *m, uint64_t time)
{
    for (uint64_t epoch = EPOCH; epoch <= time; epoch += EPOCH) {
        if (!m->global)
            divide(m);
        for (unsigned i = 0; i < PROGRAMS; i++)
            m->program[i].clock = MAX(m->program[i].clock, epoch - EPOCH);
        /* The program that is behind makes the next access. */
        for (unsigned i;
             (i = m->program[1].clock < m->program[0].clock), m->program[i].clock < epoch;)
            step(m, i, epoch > time / 2);
    }
}

/* Returns the accesses of one program in the given time with all memory for itself. */
static uint64_t alone(const struct trace *trace, uint32_t memory, uint64_t time)
{
    struct lrustack *resident = stack();
    uint64_t clock = 0, ops = 0;

    for (size_t next = 0; clock < time; next++, ops++) {
        uint32_t page = trace->page[next % trace->length];
        clock += lrustack_holds(resident, page) ? 1 : 1 + LATENCY;
        lrustack_touch(resident, page);
        while (resident->size > memory)
            lrustack_remove(resident, resident->bottom);
    }
    free(resident);
    return ops;
}

static void compare(const enum trace_kind kind[PROGRAMS], unsigned memory_pct, uint64_t time,
                    uint64_t seed)
{
    static struct machine m;
    struct trace trace[PROGRAMS];
    uint64_t global_ops = 0, most[PROGRAMS];

    for (unsigned i = 0; i < PROGRAMS; i++) {
        trace[i] = trace_make(kind[i], PAGES, 64 * PAGES, seed + i);
        most[i] = alone(&trace[i], PROGRAMS * PAGES * memory_pct / 100, time);
    }
    for (unsigned goal = DIVIDE_GOALS; goal-- > DIVIDE_THROUGHPUT;) {
        if (goal == DIVIDE_SERVICE) /* DIVIDE_SERVICE's turn goes to global allocation */
            m.global = true;
        m.config = (struct divide_config){.goal = goal,
                                          .step = STEP,
                                          .move_max = 1024,
                                          .hysteresis_permil = 20,
                                          .lasts = 8 * EPOCH};
        begin(&m, trace, PROGRAMS * PAGES * memory_pct / 100);
        run(&m, time);
        uint64_t ops = m.program[0].ops + m.program[1].ops;
        double rate[PROGRAMS], speedup[PROGRAMS];
        for (unsigned i = 0; i < PROGRAMS; i++) {
            rate[i] = 2000.0 * (double)m.program[i].faults_late / (double)time;
            speedup[i] = (double)m.program[i].ops / (double)most[i];
        }
        if (m.global)
            global_ops = ops;
        printf("RESULT pools programs=%s+%s memory_pct=%u goal=%s ops_pct=%.1f speedup=%.3f,%.3f "
               "weighted=%.3f harmonic=%.3f rates=%.3f,%.3f pages=%u,%u\n",
               trace_names[kind[0]], trace_names[kind[1]], memory_pct,
               m.global ? "global" : divide_goal_names[goal],
               100.0 * (double)ops / (double)global_ops, speedup[0], speedup[1],
               speedup[0] + speedup[1], 2 / (1 / speedup[0] + 1 / speedup[1]), rate[0], rate[1],
               m.global ? 0 : m.pool[0].pages, m.global ? 0 : m.pool[1].pages);
        fflush(stdout);
        end(&m);
        m.global = false;
    }
    for (unsigned i = 0; i < PROGRAMS; i++)
        trace_free(&trace[i]);
}

int main(void)
{
    static const enum trace_kind pairs[][PROGRAMS] = {{TRACE_ZIPF, TRACE_LOOP},
                                                      {TRACE_ZIPF, TRACE_UNIFORM},
                                                      {TRACE_DRIFT, TRACE_SCAN_ZIPF},
                                                      {TRACE_PHASES, TRACE_LU},
                                                      {TRACE_LOOP, TRACE_LOOP}};
    uint64_t time = (number("QUICK", 0) ? 20ull : 100ull) * EPOCH;

    printf("# make bench-pools SEED=%lu\n"
           "# Two programs of %u pages, a processor each, LRU; a fault takes %u accesses' time; "
           "epochs of %u.\n"
           "# ops: accesses done, global allocation being 100.  speedup: of each against itself "
           "alone with all "
           "the "
           "memory; weighted: their sum;\n"
           "# harmonic: their harmonic mean.  rates: faults of each in 1000 units of time, "
           "second half.\n",
           number("SEED", 1), PAGES, LATENCY, EPOCH);
    for (unsigned p = 0; p < ARRAY_SIZE(pairs); p++) {
        for (unsigned memory_pct = 15; memory_pct <= 90; memory_pct += 15)
            compare(pairs[p], memory_pct, time, number("SEED", 1));
    }
    return 0;
}
