/* A process that makes random calls from several threads. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AGAIN   64 /* calls after which a thread's arena, files and handlers are as at first */
#define LOOK_NS 5000000
#define STUCK   400 /* looks without a call, after which the process ends itself */

struct kernel_action { /* as the call takes it */
    uint64_t words[4];
};

struct fuzzer {
    struct maker maker;
    volatile uint64_t done;
    volatile int tid;
    uint64_t calls, seed;
};

static struct fuzzer fuzzers[THREADS];
static struct kernel_action handles;
static char folder[64], counted[64];
static volatile unsigned started;

static void handle_all(void)
{
    static const uint64_t none;

    for (uint64_t n = 1; n <= 64; n++)
        RAW(SYS_rt_sigaction, n, (uint64_t)(uintptr_t)&handles, 0, 8);
    RAW(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t)(uintptr_t)&none, 0, 8);
}

static void *make_calls(void *argument)
{
    struct fuzzer *f = argument;
    static const uint64_t none;
    struct made call;

    f->tid = f->maker.tid = (int)RAW(SYS_gettid, 0);
    __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
    while (f->done < f->calls) {
        if (f->done % AGAIN == 0) {
            RAW(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t)(uintptr_t)&none, 0, 8);
            if (f == fuzzers) {
                map_arena();
                open_files(folder);
                open_sockets(f->seed);
                handle_all();
            }
        }
        make_call(&f->maker, NULL, &call);
        raw_call(call.number, call.a);
        f->done++;
    }
    f->tid = 0;
    thread_end(); /* the C library's way to end a thread may be gone */
}

static uint64_t all_done(unsigned threads)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < threads; i++)
        sum += fuzzers[i].done;
    return sum;
}

/* Writes how many calls there have been to where the supervisor reads it. */
static void tell(uint64_t done)
{
    int64_t fd =
        RAW(SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t)counted, O_WRONLY | O_CREAT, 0600);

    if (fd >= 0) {
        RAW(SYS_pwrite64, (uint64_t)fd, (uint64_t)(uintptr_t)&done, 8, 0);
        RAW(SYS_close, (uint64_t)fd);
    }
}

/* Interrupts threads that make no calls. Returns the status of the process. */
static int look_after(unsigned threads, int pid)
{
    static const int64_t nap[2] = {0, LOOK_NS};
    uint64_t seen[THREADS] = {0};
    unsigned still = 0;

    for (unsigned looks = 1; still < STUCK; looks++) {
        bool works = false, moved = false;
        RAW(SYS_nanosleep, (uint64_t)(uintptr_t)nap, 0);
        for (unsigned i = 0; i < threads; i++) {
            struct fuzzer *f = &fuzzers[i];
            if (f->done >= f->calls)
                continue;
            works = true;
            if (f->done == seen[i])
                RAW(SYS_tgkill, (uint64_t)pid, (uint64_t)f->tid, SIGUSR1);
            else
                moved = true;
            seen[i] = f->done;
        }
        if (looks % 16 == 0 || !works)
            tell(all_done(threads));
        if (!works)
            return 0;
        still = moved ? 0 : still + 1;
    }
    tell(all_done(threads));
    return 2;
}

int calls_child(const struct options *o)
{
    unsigned threads = (unsigned)(o->threads < THREADS ? o->threads : THREADS);
    struct sigaction action = {.sa_sigaction = handle_signal, .sa_flags = SA_SIGINFO};
    pthread_t thread;

    snprintf(folder, sizeof folder, "/tmp/f%u", (unsigned)(o->seed % 4));
    snprintf(counted, sizeof counted, "/tmp/counts/%llu", (unsigned long long)o->seed);
    sigaction(SIGUSR1, &action, NULL);
    RAW(SYS_rt_sigaction, SIGUSR1, 0, (uint64_t)(uintptr_t)&handles, 8);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    map_arena();
    for (unsigned i = 0; i < threads; i++) {
        fuzzers[i] = (struct fuzzer){.calls = o->calls / threads, .seed = o->seed};
        fuzzers[i].maker = (struct maker){.random = {o->seed * THREADS + i},
                                          .safe = SAFE + 2 * i * SAFE_PAGES * PAGE,
                                          .pid = getpid(),
                                          .sockets = (unsigned)o->sockets};
        if (pthread_create(&thread, NULL, make_calls, &fuzzers[i]))
            return 3;
    }
    RAW(SYS_exit_group, (uint64_t)look_after(threads, getpid()));
    return 4;
}
