/*
 * Prints calls and what they result in, the same under each kernel that has Linux's interface: one
 * thread, files and memory as at first in each round, nothing that waits or that tells of time.
 */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS   12 /* of a round */
#define SEEN    64 /* bytes of an output that are compared */
#define SCRATCH 200

enum { LEFT_OUT = 1, OUTPUT_VARIES = 2, RESULT_VARIES = 4, OWN_FILES = 8, IS_STAT = 16 };

/* What calls need or cannot have. Those that are not here are compared whole. */
static const struct {
    const char *name;
    unsigned treat;
} treated[] = {
    /* end the caller, or make another */
    {"exit", LEFT_OUT},
    {"exit_group", LEFT_OUT},
    {"clone", LEFT_OUT},
    {"clone3", LEFT_OUT},
    {"fork", LEFT_OUT},
    {"vfork", LEFT_OUT},
    {"execve", LEFT_OUT},
    {"rt_sigreturn", LEFT_OUT},
    {"arch_prctl", LEFT_OUT}, /* the C library's thread pointer */
    /* wait for ever, or for a time */
    {"pause", LEFT_OUT},
    {"rt_sigsuspend", LEFT_OUT},
    {"alarm", LEFT_OUT},
    {"setitimer", LEFT_OUT},
    {"timer_settime", LEFT_OUT},
    {"pipe", LEFT_OUT},
    {"eventfd", LEFT_OUT},
    {"wait4", LEFT_OUT},
    {"waitid", LEFT_OUT},
    /* change the machine, or what all else is compared by */
    {"settimeofday", LEFT_OUT},
    {"clock_settime", LEFT_OUT},
    {"setrlimit", LEFT_OUT},
    {"sync", LEFT_OUT},
    {"syncfs", LEFT_OUT},
    {"mlockall", LEFT_OUT},
    /* the session's and the shell's */
    {"getppid", LEFT_OUT},
    {"getpgid", LEFT_OUT},
    {"getpgrp", LEFT_OUT},
    {"getsid", LEFT_OUT},
    {"setpgid", LEFT_OUT},
    {"setsid", LEFT_OUT},
    /* time, chance, the machine */
    {"time", OUTPUT_VARIES | RESULT_VARIES},
    {"times", OUTPUT_VARIES | RESULT_VARIES},
    {"brk", RESULT_VARIES},
    {"clock_gettime", OUTPUT_VARIES},
    {"clock_getres", OUTPUT_VARIES},
    {"gettimeofday", OUTPUT_VARIES},
    {"getrandom", OUTPUT_VARIES},
    {"getrusage", OUTPUT_VARIES},
    {"getcpu", OUTPUT_VARIES},
    {"sysinfo", OUTPUT_VARIES},
    {"uname", OUTPUT_VARIES},
    {"statfs", OUTPUT_VARIES},
    {"fstatfs", OUTPUT_VARIES},
    {"statx", OUTPUT_VARIES},
    {"stat", OUTPUT_VARIES | IS_STAT},
    {"lstat", OUTPUT_VARIES | IS_STAT},
    {"fstat", OUTPUT_VARIES | IS_STAT},
    {"newfstatat", OUTPUT_VARIES | IS_STAT},
    {"getdents64", OUTPUT_VARIES | RESULT_VARIES},
    {"prlimit64", OUTPUT_VARIES},
    {"getrlimit", OUTPUT_VARIES},
    {"sched_rr_get_interval", OUTPUT_VARIES},
    {"sched_getaffinity", OUTPUT_VARIES | RESULT_VARIES},
    {"get_robust_list", OUTPUT_VARIES},
    {"set_tid_address", RESULT_VARIES},
    {"prctl", OUTPUT_VARIES},
    {"mincore", OUTPUT_VARIES},
    {"rt_sigtimedwait", OUTPUT_VARIES},
    {"timer_create", OUTPUT_VARIES},
    {"timer_gettime", OUTPUT_VARIES},
    {"timerfd_gettime", OUTPUT_VARIES},
    {"read", OUTPUT_VARIES},
    {"readv", OUTPUT_VARIES},
    {"pread64", OUTPUT_VARIES},
    {"preadv", OUTPUT_VARIES},
    /* write below the test's own folder only */
    {"creat", OWN_FILES},
    {"mkdir", OWN_FILES},
    {"mkdirat", OWN_FILES},
    {"symlink", OWN_FILES},
    {"symlinkat", OWN_FILES},
    {"unlink", OWN_FILES},
    {"rmdir", OWN_FILES},
    {"unlinkat", OWN_FILES},
    {"rename", OWN_FILES},
    {"renameat", OWN_FILES},
    {"renameat2", OWN_FILES},
    {"chmod", OWN_FILES},
    {"fchmodat", OWN_FILES},
    {"truncate", OWN_FILES},
    {"chown", OWN_FILES},
    {"lchown", OWN_FILES},
    {"fchownat", OWN_FILES},
    {"fchown", LEFT_OUT},
    {"sendfile", LEFT_OUT}, /* also to standard output */
    /* not compared yet */
    {"execveat", LEFT_OUT},
    {"preadv2", LEFT_OUT},
    {"pwritev2", LEFT_OUT},
    {"readahead", LEFT_OUT},
    {"sync_file_range", LEFT_OUT},
    {"copy_file_range", LEFT_OUT},
    {"splice", LEFT_OUT},
    {"tee", LEFT_OUT},
    {"vmsplice", LEFT_OUT},
    {"openat2", LEFT_OUT},
    {"memfd_create", LEFT_OUT},
    {"mknod", LEFT_OUT},
    {"mknodat", LEFT_OUT},
    {"link", LEFT_OUT},
    {"linkat", LEFT_OUT},
    {"perf_event_open", LEFT_OUT},
    {"pidfd_open", LEFT_OUT},
    {"pidfd_send_signal", LEFT_OUT},
    {"shmget", LEFT_OUT},
    {"shmat", LEFT_OUT},
    {"shmdt", LEFT_OUT},
    {"shmctl", LEFT_OUT},
    {"semget", LEFT_OUT},
    {"semop", LEFT_OUT},
    {"semtimedop", LEFT_OUT},
    {"semctl", LEFT_OUT},
    {"msgget", LEFT_OUT},
    {"msgsnd", LEFT_OUT},
    {"msgrcv", LEFT_OUT},
    {"msgctl", LEFT_OUT},
};

