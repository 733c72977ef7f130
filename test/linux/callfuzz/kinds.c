/* Which calls there are, and what their arguments are. */
#include "test/linux/callfuzz/callfuzz.h"
#include "kernel/proc/abi.h"
#include <string.h>

/*
 * What each argument is, a letter each:
 *   f descriptor   d folder's descriptor   p path   b buffer   l its length   o offset in a file
 *   a address of pages   L their length   P protection   M flags of mmap   F flags   i small number
 *   m mode   s signal   S set of signals   8 its bytes   A action   T time   t thread   k process
 *   v parts   n number   c clock   x futex word   q futex operation   e what poll takes   w a word
 *   K stack   C clone3's   O flags of open   g flags of clone   * anything
 */
/* What is added at the end leaves seeds as they are. */
static const struct row kinds[] = {
    {0, "gettid", ""},
    {0, "getpgrp", ""},
    {0, "getppid", ""},
    {0, "pause", ""},
    {0, "munlockall", ""},
    {0, "sched_yield", ""},
    {0, "getegid", ""},
    {0, "getgid", ""},
    {0, "geteuid", ""},
    {0, "getuid", ""},
    {0, "getpid", ""},
    {0, "set_tid_address", "x"},
    {0, "set_robust_list", "bi"},
    {0, "get_robust_list", "tww"},
    {0, "arch_prctl", "Fb"},
    {0, "clone", "gbxxb"},
    {0, "clone3", "CF"},
    {0, "futex", "xqnTxi"},
    {0, "rt_sigaction", "sAb8"},
    {0, "rt_sigprocmask", "iSb8"},
    {0, "rt_sigpending", "b8"},
    {0, "rt_sigsuspend", "S8"},
    {0, "rt_sigtimedwait", "SbT8"},
    {0, "rt_sigqueueinfo", "ksb"},
    {0, "rt_tgsigqueueinfo", "ktsb"},
    {0, "sigaltstack", "Kb"},
    {0, "kill", "ks"},
    {0, "tkill", "ts"},
    {0, "tgkill", "kts"},
    {0, "mmap", "aLPMfo"},
    {0, "munmap", "aL"},
    {0, "mprotect", "aLP"},
    {0, "mremap", "aLLFa"},
    {0, "madvise", "aLn"},
    {0, "brk", "a"},
    {0, "msync", "aLi"},
    {0, "mincore", "aLb"},
    {0, "mlock", "aL"},
    {0, "mlock2", "aLi"},
    {0, "munlock", "aL"},
    {0, "mlockall", "i"},
    {0, "membarrier", "Fii"},
    {0, "read", "fbl"},
    {0, "write", "fbl"},
    {0, "pread64", "fblo"},
    {0, "pwrite64", "fblo"},
    {0, "readv", "fvn"},
    {0, "writev", "fvn"},
    {0, "preadv", "fvnoi"},
    {0, "pwritev", "fvnoi"},
    {0, "lseek", "foi"},
    {0, "getdents64", "fbl"},
    {0, "close", "f"},
    {0, "close_range", "ffi"},
    {0, "dup", "f"},
    {0, "dup2", "ff"},
    {0, "dup3", "ffO"},
    {0, "fcntl", "fnw"},
    {0, "ioctl", "fFw"},
    {0, "fstat", "fb"},
    {0, "fsync", "f"},
    {0, "fdatasync", "f"},
    {0, "syncfs", "f"},
    {0, "flock", "fn"},
    {0, "fadvise64", "foln"},
    {0, "ftruncate", "fo"},
    {0, "truncate", "po"},
    {0, "fallocate", "fioo"},
    {0, "open", "pOm"},
    {0, "openat", "dpOm"},
    {0, "creat", "pm"},
    {0, "stat", "pb"},
    {0, "lstat", "pb"},
    {0, "newfstatat", "dpbF"},
    {0, "statx", "dpFFb"},
    {0, "statfs", "pb"},
    {0, "fstatfs", "fb"},
    {0, "access", "pi"},
    {0, "faccessat", "dpi"},
    {0, "faccessat2", "dpiF"},
    {0, "readlink", "pbl"},
    {0, "readlinkat", "dpbl"},
    {0, "getcwd", "bl"},
    {0, "chdir", "p"},
    {0, "fchdir", "f"},
    {0, "umask", "m"},
    {0, "getxattr", "ppbl"},
    {0, "lgetxattr", "ppbl"},
    {0, "fgetxattr", "fpbl"},
    {0, "listxattr", "pbl"},
    {0, "llistxattr", "pbl"},
    {0, "flistxattr", "fbl"},
    {0, "setxattr", "ppblF"},
    {0, "lsetxattr", "ppblF"},
    {0, "fsetxattr", "fpblF"},
    {0, "removexattr", "pp"},
    {0, "lremovexattr", "pp"},
    {0, "fremovexattr", "fp"},
    {0, "poll", "eni"},
    {0, "ppoll", "enTS8"},
    {0, "select", "nbbbT"},
    {0, "pselect6", "nbbbTb"},
    {0, "pipe", "b"},
    {0, "pipe2", "bO"},
    {0, "eventfd", "i"},
    {0, "eventfd2", "iO"},
    {0, "epoll_create", "i"},
    {0, "epoll_create1", "O"},
    {0, "epoll_ctl", "fifb"},
    {0, "epoll_wait", "fbni"},
    {0, "epoll_pwait", "fbniS8"},
    {0, "epoll_pwait2", "fbnTS8"},
    {0, "signalfd", "fS8"},
    {0, "signalfd4", "fS8O"},
    {0, "timerfd_create", "cO"},
    {0, "timerfd_settime", "fiTb"},
    {0, "timerfd_gettime", "fb"},
    {0, "timer_create", "cbb"},
    {0, "timer_settime", "iiTb"},
    {0, "timer_gettime", "ib"},
    {0, "timer_getoverrun", "i"},
    {0, "timer_delete", "i"},
    {0, "setitimer", "iTb"},
    {0, "getitimer", "ib"},
    {0, "alarm", "i"},
    {0, "getresuid", "bbb"},
    {0, "getresgid", "bbb"},
    {0, "getgroups", "ib"},
    {0, "getpgid", "k"},
    {0, "getsid", "k"},
    {0, "uname", "b"},
    {0, "sysinfo", "b"},
    {0, "getcpu", "bbb"},
    {0, "getrandom", "bli"},
    {0, "prctl", "nbbbb"},
    {0, "personality", "F"},
    {0, "prlimit64", "knwb"},
    {0, "getrlimit", "nb"},
    {0, "setrlimit", "nw"},
    {0, "sched_setscheduler", "tiw"},
    {0, "sched_getscheduler", "t"},
    {0, "sched_setparam", "tw"},
    {0, "sched_getparam", "tb"},
    {0, "sched_get_priority_max", "i"},
    {0, "sched_get_priority_min", "i"},
    {0, "sched_rr_get_interval", "tb"},
    {0, "sched_setaffinity", "tlw"},
    {0, "sched_getaffinity", "tlb"},
    {0, "setpriority", "iti"},
    {0, "getpriority", "it"},
    {0, "clock_gettime", "cb"},
    {0, "clock_getres", "cb"},
    {0, "clock_settime", "cT"},
    {0, "clock_nanosleep", "ciTb"},
    {0, "nanosleep", "Tb"},
    {0, "gettimeofday", "bb"},
    {0, "settimeofday", "Tb"},
    {0, "time", "b"},
    {0, "times", "b"},
    {0, "getrusage", "ib"},
    {0, "mkdir", "pm"},
    {0, "mkdirat", "dpm"},
    {0, "symlink", "pp"},
    {0, "symlinkat", "pdp"},
    {0, "unlink", "p"},
    {0, "rmdir", "p"},
    {0, "unlinkat", "dpF"},
    {0, "rename", "pp"},
    {0, "renameat", "dpdp"},
    {0, "renameat2", "dpdpi"},
    {0, "chmod", "pm"},
    {0, "fchmod", "fm"},
    {0, "fchmodat", "dpm"},
    {0, "socket", "iii"},
    {0, "socketpair", "iiib"},
    {0, "bind", "fbl"},
    {0, "connect", "fbl"},
    {0, "listen", "fi"},
    {0, "accept", "fbb"},
    {0, "accept4", "fbbO"},
    {0, "shutdown", "fi"},
    {0, "getsockname", "fbb"},
    {0, "getpeername", "fbb"},
    {0, "setsockopt", "fiibl"},
    {0, "getsockopt", "fiibb"},
    {0, "sendto", "fblFbl"},
    {0, "sendmsg", "fbF"},
    {0, "sendmmsg", "fbiF"},
    {0, "recvfrom", "fblFbb"},
    {0, "recvmsg", "fbF"},
    {0, "recvmmsg", "fbiFT"},
};

