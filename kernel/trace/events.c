/* See events.h. What each event means is in docs/use/telemetry.md. */
#include "kernel/trace/events.h"

static const char *const left_names[] = {"preempted", "yielded", "blocked", "exited", "idle",
                                         "slept",     "running", "marked",  NULL};
static const char *const wake_names[] = {"stayed", "created", "thread", "interrupt",
                                         "time",   "signal",  NULL};
static const char *const moved_names[] = {"woken",          "pulled_core", "pulled_chip",
                                          "pulled_machine", "requested",   NULL};
static const char *const source_names[] = {
    "l1",           "local_l2",      "local_l3", "remote_l2", "remote_l3",
    "local_memory", "remote_memory", "none",     NULL};
static const char *const mode_names[] = {"kernel", "user", NULL};
static const char *const frequency_names[] = {"measured", "set", NULL};
static const char *const access_names[] = {"load", "store", "fetch", NULL};
static const char *const scope_names[] = {"cpu", "process", "thread", NULL};

static const char *const watched_names[] = {"no", "yes", NULL};

/* Misses with 1/16, 2/16, ... of the pages used. */
#define CURVE(p)                                                                         \
    {#p "_1", CTF_U64, NULL}, {#p "_2", CTF_U64, NULL}, {#p "_3", CTF_U64, NULL},        \
        {#p "_4", CTF_U64, NULL}, {#p "_5", CTF_U64, NULL}, {#p "_6", CTF_U64, NULL},    \
        {#p "_7", CTF_U64, NULL}, {#p "_8", CTF_U64, NULL}, {#p "_9", CTF_U64, NULL},    \
        {#p "_10", CTF_U64, NULL}, {#p "_11", CTF_U64, NULL}, {#p "_12", CTF_U64, NULL}, \
        {#p "_13", CTF_U64, NULL}, {#p "_14", CTF_U64, NULL}, {#p "_15", CTF_U64, NULL}, \
    {                                                                                    \
#p "_16", CTF_U64, NULL                                                          \
    }

/* A count, and the number of cycles in which it was counted. */
#define FIGURE(name)                 \
    {#name, CTF_U64, NULL},          \
    {                                \
#name "_seen", CTF_U64, NULL \
    }

/* The counts that event quanta names, in its order; 0 where there are fewer. */
#define COUNTS(kind)                                                               \
    {"count_1", kind, NULL}, {"count_2", kind, NULL}, {"count_3", kind, NULL},     \
        {"count_4", kind, NULL}, {"count_5", kind, NULL}, {"count_6", kind, NULL}, \
    {                                                                              \
        "count_7", kind, NULL                                                      \
    }

#define FIELDS(...)            \
    (const struct ctf_field[]) \
    {                          \
        __VA_ARGS__,           \
        {                      \
            0                  \
        }                      \
    }

const struct ctf_event trace_events[] = {
    [TRACE_THREAD_START] = {"thread_start",
                            FIELDS({"tid", CTF_U32, NULL}, {"pid", CTF_U32, NULL},
                                   {"cpu", CTF_U16, NULL}, {"thread_name", CTF_TEXT, NULL})},
    [TRACE_THREAD_EXIT] = {"thread_exit", FIELDS({"tid", CTF_U32, NULL})},
    [TRACE_PROCESS_START] = {"process_start",
                             FIELDS({"pid", CTF_U32, NULL}, {"program", CTF_TEXT, NULL})},
    [TRACE_PROCESS_EXIT] = {"process_exit",
                            FIELDS({"pid", CTF_U32, NULL}, {"status", CTF_S32, NULL})},
    [TRACE_SCHED_SWITCH] = {"sched_switch",
                            FIELDS({"prev_tid", CTF_U32, NULL}, {"next_tid", CTF_U32, NULL},
                                   {"next_pid", CTF_U32, NULL}, {"reason", CTF_U8, left_names})},
    [TRACE_SCHED_MIGRATE] = {"sched_migrate",
                             FIELDS({"tid", CTF_U32, NULL}, {"from_cpu", CTF_U16, NULL},
                                    {"to_cpu", CTF_U16, NULL}, {"why", CTF_U8, moved_names})},
    [TRACE_SHARING_WATCH] = {"sharing_watch",
                             FIELDS({"pid", CTF_U32, NULL}, {"remote_permille", CTF_U32, NULL})},
    [TRACE_SHARING_DECISION] = {"sharing_decision",
                                FIELDS({"pid", CTF_U32, NULL}, {"phase", CTF_TEXT, NULL},
                                       {"reason", CTF_TEXT, NULL}, {"details", CTF_TEXT, NULL})},
    [TRACE_SHARING_PLACED] = {"sharing_placed",
                              FIELDS({"pid", CTF_U32, NULL}, {"tid", CTF_U32, NULL},
                                     {"cluster", CTF_S32, NULL}, {"chip", CTF_S32, NULL},
                                     {"from_cpu", CTF_U16, NULL}, {"to_cpu", CTF_U16, NULL})},
    /* In the order of struct hpm_breakdown: each count as measured, and the cycles in which it was
     * counted. */
    [TRACE_COUNTERS] = {"counters",
                        FIELDS({"scope", CTF_U8, scope_names}, {"number", CTF_U32, NULL},
                               {"cycles", CTF_U64, NULL}, {"instructions", CTF_U64, NULL},
                               {"idle_cycles", CTF_U64, NULL}, FIGURE(stall_icache),
                               FIGURE(stall_branch), FIGURE(stall_dcache), FIGURE(stall_tlb),
                               FIGURE(stall_other), FIGURE(stall_frontend), FIGURE(stall_backend),
                               FIGURE(dcache_l1), FIGURE(dcache_local_l2), FIGURE(dcache_local_l3),
                               FIGURE(dcache_remote_l2), FIGURE(dcache_remote_l3),
                               FIGURE(dcache_local_memory), FIGURE(dcache_remote_memory),
                               FIGURE(served_l1), FIGURE(served_local_l2), FIGURE(served_local_l3),
                               FIGURE(served_remote_l2), FIGURE(served_remote_l3),
                               FIGURE(served_local_memory), FIGURE(served_remote_memory),
                               FIGURE(missed_branch), FIGURE(missed_l1i), FIGURE(missed_l1d),
                               FIGURE(missed_l2), FIGURE(missed_last_level), FIGURE(missed_itlb),
                               FIGURE(missed_dtlb), FIGURE(missed_chip))},
    [TRACE_SAMPLE] = {"sample",
                      FIELDS({"cycles", CTF_U64, NULL}, {"pc", CTF_HEX, NULL},
                             {"data", CTF_HEX, NULL}, {"data_phys", CTF_HEX, NULL},
                             {"tid", CTF_U32, NULL}, {"pid", CTF_U32, NULL},
                             {"latency", CTF_U16, NULL}, {"source", CTF_U8, source_names},
                             {"mode", CTF_U8, mode_names}, {"access", CTF_U8, access_names},
                             {"criterion", CTF_TEXT, NULL}, {"period", CTF_U32, NULL},
                             {"walk", CTF_U16, NULL}, {"atomic", CTF_U8, NULL},
                             {"modified", CTF_U8, NULL})},
    [TRACE_MARK] = {"mark", FIELDS({"tid", CTF_U32, NULL}, {"label", CTF_TEXT, NULL})},
    /* In the order of kernel/report/memory.c. */
    [TRACE_MEMORY] = {"memory",
                      FIELDS({"pid", CTF_U32, NULL}, {"resident_pages", CTF_U64, NULL},
                             {"out_pages", CTF_U64, NULL}, {"pool_pages", CTF_U64, NULL},
                             {"limit_pages", CTF_U64, NULL}, {"target_pages", CTF_U32, NULL},
                             {"first_faults", CTF_U64, NULL}, {"minor_faults", CTF_U64, NULL},
                             {"major_faults", CTF_U64, NULL}, {"waited_us", CTF_U64, NULL},
                             {"page_ins", CTF_U64, NULL}, {"page_outs", CTF_U64, NULL},
                             {"clean_outs", CTF_U64, NULL}, {"prefetched", CTF_U64, NULL},
                             {"prefetched_used", CTF_U64, NULL}, {"wasted", CTF_U64, NULL})},
    [TRACE_MEMORY_POLICY] = {"memory_policy",
                             FIELDS({"pid", CTF_U32, NULL}, {"region", CTF_TEXT, NULL},
                                    {"policy", CTF_TEXT, NULL}, {"changes", CTF_U64, NULL})},
    [TRACE_MEMORY_PREFETCH] = {"memory_prefetch",
                               FIELDS({"pid", CTF_U32, NULL}, {"policy", CTF_TEXT, NULL},
                                      {"level", CTF_U32, NULL})},
    [TRACE_MEMORY_PLAN] = {"memory_plan",
                           FIELDS({"pid", CTF_U32, NULL}, {"goal", CTF_TEXT, NULL},
                                  {"before_pages", CTF_U32, NULL}, {"planned_pages", CTF_U32, NULL},
                                  {"target_pages", CTF_U32, NULL}, {"hot_pages", CTF_U32, NULL},
                                  {"waited_us", CTF_U64, NULL}, {"lost_ppm", CTF_U64, NULL},
                                  {"step_pages", CTF_U32, NULL}, {"lost_more_ppm", CTF_U64, NULL},
                                  {"lost_less_ppm", CTF_U64, NULL})},
    [TRACE_MEMORY_CURVE] = {"memory_curve",
                            FIELDS({"pid", CTF_U32, NULL}, {"epoch", CTF_U64, NULL},
                                   {"pages", CTF_U64, NULL}, {"accesses", CTF_U64, NULL},
                                   {"first_uses", CTF_U64, NULL}, {"has_mru", CTF_U8, NULL},
                                   CURVE(lru), CURVE(mru))},
    [TRACE_TRACKER] = {"tracker", FIELDS({"spaces", CTF_U32, NULL}, {"records", CTF_U64, NULL},
                                         {"lost", CTF_U64, NULL}, {"interrupts", CTF_U64, NULL},
                                         {"cost_us", CTF_U64, NULL}, {"ran_us", CTF_U64, NULL})},
    [TRACE_TRACKER_WATCH] = {"tracker_watch",
                             FIELDS({"pid", CTF_U32, NULL}, {"tracker", CTF_TEXT, NULL},
                                    {"watched", CTF_U8, watched_names})},
    [TRACE_TRACKER_SAMPLE] = {"tracker_sample", FIELDS({"one_page_of", CTF_U32, NULL})},
    [TRACE_THREAD_NAME] = {"thread_name",
                           FIELDS({"tid", CTF_U32, NULL}, {"thread_name", CTF_TEXT, NULL})},
    [TRACE_QUANTA] = {"quanta", FIELDS({"counts", CTF_TEXT, NULL}, {"every", CTF_U64, NULL},
                                       {"cycles", CTF_U64, NULL}, {"reference_hz", CTF_U64, NULL})},
    /* These two, and wake, as the structures of events.h. */
    [TRACE_QUANTUM] = {"quantum",
                       FIELDS({"tid", CTF_U32, NULL}, {"next_tid", CTF_U32, NULL},
                              {"waker", CTF_U32, NULL}, {"left", CTF_U8, left_names},
                              {"woken", CTF_U8, wake_names}, {"start", CTF_U64, NULL},
                              {"ran", CTF_U32, NULL}, {"waited", CTF_U32, NULL}, COUNTS(CTF_U32))},
    [TRACE_QUANTUM_SUM] = {"quantum_sum",
                           FIELDS({"tid", CTF_U32, NULL}, {"next_tid", CTF_U32, NULL},
                                  {"waker", CTF_U32, NULL}, {"quanta", CTF_U32, NULL},
                                  {"on_cpu", CTF_U16, NULL}, {"left", CTF_U8, left_names},
                                  {"woken", CTF_U8, wake_names}, {"start", CTF_U64, NULL},
                                  {"end", CTF_U64, NULL}, {"ran", CTF_U64, NULL},
                                  {"waited", CTF_U64, NULL}, COUNTS(CTF_U64))},
    [TRACE_QUANTA_TOTAL] = {"quanta_total",
                            FIELDS({"tid", CTF_U32, NULL}, {"quanta", CTF_U64, NULL},
                                   {"late", CTF_U64, NULL}, {"ran", CTF_U64, NULL},
                                   {"waited", CTF_U64, NULL}, COUNTS(CTF_U64))},
    [TRACE_WAKE] = {"wake", FIELDS({"tid", CTF_U32, NULL}, {"waker", CTF_U32, NULL},
                                   {"to_cpu", CTF_U16, NULL}, {"cause", CTF_U8, wake_names},
                                   {"ready", CTF_U64, NULL})},
    [TRACE_LINE] = {"line", FIELDS({"tid", CTF_U32, NULL}, {"text", CTF_TEXT, NULL})},
    [TRACE_VALUE_NAME] = {"value_name", FIELDS({"log", CTF_U8, NULL}, {"figure", CTF_U8, NULL},
                                               {"value_name", CTF_TEXT, NULL})},
    [TRACE_VALUE] = {"value", FIELDS({"log", CTF_U8, NULL}, {"figure", CTF_U8, NULL},
                                     {"tid", CTF_U32, NULL}, {"counted", CTF_U64, NULL},
                                     {"seen", CTF_U64, NULL}, {"length", CTF_U64, NULL})},
    [TRACE_FREQUENCY] = {"frequency", FIELDS({"khz", CTF_U32, NULL}, {"pstate", CTF_U8, NULL},
                                             {"how", CTF_U8, frequency_names})},
    [TRACE_EVENTS] = {0},
};

unsigned trace_fields(enum trace_event id)
{
    unsigned n = 0;

    while (trace_events[id].fields[n].name)
        n++;
    return n;
}