static unsigned treatment(const char *name)
{
    for (unsigned i = 0; i < sizeof treated / sizeof treated[0]; i++)
        if (!strcmp(treated[i].name, name))
            return treated[i].treat;
    return 0;
}

/* ---- A round's beginning --------------------------------------------------------------------- */

static const char folder[] = "/tmp/twins";

static void begin_round(void)
{
    static const char *const names[] = {"a",   "b",   "link", "loop", "new",
                                        "c/d", "c/a", "c/b",  "c",    "x"};
    struct sched_param usual = {0};

    mkdir(folder, 0700);
    chmod(folder, 0700);
    if (chdir(folder))
        exit(3);
    chmod("c", 0700);
    for (unsigned twice = 0; twice < 2; twice++)
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
            if (unlink(names[i]))
                rmdir(names[i]);
    RAW(SYS_personality, 0);
    umask(022);
    setpriority(0, 0, 0);
    sched_setscheduler(0, SCHED_OTHER, &usual);
    RAW(SYS_munlockall, 0);
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    map_arena();
    open_files(folder);
    RAW(SYS_close, 13);
    RAW(SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t) "c", O_RDONLY | O_DIRECTORY);
    dup2(FILES_FIRST + 6, 0); /* /dev/null */
    int fd = open("/tmp/twins.scratch", O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(fd, SCRATCH);
    close(fd);
}

