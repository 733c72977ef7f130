/* The quantum tracer, private to sched/: see quanta.c. All but quanta_started and quanta_freed are
 * called with the thread's run queue locked, and only while telemetry_wants(TELEMETRY_QUANTA). */
#pragma once
#include "sched/runqueue.h"

/* This CPU switches at now_ns, its counts are handed out. `out` leaves for the reason `left`; `in`
 * was ready since ready_ns. NULL: the idle thread. */
void quanta_switch(struct thread *out, struct thread *in, uint64_t now_ns, uint64_t ready_ns,
                   enum trace_left left);
/* `t` has become ready, by the caller. */
void quanta_woken(struct thread *t, enum trace_wake cause);
/* Add and remove a thread that is to be told at the end. No lock of rank LOCK_THREAD or higher is
 * held. */
void quanta_started(struct thread *t);
void quanta_freed(struct thread *t);
