/* The table of system calls. */
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"

static handler *const handlers[SYS_COUNT] = {
    [SYS_EXIT] = sys_exit,
    [SYS_WRITE] = sys_write,
    [SYS_READ] = sys_read,
    [SYS_MMAP] = sys_mmap,
    [SYS_MMAP_DISK] = sys_mmap_disk,
    [SYS_CURVE] = sys_curve,
    [SYS_MUNMAP] = sys_munmap,
    [SYS_MPROTECT] = sys_mprotect,
    [SYS_MADVISE] = sys_madvise,
    [SYS_MEMORY] = sys_memory,
    [SYS_REGIONS] = sys_regions,
    [SYS_THREAD_CREATE] = sys_thread_create,
    [SYS_THREAD_EXIT] = sys_thread_exit,
    [SYS_FUTEX_WAIT] = sys_futex_wait,
    [SYS_FUTEX_WAKE] = sys_futex_wake,
    [SYS_YIELD] = sys_yield,
    [SYS_SLEEP] = sys_sleep,
    [SYS_CLOCK] = sys_clock,
    [SYS_CPU_TIME] = sys_cpu_time,
    [SYS_GETPID] = sys_getpid,
    [SYS_GETTID] = sys_gettid,
    [SYS_GETCPU] = sys_getcpu,
    [SYS_SET_TLS] = sys_set_tls,
    [SYS_SET_AFFINITY] = sys_set_affinity,
    [SYS_GET_AFFINITY] = sys_get_affinity,
    [SYS_SET_PRIORITY] = sys_set_priority,
    [SYS_SYSINFO] = sys_sysinfo,
    [SYS_GROUP] = sys_group,
    [SYS_MARK] = sys_mark,
    [SYS_HPM_READ] = sys_hpm_read,
    [SYS_HPM_PRINT] = sys_hpm_print,
    [SYS_SPAWN] = sys_spawn,
    [SYS_WAIT] = sys_wait,
    [SYS_THREADS] = sys_threads,
    [SYS_HPM_OPEN] = sys_hpm_open,
    [SYS_HPM_VALUES] = sys_hpm_values,
    [SYS_HPM_CLOSE] = sys_hpm_close,
    [SYS_SYMBOL] = sys_symbol,
    [SYS_SAMPLE_OPEN] = sys_sample_open,
    [SYS_SAMPLE_TAKE] = sys_sample_take,
    [SYS_SAMPLE_ACCOUNT] = sys_sample_account,
    [SYS_SAMPLE_CLOSE] = sys_sample_close,
    [SYS_NEXT_PID] = sys_next_pid,
    [SYS_HPM_SHOW] = sys_hpm_show,
    [SYS_HPM_LIST] = sys_hpm_list,
};

int64_t syscall_dispatch(uint64_t number, const uint64_t args[6])
{
    if (number >= SYS_COUNT)
        return -ENOSYS;
    return handlers[number](thread_current()->process, args);
}
