/*
 * Signals that end writes, stop and continue programs, or have a thread that ends before it takes
 * them. Prints TAP; the same under Linux. An argument makes it do one thing, and end by its status.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static volatile sig_atomic_t taken[65];

static void note(int n)
{
    __atomic_fetch_add(&taken[n], 1, __ATOMIC_RELAXED);
}

static void test_pipes(void)
{
    int ends[2];

    signal(SIGPIPE, note);
    (void)!pipe(ends);
    close(ends[0]);
    check(write(ends[1], "x", 1) == -1 && errno == EPIPE && taken[SIGPIPE] == 1,
          "a write that has no reader fails, and sends SIGPIPE");
    struct iovec parts[2] = {{"ab", 2}, {"cd", 2}};
    check(writev(ends[1], parts, 2) == -1 && errno == EPIPE && taken[SIGPIPE] == 2,
          "... one of several parts, too");
    signal(SIGPIPE, SIG_IGN);
    check(write(ends[1], "x", 1) == -1 && errno == EPIPE && taken[SIGPIPE] == 2,
          "... only fails where that is ignored");
    close(ends[1]);
}

static pthread_barrier_t begun;
static volatile int go;

/* Ends at about the time at which a signal comes that it would take. */
static void *end_soon(void *arg)
{
    pthread_barrier_wait(&begun);
    while (!go)
        ;
    for (volatile int i = 0; i < (int)(intptr_t)arg * 10; i++)
        ;
    syscall(SYS_exit, 0);
    return NULL;
}

static void *sleep_for(void *arg)
{
    int before = (int)(intptr_t)arg;

    pthread_barrier_wait(&begun);
    while (taken[SIGUSR1] == before)
        usleep(20000);
    return NULL;
}

static void test_passing_on(void)
{
    sigset_t set;
    pthread_t ends, sleeps;
    int passed = 0;

    signal(SIGUSR1, note);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (int i = 0; i < 40; i++) {
        int before = taken[SIGUSR1];
        pthread_barrier_init(&begun, NULL, 3);
        go = 0;
        pthread_create(&ends, NULL, end_soon, (void *)(intptr_t)i);
        pthread_create(&sleeps, NULL, sleep_for, (void *)(intptr_t)before);
        sigprocmask(SIG_BLOCK, &set, NULL);
        pthread_barrier_wait(&begun);
        go = 1;
        kill(getpid(), SIGUSR1);
        for (int ms = 0; ms < 5000 && taken[SIGUSR1] == before; ms++)
            usleep(1000);
        passed += taken[SIGUSR1] == before + 1;
        pthread_join(ends, NULL);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        pthread_join(sleeps, NULL);
    }
    check(passed == 40, "a signal whose thread ends is taken by another");
}

/* ---- What ends by its status ----------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A file that is there when both threads of the other program beat. */
static const char beats[] = "beats";

/* Returns the longest time that it did not run, when SIGTERM has come. */
static int64_t beat(void)
{
    static int beating_threads;
    int64_t gap = 0, first = now_ms();

    if (__atomic_add_fetch(&beating_threads, 1, __ATOMIC_SEQ_CST) == 2)
        close(open(beats, O_CREAT | O_WRONLY, 0600));
    for (int64_t last = first; !taken[SIGTERM] && last < first + 20000;) {
        int64_t now = now_ms();
        gap = now - last > gap ? now - last : gap;
        last = now;
        usleep(500);
    }
    return gap;
}

static void *beat_too(void *arg)
{
    *(int64_t *)arg = beat();
    return NULL;
}

static int beating(void)
{
    pthread_t thread;
    int64_t gap, other = 0;

    signal(SIGCONT, note);
    signal(SIGTERM, note);
    signal(SIGUSR1, note);
    pthread_create(&thread, NULL, beat_too, &other);
    gap = beat();
    pthread_join(thread, NULL);
    printf("beat: gap_ms=%lld other_ms=%lld cont=%d usr1=%d\n", (long long)gap, (long long)other,
           taken[SIGCONT], taken[SIGUSR1]);
    return gap >= 300 && other >= 300 && taken[SIGCONT] == 1 && taken[SIGUSR1] == 1 ? 7 : 3;
}

/* Returns the process that was started before this one, when it beats; after 20 s in any case. */
static pid_t find_other(void)
{
    pid_t other = getpid() - 1;

    for (int i = 0; i < 2000 && unlink(beats); i++)
        usleep(10000);
    while (other > 1 && kill(other, 0))
        other--;
    return other;
}

/* Stops and continues it. */
static int controlling(void)
{
    pid_t other = find_other();

    usleep(50000);
    if (kill(other, SIGSTOP))
        return 3;
    usleep(150000);
    kill(other, SIGUSR1);
    usleep(200000);
    kill(other, SIGCONT);
    usleep(200000);
    return kill(other, SIGTERM) ? 3 : 8;
}

/* Kills it while it is stopped. */
static int killing(void)
{
    pid_t other = find_other();

    usleep(50000);
    kill(other, SIGSTOP);
    usleep(100000);
    return kill(other, SIGKILL) ? 3 : 8;
}

static char stack[32768];

static void fill(int n)
{
    volatile char room[512] = {0};

    room[0] = (char)n;
    raise(n);
    (void)room[1];
}

static int overflowing(void)
{
    stack_t alt = {.ss_sp = stack + 16384, .ss_size = 16384};
    struct sigaction action = {.sa_handler = fill, .sa_flags = SA_ONSTACK | SA_NODEFER};

    sigaltstack(&alt, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return 3;
}

static int end(const char *how)
{
    int ends[2];

    if (!strcmp(how, "pipe")) {
        (void)!pipe(ends);
        close(ends[0]);
        return write(ends[1], "x", 1) == 1 ? 3 : 4;
    }
    if (!strcmp(how, "alone")) {
        signal(SIGCONT, note);
        raise(SIGSTOP);
        raise(SIGTSTP); /* its group is an orphan: this stops nothing */
        raise(SIGSTOP);
        return taken[SIGCONT] == 2 ? 5 : 3;
    }
    if (!strcmp(how, "read"))
        return read(0, ends, 1) == 1 ? 6 : 3;
    return !strcmp(how, "overflow")  ? overflowing()
           : !strcmp(how, "beat")    ? beating()
           : !strcmp(how, "control") ? controlling()
           : !strcmp(how, "kill")    ? killing()
                                     : 3;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1)
        return end(argv[1]);
    test_pipes();
    test_passing_on();
    printf("1..%u\n", count);
    return failed != 0;
}
