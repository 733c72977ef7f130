/*
 * The list of system calls. kernel/proc/abi.h describes each one; its handler stands in the file of
 * its subject.
 *
 * A handler gets the calling process and the call's six arguments. It checks all arguments before
 * it changes anything; pointers go through the copies of user.h and arch.h, which check every
 * address. It returns the call's result or a negative error number. Thread context, interrupts on.
 * It need not look whether the process is ending: that is checked on the way back to user mode.
 */
#pragma once
#include "kernel/proc/internal.h"

typedef int64_t handler(struct process *p, const uint64_t a[6]);

/* One row for each system call: number, name, handler. */
#define SYSTEM_CALLS(ROW)                                         \
    /* console.c */                                               \
    ROW(SYS_READ, "read", sys_read)                               \
    ROW(SYS_WRITE, "write", sys_write)                            \
    /* memory.c */                                                \
    ROW(SYS_MMAP, "mmap", sys_mmap)                               \
    ROW(SYS_MMAP_DISK, "mmap_disk", sys_mmap_disk)                \
    ROW(SYS_MUNMAP, "munmap", sys_munmap)                         \
    ROW(SYS_MPROTECT, "mprotect", sys_mprotect)                   \
    ROW(SYS_MADVISE, "madvise", sys_madvise)                      \
    ROW(SYS_MEMORY, "memory", sys_memory)                         \
    ROW(SYS_REGIONS, "regions", sys_regions)                      \
    ROW(SYS_CURVE, "curve", sys_curve)                            \
    /* thread.c */                                                \
    ROW(SYS_EXIT, "exit", sys_exit)                               \
    ROW(SYS_THREAD_CREATE, "thread_create", sys_thread_create)    \
    ROW(SYS_THREAD_EXIT, "thread_exit", sys_thread_exit)          \
    ROW(SYS_GETPID, "getpid", sys_getpid)                         \
    ROW(SYS_GETTID, "gettid", sys_gettid)                         \
    ROW(SYS_SET_TLS, "set_tls", sys_set_tls)                      \
    ROW(SYS_FUTEX_WAIT, "futex_wait", sys_futex_wait)             \
    ROW(SYS_FUTEX_WAKE, "futex_wake", sys_futex_wake)             \
    ROW(SYS_YIELD, "yield", sys_yield)                            \
    ROW(SYS_SLEEP, "sleep", sys_sleep)                            \
    ROW(SYS_CLOCK, "clock", sys_clock)                            \
    ROW(SYS_CPU_TIME, "cpu_time", sys_cpu_time)                   \
    ROW(SYS_GETCPU, "getcpu", sys_getcpu)                         \
    ROW(SYS_SET_AFFINITY, "set_affinity", sys_set_affinity)       \
    ROW(SYS_GET_AFFINITY, "get_affinity", sys_get_affinity)       \
    ROW(SYS_SET_PRIORITY, "set_priority", sys_set_priority)       \
    ROW(SYS_GROUP, "group", sys_group)                            \
    /* process.c */                                               \
    ROW(SYS_SPAWN, "spawn", sys_spawn)                            \
    ROW(SYS_NEXT_PID, "next_pid", sys_next_pid)                   \
    ROW(SYS_WAIT, "wait", sys_wait)                               \
    ROW(SYS_THREADS, "threads", sys_threads)                      \
    ROW(SYS_SYMBOL, "symbol", sys_symbol)                         \
    ROW(SYS_SYSINFO, "sysinfo", sys_sysinfo)                      \
    /* hpm.c */                                                   \
    ROW(SYS_MARK, "mark", sys_mark)                               \
    ROW(SYS_HPM_READ, "hpm_read", sys_hpm_read)                   \
    ROW(SYS_HPM_LIST, "hpm_list", sys_hpm_list)                   \
    ROW(SYS_HPM_OPEN, "hpm_open", sys_hpm_open)                   \
    ROW(SYS_HPM_VALUES, "hpm_values", sys_hpm_values)             \
    ROW(SYS_HPM_CLOSE, "hpm_close", sys_hpm_close)                \
    ROW(SYS_HPM_SHOW, "hpm_show", sys_hpm_show)                   \
    ROW(SYS_SAMPLE_OPEN, "sample_open", sys_sample_open)          \
    ROW(SYS_SAMPLE_TAKE, "sample_take", sys_sample_take)          \
    ROW(SYS_SAMPLE_ACCOUNT, "sample_account", sys_sample_account) \
    ROW(SYS_SAMPLE_CLOSE, "sample_close", sys_sample_close)

#define DECLARE_HANDLER(number, name, handle) handler handle;
SYSTEM_CALLS(DECLARE_HANDLER)
#undef DECLARE_HANDLER