static void begin_signals(void)
{
    const uint64_t action[4] = {(uint64_t)(uintptr_t)handle_signal, SA_SIGINFO | 0x04000000,
                                (uint64_t)(uintptr_t)signal_restorer, 0};
    struct timespec none = {0, 0};
    sigset_t all, nothing;

    sigfillset(&all);
    sigemptyset(&nothing);
    for (int n = 1; n <= 64; n++)
        RAW(SYS_rt_sigaction, (uint64_t)n, (uint64_t)(uintptr_t)action, 0, 8);
    sigprocmask(SIG_SETMASK, &all, NULL);
    while (sigtimedwait(&all, NULL, &none) > 0)
        ;
    sigprocmask(SIG_SETMASK, &nothing, NULL);
}

/* ---- A call ---------------------------------------------------------------------------------- */

static bool is(const struct made *c, const char *name)
{
    return !strcmp(c->row->name, name);
}

static bool sends(const struct made *c)
{
    return is(c, "kill") || is(c, "tkill") || is(c, "tgkill") || is(c, "rt_sigqueueinfo") ||
           is(c, "rt_tgsigqueueinfo");
}

/* Replaces arguments with which a call would wait, or change other processes. */
static void tame(struct made *c, int pid)
{
    for (const char *k = c->row->kinds; *k; k++) {
        uint64_t *a = &c->a[k - c->row->kinds];
        if (*k == 'T' && !*a)
            *a = 4096;
        if ((*k == 't' || *k == 'k') && *a && *a < 100000) /* of another there may be one */
            *a = (uint64_t)pid;
        if (*k == 's' && ((int)*a == SIGKILL || (int)*a == SIGSTOP))
            *a = SIGUSR1;
        if (*k == 's' && sends(c) && ((int)*a == SIGURG || (int)*a == SIGWINCH))
            *a = SIGUSR1; /* their handlers may be anything */
    }
    if (sends(c)) /* not to groups, not to all */
        c->a[0] = c->a[0] == INT32_MAX ? c->a[0] : (uint64_t)pid;
    if (is(c, "clock_nanosleep") &&
        (int)c->a[0] == 2) /* time that passes while it does not sleep */
        c->a[0] = 3;
    if (is(c, "poll"))
        c->a[2] %= 3;
    if (is(c, "epoll_wait") || is(c, "epoll_pwait"))
        c->a[3] %= 3;
    if (is(c, "flock"))
        c->a[1] |= 4; /* LOCK_NB */
    if (is(c, "pipe2"))
        c->a[1] |= O_NONBLOCK;
    if (is(c, "eventfd2") || is(c, "timerfd_create"))
        c->a[1] |= O_NONBLOCK;
    if (is(c, "signalfd4"))
        c->a[3] |= O_NONBLOCK;
    if (is(c, "fcntl") && c->a[1] == F_SETFL)
        c->a[2] |= O_NONBLOCK;
    if (is(c, "fcntl") && c->a[1] >= 36 && c->a[1] <= 38) /* locks that are waited for */
        c->a[1] = F_GETFL;
    if (is(c, "ioctl") && c->a[1] == 0x5421)
        c->a[1] = 0x5450;
    if (is(c, "prlimit64"))
        c->a[2] = 0;
    if (is(c, "rt_sigaction"))
        c->a[0] = c->a[0] >= 1000 ? c->a[0] : c->a[0] & 1 ? SIGURG : SIGWINCH;
}

/* Sums up the first bytes at an address, where they can be read. */
static uint64_t sum_of(uint64_t at, unsigned bytes)
{
    uint8_t copy[SEEN] = {0};
    uint64_t sum = 14695981039346656037ull;
    uint64_t room = PAGE - at % PAGE;
    int64_t n = RAW(SYS_pwrite64, SCRATCH, at, bytes < room ? bytes : room, 0);

    if (n <= 0)
        return 0;
    RAW(SYS_pread64, SCRATCH, (uint64_t)(uintptr_t)copy, (uint64_t)n, 0);
    for (int64_t i = 0; i < n; i++)
        sum = (sum ^ copy[i]) * 1099511628211ull;
    return sum;
}

