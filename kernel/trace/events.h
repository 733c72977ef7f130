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
    TRACE_EVENTS
};

/* The reason that a CPU stopped running a thread. */
enum trace_left { TRACE_PREEMPTED, TRACE_YIELDED, TRACE_BLOCKED, TRACE_EXITED, TRACE_IDLE };
/* The reason that a thread moved to another CPU. */
enum trace_moved {
    TRACE_WOKEN,
    TRACE_PULLED_CORE,
    TRACE_PULLED_CHIP,
    TRACE_PULLED_MACHINE,
    TRACE_REQUESTED
};

extern const struct ctf_event trace_events[]; /* indexed by enum trace_event; ended by name NULL */
#define TRACE_FIELDS_MAX 64
/* Returns the number of fields of an event. */
unsigned trace_fields(enum trace_event id);
