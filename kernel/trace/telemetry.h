/*
 * Records what the kernel does, as events in the order of time, for a reader outside
 * (docs/use/telemetry.md). Each function records one event if it is wanted, and costs a branch
 * otherwise. They are called from all subsystems: they know numbers and texts only, and neither
 * wait nor take a lock. Any context but NMI and FIQ.
 */
#pragma once
#include "kernel/core/cmdline.h"
#include "kernel/trace/events.h"

extern const struct arg telemetry_args[]; /* boot arguments telemetry, telemetry.* */

/* Bits of the boot argument telemetry. */
enum {
    TELEMETRY_SCHED = 1 << 0,
    TELEMETRY_SHARING = 1 << 1,
    TELEMETRY_COUNTERS = 1 << 2,
    TELEMETRY_SAMPLES = 1 << 3,
    TELEMETRY_MARKS = 1 << 4,
    TELEMETRY_MEMORY = 1 << 5,
    TELEMETRY_QUANTA = 1 << 6,
    TELEMETRY_LINES = 1 << 7,
    TELEMETRY_VALUES = 1 << 8,
    TELEMETRY_ANY = TELEMETRY_SCHED | TELEMETRY_SHARING | TELEMETRY_COUNTERS | TELEMETRY_SAMPLES |
                    TELEMETRY_MARKS | TELEMETRY_MEMORY | TELEMETRY_QUANTA | TELEMETRY_LINES |
                    TELEMETRY_VALUES,
};
extern uint64_t telemetry_on; /* what is recorded now; use telemetry_wants() */

static inline bool telemetry_wants(uint64_t what)
{
    return __builtin_expect((__atomic_load_n(&telemetry_on, __ATOMIC_RELAXED) & what) != 0, 0);
}

/* Returns whether the boot arguments ask for it. Any context, once they are read. */
bool telemetry_asked(uint64_t what);
/* Boot arguments: trace.counts is topdown; trace.frequency; quanta told as one (struct
 * quantum_rule). */
extern uint64_t trace_counts, trace_frequency, trace_every, trace_cycles;

/* Records an event; values[i] belongs to field i of the event in events.c. Returns false if there
 * is no room: it is discarded and counted. */
bool telemetry_put(enum trace_event id, const uint64_t *values);
/* As telemetry_put, for an event without texts whose fields take `bytes` bytes, of time now_ns, or
 * that of the CPU's event before, whichever is later: returns where they are to be written, before
 * interrupts are on again, or NULL. Interrupts off. */
void *telemetry_place(enum trace_event id, uint32_t bytes, uint64_t now_ns);

#define TELEMETRY_PUT(what, id, ...)                            \
    do {                                                        \
        if (telemetry_wants(what))                              \
            telemetry_put(id, (const uint64_t[]){__VA_ARGS__}); \
    } while (0)

/* Threads and processes are recorded if anything is. */
static inline void telemetry_thread_start(uint32_t tid, uint32_t pid, unsigned cpu,
                                          const char *name)
{
    TELEMETRY_PUT(TELEMETRY_ANY, TRACE_THREAD_START, tid, pid, cpu, ctf_text(name));
}
static inline void telemetry_thread_exit(uint32_t tid)
{
    TELEMETRY_PUT(TELEMETRY_ANY, TRACE_THREAD_EXIT, tid);
}
static inline void telemetry_process_start(uint32_t pid, const char *program)
{
    TELEMETRY_PUT(TELEMETRY_ANY, TRACE_PROCESS_START, pid, ctf_text(program));
}
static inline void telemetry_process_exit(uint32_t pid, int status)
{
    TELEMETRY_PUT(TELEMETRY_ANY, TRACE_PROCESS_EXIT, pid, (uint32_t)status);
}
/* The thread has given itself a name. */
static inline void telemetry_thread_name(uint32_t tid, const char *name)
{
    TELEMETRY_PUT(TELEMETRY_ANY, TRACE_THREAD_NAME, tid, ctf_text(name));
}
/* Called on the CPU that switches. tid 0: idle. */
static inline void telemetry_sched_switch(uint32_t prev, uint32_t next, uint32_t next_pid,
                                          enum trace_left reason)
{
    TELEMETRY_PUT(TELEMETRY_SCHED, TRACE_SCHED_SWITCH, prev, next, next_pid, reason);
}
static inline void telemetry_sched_migrate(uint32_t tid, unsigned from, unsigned to,
                                           enum trace_moved why)
{
    TELEMETRY_PUT(TELEMETRY_SCHED, TRACE_SCHED_MIGRATE, tid, from, to, why);
}
/* remote_permille: the part of its cycles that a process waited for caches of other chips, in
 * thousandths. */