/* Vigil's own calls; those that are not here get anything. */
const struct row own_rows[] = {
    {SYS_GROUP, "own group", "n"},
    {SYS_HPM_READ, "own hpm_read", "wbl"},
    {SYS_SPAWN, "own spawn", "pl"},
    {SYS_WAIT, "own wait", "k"},
    {SYS_THREADS, "own threads", "kbl"},
    {SYS_HPM_OPEN, "own hpm_open", "pbl"},
    {SYS_HPM_VALUES, "own hpm_values", "wbl"},
    {SYS_HPM_CLOSE, "own hpm_close", "i"},
    {SYS_HPM_LIST, "own hpm_list", "wbl"},
    {SYS_HPM_SHOW, "own hpm_show", "i"},
    {SYS_SYMBOL, "own symbol", "kbbl"},
    {SYS_SAMPLE_OPEN, "own sample_open", "bbl"},
    {SYS_SAMPLE_TAKE, "own sample_take", "ibl"},
    {SYS_SAMPLE_ACCOUNT, "own sample_account", "iibl"},
    {SYS_SAMPLE_CLOSE, "own sample_close", "i"},
    {SYS_MEMORY, "own memory", "kbl"},
    {SYS_REGIONS, "own regions", "kbl"},
    {SYS_MMAP_DISK, "own mmap_disk", "poLPb"},
    {SYS_CURVE, "own curve", "kbl"},
};

const unsigned own_row_count = sizeof own_rows / sizeof own_rows[0];

struct row rows[512];
const struct row linux_rows[] = {
#define CALL(number, name, handle) {number, #name, NULL},
#define REFUSED(number, name)      {number, #name, "******"},
#include "linux_calls.h"
#undef REFUSED
#undef CALL
};
const unsigned linux_row_count = sizeof linux_rows / sizeof linux_rows[0];

const struct row *row_described(uint64_t n)
{
    const char *name = kinds[n % (sizeof kinds / sizeof kinds[0])].name;

    for (unsigned i = 0; i < linux_row_count; i++)
        if (!strcmp(linux_rows[i].name, name) && !linux_rows[i].kinds)
            return &linux_rows[i];
    return NULL;
}

void rows_start(void)
{
    for (unsigned i = 0; i < linux_row_count; i++) {
        rows[i] = linux_rows[i];
        for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (!strcmp(kinds[k].name, rows[i].name))
                rows[i].kinds = kinds[k].kinds;
        if (!rows[i].kinds)
            rows[i].kinds = "******";
    }
}
