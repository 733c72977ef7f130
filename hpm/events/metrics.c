/*
 * All metrics, and which of them a PMU has.
 *
 * Top-down, level 1: each slot of the pipeline either completed an operation, was wasted on one
 * that did not complete, or stayed empty because of the front or the back end (Yasin, ISPASS 2014).
 * Rows by what the PMU counts:
 * - Ice Lake and later measure the four shares (PERF_METRICS: SDM volume 3, "Performance Metrics").
 * - Intel's other cores, and those where the hypervisor hides PERF_METRICS: Yasin's formulas, for a
 *   core with an idle second thread.
 * - Zen 4: slots without an operation, by reason (PPR, "Pipeline Utilization").
 * - Arm with STALL_SLOT: a slot that was not stalled had an operation, completed or not. So bad
 *   speculation is the rest: 1 - frontend - backend - OP_RETIRED / OP_SPEC * (1 - STALL_SLOT /
 *   slots), where STALL_SLOT is both kinds of stall.
 * - Other Arm cores: the same with cycles for slots and instructions for operations.
 * - The simulated machine: cycles by what completed in them or why nothing did. All operations
 *   issued complete, so bad speculation costs nothing but the stalls behind mispredictions.
 */
#include "hpm/events/metric.h"
#include "hpm/events/table.h"
#include "kernel/lib/text.h"

#define PER_THOUSAND(event) "1000 * " event " / instructions"
#define OF_CYCLES(event)    "100 * " event " / cycles"
#define OF_SLOTS(count)     "100 * " count " / ($slots * cycles)"
#define OF_TOPDOWN(field)   "100 * PERF_METRICS:" field " / TOPDOWN:SLOTS"
#define BUSY(stalls)        " * (1 - " stalls " / ($slots * cycles))"
#define BUSY_CYCLES         " * (1 - (STALL_FRONTEND + STALL_BACKEND) / cycles)"
#define DECODED             "OPS_SOURCE_DISPATCHED_FROM_DECODER:DECODER:OPCACHE:LOOP_BUFFER"