static inline void telemetry_sharing_watch(uint32_t pid, uint32_t remote_permille)
{
    TELEMETRY_PUT(TELEMETRY_SHARING, TRACE_SHARING_WATCH, pid, remote_permille);
}
static inline void telemetry_sharing_decision(uint32_t pid, const char *phase, const char *reason,
                                              const char *details)
{
    TELEMETRY_PUT(TELEMETRY_SHARING, TRACE_SHARING_DECISION, pid, ctf_text(phase), ctf_text(reason),
                  ctf_text(details));
}
/* cluster, chip: negative for none. */
static inline void telemetry_sharing_placed(uint32_t pid, uint32_t tid, int cluster, int chip,
                                            unsigned from, unsigned to)
{
    TELEMETRY_PUT(TELEMETRY_SHARING, TRACE_SHARING_PLACED, pid, tid, (uint32_t)cluster,
                  (uint32_t)chip, from, to);
}
/* What quanta have (quanta.c of sched): names of counts, struct quantum_rule, and the frequency of
 * the count `reference`; 0: there is none. */
static inline void telemetry_quanta(const char *counts, uint64_t every, uint64_t cycles,
                                    uint64_t reference_hz)
{
    TELEMETRY_PUT(TELEMETRY_QUANTA, TRACE_QUANTA, ctf_text(counts), every, cycles, reference_hz);
}
static inline void telemetry_mark(uint32_t tid, const char *label)
{
    TELEMETRY_PUT(TELEMETRY_MARKS, TRACE_MARK, tid, ctf_text(label));
}
/* The thread has ended a line on the console. */
static inline void telemetry_line(uint32_t tid, const char *text)
{
    TELEMETRY_PUT(TELEMETRY_LINES, TRACE_LINE, tid, ctf_text(text));
}
/* A figure of a log (hpm/log.h), and totals of it. */
static inline void telemetry_value_name(unsigned log, unsigned figure, const char *name)
{
    TELEMETRY_PUT(TELEMETRY_VALUES, TRACE_VALUE_NAME, log, figure, ctf_text(name));
}
static inline void telemetry_value(unsigned log, unsigned figure, uint32_t tid, uint64_t counted,
                                   uint64_t seen, uint64_t length)
{
    TELEMETRY_PUT(TELEMETRY_VALUES, TRACE_VALUE, log, figure, tid, counted, seen, length);
}

/* A process's part of a division of memory. */
struct telemetry_plan {
    uint32_t before, planned;      /* pages that the process had, and is to have */
    uint32_t target;               /* ... that it keeps on the way there */
    uint32_t hot;                  /* ... that are used all the time */
    uint32_t step;                 /* ... by which its share may grow or shrink */
    uint64_t waited_us;            /* time that it waited since the last look */
    uint64_t lost;                 /* millionths of its speed that it will lose to waiting */
    uint64_t lost_more, lost_less; /* ... with a step more, and a step less */
};
static inline void telemetry_memory_plan(uint32_t pid, const char *goal,
                                         const struct telemetry_plan *p)
{
    TELEMETRY_PUT(TELEMETRY_MEMORY, TRACE_MEMORY_PLAN, pid, ctf_text(goal), p->before, p->planned,
                  p->target, p->hot, p->waited_us, p->lost, p->step, p->lost_more, p->lost_less);
}
static inline void telemetry_tracker_watch(uint32_t pid, const char *tracker, bool watched)
{
    TELEMETRY_PUT(TELEMETRY_MEMORY, TRACE_TRACKER_WATCH, pid, ctf_text(tracker), watched);
}
static inline void telemetry_tracker_sample(unsigned shift)
{
    TELEMETRY_PUT(TELEMETRY_MEMORY, TRACE_TRACKER_SAMPLE, (uint64_t)1 << shift);
}

/* ---- Start and end (main) -------------------------------------------------------------------- */
/* Allocates memory for `cpus` CPUs and starts recording. Boot CPU, after the clock and before the
 * first thread. */
void telemetry_init(unsigned cpus);
/* Opens the port and starts the thread that empties the CPUs' memory into it. Without a port it
 * prints a line and recording stops. The first thread, once all CPUs run. */
void telemetry_start(void);
/* Stops recording, sends everything recorded, and prints how much, within a bounded time. Thread
 * context. */
void telemetry_stop(void);
