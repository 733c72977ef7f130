/*
 * Handlers of the system calls that abi.h describes: p is the calling process, a holds the six
 * arguments. A handler checks its arguments before it does anything; pointers go through the user
 * copies, which check every address. Returns the call's result, or a negative error.
 *
 * Thread context, interrupts on. A process that is ending is noticed on the way back to user mode,
 * so a handler only has to come to its end.
 */
#pragma once
#include "kernel/proc/internal.h"

typedef int64_t handler(struct process *p, const uint64_t a[6]);

/* console.c */
handler sys_write, sys_read;

/* memory.c */
handler sys_mmap, sys_mmap_disk, sys_munmap, sys_mprotect, sys_madvise, sys_memory, sys_regions;
handler sys_curve;

/* thread.c */
handler sys_exit, sys_thread_create, sys_thread_exit, sys_getpid, sys_gettid, sys_set_tls;
handler sys_futex_wait, sys_futex_wake, sys_yield, sys_sleep, sys_clock, sys_cpu_time;
handler sys_getcpu, sys_set_affinity, sys_get_affinity, sys_set_priority, sys_group;

/* process.c */
handler sys_spawn, sys_next_pid, sys_wait, sys_threads, sys_symbol, sys_sysinfo;

/* hpm.c */
handler sys_mark, sys_hpm_read, sys_hpm_list, sys_hpm_print, sys_hpm_open, sys_hpm_values;
handler sys_hpm_close, sys_hpm_show, sys_sample_open, sys_sample_take, sys_sample_account;
handler sys_sample_close;