const struct metric metrics[] = {
    {"ipc", "instructions per cycle", "how fast", NULL, "instructions / cycles"},
    {"cpi", "cycles per instruction", "how slow", NULL, "cycles / instructions"},
    {"opi", "operations per instruction", "what instructions are made of", NULL,
     "ops / instructions"},

    {"branch.miss_pct", "% of branches", "mispredicted", NULL, "100 * branch.miss / branch"},
    {"l1d.miss_pct", "% of accesses", "not in the first level", NULL,
     "100 * l1d.miss / l1d.access"},
    {"l1d.miss_pct", "% of accesses", "not in the first level", NULL,
     "100 * l1d.miss / (load + store)"},
    {"l1i.miss_pct", "% of accesses", "not in the first level", NULL,
     "100 * l1i.miss / l1i.access"},
    {"l2.miss_pct", "% of requests", "not in the second level", NULL, "100 * l2.miss / l2.access"},
    {"llc.miss_pct", "% of requests", "not on the chip", NULL, "100 * llc.miss / llc.access"},

    {"branch.mpki", "per 1000 instructions", "mispredicted branches", NULL,
     PER_THOUSAND("branch.miss")},
    {"l1d.mpki", "per 1000 instructions", "misses of the first level, data", NULL,
     PER_THOUSAND("l1d.miss")},
    {"l1i.mpki", "per 1000 instructions", "misses of the first level, code", NULL,
     PER_THOUSAND("l1i.miss")},
    {"l2.mpki", "per 1000 instructions", "misses of the second level", NULL,
     PER_THOUSAND("l2.miss")},
    {"llc.mpki", "per 1000 instructions", "misses of the chip", NULL, PER_THOUSAND("llc.miss")},
    {"tlb.mpki", "per 1000 instructions", "page table walks", NULL, PER_THOUSAND("tlb.miss")},
    {"remote_cache.mpki", "per 1000 instructions", "lines from other chips' caches", NULL,
     PER_THOUSAND("mem.remote_cache")},

    {"remote_pct", "% of data from beyond the core", "that came from another chip", NULL,
     "100 * (mem.remote_cache + mem.remote) / (mem.local_cache + mem.remote_cache + mem.local + "
     "mem.remote)"},
    {"remote_pct", "% of data from beyond the core", "that came from another chip", NULL,
     "100 * mem.remote / l2.miss"},

    {"stall.frontend_pct", "% of cycles", "without instructions", NULL,
     OF_CYCLES("stall.frontend")},
    {"stall.backend_pct", "% of cycles", "waiting for the back end", NULL,
     OF_CYCLES("stall.backend")},
    {"stall.mem_pct", "% of cycles", "waiting for data", NULL, OF_CYCLES("stall.mem")},

    {"topdown.retiring", "% of slots", "completed", NULL, OF_TOPDOWN("RETIRING")},
    {"topdown.retiring", "% of slots", "completed", "neoverse-n2-r0p2",
     "100 * OP_RETIRED / OP_SPEC" BUSY("(STALL_SLOT - cycles)")},
    {"topdown.retiring", "% of slots", "completed", NULL,
     "100 * OP_RETIRED / OP_SPEC" BUSY("STALL_SLOT")},
    {"topdown.retiring", "% of cycles", "completed", NULL,
     "100 * instructions / INST_SPEC" BUSY_CYCLES},
    {"topdown.retiring", "% of slots", "completed", NULL, OF_SLOTS("ops")},
    {"topdown.retiring", "% of cycles", "completed", "model", OF_CYCLES("COMPLETION")},

    {"topdown.bad_speculation", "% of slots", "wasted", NULL, OF_TOPDOWN("BAD_SPECULATION")},
    {"topdown.bad_speculation", "% of slots", "wasted", NULL,
     OF_SLOTS("(UOPS_ISSUED:ANY - ops + $slots * INT_MISC:RECOVERY_CYCLES)")},
    {"topdown.bad_speculation", "% of slots", "wasted", "zen4", OF_SLOTS("(" DECODED " - ops)")},
    {"topdown.bad_speculation", "% of slots", "wasted", "neoverse-n2-r0p2",
     "100 * (1 - OP_RETIRED / OP_SPEC)" BUSY("(STALL_SLOT - cycles)")},
    {"topdown.bad_speculation", "% of slots", "wasted", NULL,
     "100 * (1 - OP_RETIRED / OP_SPEC)" BUSY("STALL_SLOT")},
    {"topdown.bad_speculation", "% of cycles", "wasted", NULL,
     "100 * (1 - instructions / INST_SPEC)" BUSY_CYCLES},
    {"topdown.bad_speculation", "% of cycles", "wasted", "model", OF_CYCLES("STALL:BRANCH")},

    {"topdown.frontend", "% of slots", "empty: no instructions came", NULL,
     OF_TOPDOWN("FRONTEND_BOUND")},
    {"topdown.frontend", "% of slots", "empty: no instructions came", NULL,
     OF_SLOTS("IDQ_UOPS_NOT_DELIVERED:CORE")},
    {"topdown.frontend", "% of slots", "empty: no instructions came", NULL,
     OF_SLOTS("DISPATCH_STALLS_1:FE_NO_OPS")},
    {"topdown.frontend", "% of slots", "empty: no instructions came", "neoverse-n2-r0p2",
     OF_SLOTS("(STALL_SLOT_FRONTEND - cycles)")},
    {"topdown.frontend", "% of slots", "empty: no instructions came", NULL,
     OF_SLOTS("STALL_SLOT_FRONTEND")},
    {"topdown.frontend", "% of cycles", "empty: no instructions came", NULL,
     OF_CYCLES("STALL_FRONTEND")},
    {"topdown.frontend", "% of cycles", "empty: no instructions came", "model",
     OF_CYCLES("STALL:ICACHE")},

    {"topdown.backend", "% of slots", "empty: nothing could be taken", NULL,
     OF_TOPDOWN("BACKEND_BOUND")},
    {"topdown.backend", "% of slots", "empty: nothing could be taken", NULL,
     "100 - " OF_SLOTS(
         "(IDQ_UOPS_NOT_DELIVERED:CORE + UOPS_ISSUED:ANY + $slots * INT_MISC:RECOVERY_CYCLES)")},
    {"topdown.backend", "% of slots", "empty: nothing could be taken", NULL,
     OF_SLOTS("DISPATCH_STALLS_1:BE_STALLS")},
    {"topdown.backend", "% of slots", "empty: nothing could be taken", NULL,
     OF_SLOTS("STALL_SLOT_BACKEND")},
    {"topdown.backend", "% of cycles", "empty: nothing could be taken", NULL,
     OF_CYCLES("STALL_BACKEND")},
    {"topdown.backend", "% of cycles", "empty: nothing could be taken", "model",
     OF_CYCLES("(STALL:DCACHE + STALL:TLB + STALL:OTHER)")},

    {"topdown.other_thread", "% of slots", "given to the core's other thread", NULL,
     OF_SLOTS("DISPATCH_STALLS_1:SMT_CONTENTION")},
    {NULL, NULL, NULL, NULL, NULL},
};

static bool same_name(const char *a, const char *b)
{
    return text_same(a, b, text_length(b));
}

/* Returns 0 if the PMU has this row's events; else why not. */
static int try_row(const struct event_pmu *pmu, const struct metric *m,
                   struct metric_program *program, struct event *event, char *err, size_t err_size)
{
    int r = metric_parse(m->formula, pmu->table->slots, program, err, err_size);

    for (unsigned e = 0; e < program->events && !r; e++)
        r = event_parse(pmu, program->event[e], &event[e], err, err_size);
    return r;
}

static int unknown_metric(const char *name, char *err, size_t err_size)
{
    struct text message = {err, err_size};
    struct nearest near = {.text = name, .n = text_length(name)};

    for (const struct metric *m = metrics; m->name; m++)
        nearest_consider(&near, m->name);
    text_put(&message, "");
    text_put_quoted(&message, name, text_length(name));
    text_put(&message, " is no metric");
    text_put_nearest(&message, &near);
    return -ENOENT;
}

int metric_find(const struct event_pmu *pmu, const char *name, const struct metric **row,
                struct metric_program *program, struct event event[METRIC_EVENTS_MAX], char *err,
                size_t err_size)
{
    bool known = false;
    struct text message = {err, err_size};

    text_put(&message, "");
    for (const struct metric *m = metrics; m->name; m++) {
        if (!same_name(m->name, name))
            continue;
        if (!known) { /* the reason of the last row tried is appended */
            text_put(&message, name);
            text_put(&message, " is not available on ");
            text_put(&message, pmu->table->name);
            text_put(&message, ": ");
        }
        known = true;
        if (m->pmu && !same_name(m->pmu, pmu->table->name))
            continue;
        if (try_row(pmu, m, program, event, message.at, message.left))
            continue;
        *row = m;
        return 0;
    }
    return known ? -ENOTSUP : unknown_metric(name, err, err_size);
}
