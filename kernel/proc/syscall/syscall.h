/*
 * System calls. Linux's have its numbers and structures (calls.def); Vigil's own are described in
 * kernel/proc/abi.h, and their numbers begin at SYS_FIRST. The handler of a call stands in the file
 * of its subject.
 *
 * A handler checks all arguments before it changes anything; pointers go through the copies of
 * user.h and arch.h, which check every address. It returns the call's result or a negative error
 * number. Thread context, interrupts on. It need not look whether the process is ending: that is
 * checked on the way back to user mode.
 */
#pragma once
#include "kernel/proc/internal.h"

struct call {
    struct process *p; /* the caller's */
    struct thread *t;  /* the caller */
    /* The caller's registers. A handler that changes them returns what the result register gets. */
    struct arch_frame *frame;
    const uint64_t *a; /* its six arguments */
};

typedef int64_t handler(const struct call *c);

/* One row for each of Vigil's own calls: number, name, handler. */
#define VIGIL_CALLS(ROW)                                            \
    /* memory.c */                                                  \
    ROW(SYS_MMAP_DISK, "mmap_disk", vigil_mmap_disk)                \
    ROW(SYS_MEMORY, "memory", vigil_memory)                         \
    ROW(SYS_REGIONS, "regions", vigil_regions)                      \
    ROW(SYS_CURVE, "curve", vigil_curve)                            \
    /* thread.c */                                                  \
    ROW(SYS_GROUP, "group", vigil_group)                            \
    /* process.c */                                                 \
    ROW(SYS_SPAWN, "spawn", vigil_spawn)                            \
    ROW(SYS_NEXT_PID, "next_pid", vigil_next_pid)                   \
    ROW(SYS_WAIT, "wait", vigil_wait)                               \
    ROW(SYS_THREADS, "threads", vigil_threads)                      \
    ROW(SYS_SYMBOL, "symbol", vigil_symbol)                         \
    /* hpm.c */                                                     \
    ROW(SYS_MARK, "mark", vigil_mark)                               \
    ROW(SYS_HPM_READ, "hpm_read", vigil_hpm_read)                   \
    ROW(SYS_HPM_LIST, "hpm_list", vigil_hpm_list)                   \
    ROW(SYS_HPM_OPEN, "hpm_open", vigil_hpm_open)                   \
    ROW(SYS_HPM_VALUES, "hpm_values", vigil_hpm_values)             \
    ROW(SYS_HPM_CLOSE, "hpm_close", vigil_hpm_close)                \
    ROW(SYS_HPM_SHOW, "hpm_show", vigil_hpm_show)                   \
    ROW(SYS_HPM_TURNS, "hpm_turns", vigil_hpm_turns)                \
    ROW(SYS_HPM_LOG, "hpm_log", vigil_hpm_log)                      \
    ROW(SYS_HPM_LOG_TAKE, "hpm_log_take", vigil_hpm_log_take)       \
    ROW(SYS_SAMPLE_OPEN, "sample_open", vigil_sample_open)          \
    ROW(SYS_SAMPLE_TAKE, "sample_take", vigil_sample_take)          \
    ROW(SYS_SAMPLE_ACCOUNT, "sample_account", vigil_sample_account) \
    ROW(SYS_SAMPLE_CLOSE, "sample_close", vigil_sample_close)       \
    ROW(SYS_SAMPLE_CHAIN, "sample_chain", vigil_sample_chain)       \
    /* state.c */                                                   \
    ROW(SYS_CPUS, "cpus", vigil_cpus)                               \
    ROW(SYS_THREAD_STATES, "thread_states", vigil_thread_states)    \
    ROW(SYS_SHARING, "sharing", vigil_sharing)                      \
    ROW(SYS_DECISIONS, "decisions", vigil_decisions)                \
    /* knob.c */                                                    \
    ROW(SYS_KNOB_LIST, "knob_list", vigil_knob_list)                \
    ROW(SYS_KNOB_SET, "knob_set", vigil_knob_set)

#define CALL(number, name, handle) handler handle;
#define REFUSED(number, name)
#include "linux_calls.h"
#undef REFUSED
#undef CALL
#define DECLARE_HANDLER(number, name, handle) handler handle;
VIGIL_CALLS(DECLARE_HANDLER)
#undef DECLARE_HANDLER