/* Prints of a structure what does not depend on where the file lies. */
static void print_stat(uint64_t at)
{
    struct stat s;

    if (RAW(SYS_pwrite64, SCRATCH, at, sizeof s, 0) != sizeof s)
        return;
    RAW(SYS_pread64, SCRATCH, (uint64_t)(uintptr_t)&s, sizeof s, 0);
    if (S_ISREG(s.st_mode))
        printf(" mode=%o size=%lld", s.st_mode, (long long)s.st_size);
    else
        printf(" type=%o", s.st_mode & S_IFMT);
}

static void print_output(const struct made *c, unsigned treat)
{
    for (const char *k = c->row->kinds; *k; k++) {
        uint64_t at = c->a[k - c->row->kinds];
        if (*k != 'b' && *k != 'v')
            continue;
        if (treat & IS_STAT)
            print_stat(at);
        if (treat & OUTPUT_VARIES) { /* no later call shall see it */
            map_arena();
        } else if (*k == 'b') {
            printf(" %08x", (unsigned)sum_of(at, SEEN));
        }
    }
}

static void print_call(const struct made *c, int pid)
{
    const char *kind = c->row->kinds;

    printf("%s(", c->row->name);
    for (unsigned i = 0; i < 6 && kind[i]; i++)
        if ((kind[i] == 't' || kind[i] == 'k') && c->a[i] == (uint64_t)pid)
            printf("%sPID", i ? ", " : "");
        else
            printf("%s%#llx", i ? ", " : "", (unsigned long long)c->a[i]);
    for (unsigned i = 0; i < 6 && kind[i]; i++)
        if (kind[i] == 'p' && c->a[i] >= SAFE && c->a[i] < SAFE + SAFE_PAGES * PAGE - 30)
            printf(" '%.20s'", (const char *)c->a[i]);
    printf(")");
    fflush(stdout);
}

static void print_result(const struct made *c, int64_t result, int pid, unsigned treat)
{
    bool places = is(c, "mmap") ? !(c->a[3] & MAP_FIXED) : is(c, "mremap");

    if (result < 0 && result > -4096)
        printf(" = %s", strerrorname_np((int)-result) ?: "E?");
    else if (treat & RESULT_VARIES || places)
        printf(" = fine");
    else if (result == pid && !*c->row->kinds)
        printf(" = PID");
    else
        printf(" = %#llx", (unsigned long long)result);
    if (result >= 0)
        print_output(c, treat);
    else if (result == -EFAULT) /* what was written in part shall not be seen by later calls */
        map_arena();
    putchar('\n');
    fflush(stdout);
}

static bool chosen(const struct options *o, const struct row *row)
{
    return o->only == UINT64_MAX || (uint64_t)row->number == o->only;
}

static void make_round(struct maker *m, uint64_t round, const struct options *o)
{
    begin_round();
    begin_signals();
    for (unsigned i = 0; i < CALLS; i++) {
        const struct row *row;
        struct made call;
        unsigned treat;
        do {
            row = row_described(random_next(&m->random));
            treat = row ? treatment(row->name) : LEFT_OUT;
        } while (treat & LEFT_OUT || !chosen(o, row));
        m->relative = treat & OWN_FILES;
        make_call(m, row, &call);
        tame(&call, m->pid);
        printf("%llu.%u ", (unsigned long long)round, i);
        print_call(&call, m->pid);
        int64_t result = raw_call(call.number, call.a);
        print_result(&call, result, m->pid, treat);
    }
}

int twins(const struct options *o)
{
    struct maker m = {.safe = SAFE, .pid = getpid(), .tid = getpid(), .twins = true};
    static char buffer[1 << 16];

    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (uint64_t round = 0; round < o->rounds; round++) {
        m.random.state = o->seed * 1000003 + round;
        make_round(&m, round, o);
    }
    puts("end");
    fflush(stdout);
    return 0;
}
