/* The events that can be recorded: one table to write them by, and to describe them to readers. */
#pragma once
#include "kernel/trace/ctf.h"

enum trace_event {
    TRACE_THREAD_START,
    TRACE_THREAD_EXIT,
    TRACE_PROCESS_START,
    TRACE_PROCESS_EXIT,
    TRACE_SCHED_SWITCH,
    TRACE_SCHED_MIGRATE,
    TRACE_SHARING_WATCH,
    TRACE_SHARING_DECISION,
    TRACE_SHARING_PLACED,
    TRACE_COUNTERS,
    TRACE_SAMPLE,
    TRACE_MARK,
    TRACE_MEMORY,
    TRACE_MEMORY_POLICY,
    TRACE_MEMORY_PREFETCH,
    TRACE_MEMORY_PLAN,
    TRACE_MEMORY_CURVE,
    TRACE_TRACKER,
    TRACE_TRACKER_WATCH,
    TRACE_TRACKER_SAMPLE,
    TRACE_THREAD_NAME,
    TRACE_QUANTA,
    TRACE_QUANTUM,
    TRACE_QUANTUM_SUM,
    TRACE_QUANTA_TOTAL,
    TRACE_WAKE,
    TRACE_LINE,
    TRACE_VALUE_NAME,
    TRACE_VALUE,
    TRACE_FREQUENCY,
    TRACE_EVENTS
};

/* The reason that a CPU stopped running a thread. */
enum trace_left {
    TRACE_PREEMPTED,
    TRACE_YIELDED,
    TRACE_BLOCKED,
    TRACE_EXITED,
    TRACE_IDLE,
    TRACE_SLEPT,   /* until a time */
    TRACE_RUNNING, /* it runs on; the recording ends */
    TRACE_MARKED   /* it runs on; it has set a mark */
};
/* How a thread became ready. */
enum trace_wake {
    TRACE_STAYED, /* it had given the CPU away, and did not sleep */
    TRACE_CREATED,
    TRACE_BY_THREAD,
    TRACE_BY_INTERRUPT,
    TRACE_BY_TIME, /* its sleep, or its wait, was over */
    TRACE_BY_SIGNAL
};
/* How the kernel knows the frequency of a CPU. */
enum trace_frequency {
    TRACE_FREQUENCY_MEASURED,
    TRACE_FREQUENCY_SET /* it has asked for it */
};
/* The reason that a thread moved to another CPU. */
enum trace_moved {
    TRACE_WOKEN,
    TRACE_PULLED_CORE,
    TRACE_PULLED_CHIP,
    TRACE_PULLED_MACHINE,
    TRACE_REQUESTED
};

/* Events as they are in a packet, for those who write them there (telemetry_place). */
#define TRACE_COUNTS 7
struct trace_quantum {
    uint32_t tid, next_tid, waker;
    uint8_t left, woken;
    uint64_t start_ns;
    uint32_t ran_ns, waited_ns, count[TRACE_COUNTS];
} __attribute__((packed));
struct trace_quantum_sum {
    uint32_t tid, next_tid, waker, quanta;
    uint16_t on_cpu;
    uint8_t left, woken;
    uint64_t start_ns, end_ns, ran_ns, waited_ns, count[TRACE_COUNTS];
} __attribute__((packed));
struct trace_wake_up {
    uint32_t tid, waker;
    uint16_t to_cpu;
    uint8_t cause;
    uint64_t ready_ns;
} __attribute__((packed));

extern const struct ctf_event trace_events[]; /* indexed by enum trace_event; ended by name NULL */
#define TRACE_FIELDS_MAX 64
/* Returns the number of fields of an event. */
unsigned trace_fields(enum trace_event id);
