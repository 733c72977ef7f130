#include "kernel/report/report.h"
#include "hpm/count.h"
#include "hpm/hpm.h"
#include "hpm/policy/breakdown.h"
#include "kernel/core/cpu.h"
#include "kernel/proc/process.h"
#include "kernel/trace/record.h"

enum { SCOPE_CPU, SCOPE_PROCESS, SCOPE_THREAD };
#define THREADS 16 /* threads of a process read at a time */
#define FIELDS  (5 + 2 * FIT_FIGURES)
_Static_assert(FIELDS <= TRACE_FIELDS_MAX, "an event holds them");

/* Puts counts as counted, not scaled: a reader subtracts two of them and divides by the cycles
 * counted in between. */
static void put_breakdown(unsigned scope, uint32_t number, const struct hpm_breakdown *b)
{
    uint64_t values[FIELDS] = {scope, number, b->cycles, b->instructions, b->idle_cycles};
    uint64_t *at = values + 5;

    for (unsigned f = 0; f < FIT_FIGURES; f++) {
        *at++ = b->figure_counted[f];
        *at++ = b->figure_seen[f];
    }
    ASSERT(at == values + FIELDS && trace_fields(TRACE_COUNTERS) == FIELDS);
    telemetry_put(TRACE_COUNTERS, values);
}

/* Puts the threads that have run since the last time. */
static void put_threads(struct process *p)
{
    static struct process_thread_counts of[THREADS];
    uint32_t tid = 0;
    unsigned n;

    do {
        n = process_hpm_threads(p, tid, of, THREADS);
        for (unsigned i = 0; i < n; i++)
            if (of[i].news)
                put_breakdown(SCOPE_THREAD, of[i].tid, &of[i].counts);
        tid = n ? of[n - 1].tid : 0;
    } while (n == THREADS);
}

void counters_record(uint64_t *next_ns)
{
    struct hpm_breakdown b;
    uint64_t now_ns = arch_clock_ns();

    if (!telemetry_wants(TELEMETRY_COUNTERS) || !hpm_caps()->present) {
        *next_ns = UINT64_MAX;
        return;
    }
    if (now_ns < *next_ns)
        return;
    *next_ns = MAX(*next_ns + telemetry_ms * NS_PER_MS, now_ns);
    cpu_for_each (cpu) {
        hpm_read_cpu(cpu, &b);
        put_breakdown(SCOPE_CPU, cpu->index, &b);
    }
    uint32_t pid = 0;
    for (struct process *p; (p = process_after(pid)); process_put(p)) {
        pid = process_pid(p);
        process_hpm(p, &b);
        put_breakdown(SCOPE_PROCESS, pid, &b);
        put_threads(p);
    }
}
