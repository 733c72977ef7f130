/*
 * Timers, as a program of Linux's has them: those of setitimer, timer_create and timerfd, of time
 * and of CPU time. Prints TAP; the same under Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
#define MS 1000000LL

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static volatile sig_atomic_t taken[65];
static volatile siginfo_t last;
static volatile pid_t taker;

/* Stops the timer at its hundredth signal: a short one leaves the program no time but here. */
static timer_t short_timer;

static void note_short(int n, siginfo_t *info, void *context)
{
    const struct itimerspec off = {0};

    (void)info, (void)context;
    if (++taken[n] == 100)
        timer_settime(short_timer, 0, &off, NULL);
}

static void note(int n, siginfo_t *info, void *context)
{
    (void)context;
    taken[n]++;
    last = *info;
    taker = gettid();
}

static void handle(int n)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};

    taken[n] = 0;
    sigaction(n, &action, NULL);
}

static int64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static struct itimerspec times(int64_t value, int64_t interval)
{
    return (struct itimerspec){{interval / (1000 * MS), interval % (1000 * MS)},
                               {value / (1000 * MS), value % (1000 * MS)}};
}

static int64_t ns_of(struct timespec t)
{
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* Sleeps until signal n was taken `times` times, for 20 s at most. */
static bool wait_for(int n, int times_)
{
    for (int i = 0; i < 20000 && taken[n] < times_; i++)
        nanosleep(&(struct timespec){0, MS}, NULL);
    return taken[n] >= times_;
}

static bool spin_for(int n, int times_)
{
    int64_t end = now(CLOCK_MONOTONIC) + 20000 * MS;

    while (taken[n] < times_ && now(CLOCK_MONOTONIC) < end)
        ;
    return taken[n] >= times_;
}

/* ---- setitimer, alarm ------------------------------------------------------------------------ */

static void test_itimers(void)
{
    struct itimerval t = {{0, 0}, {0, 20000}}, old;
    int64_t began = now(CLOCK_MONOTONIC);

    handle(SIGALRM);
    check(!setitimer(ITIMER_REAL, &t, NULL), "setitimer");
    check(wait_for(SIGALRM, 1) && now(CLOCK_MONOTONIC) - began >= 20 * MS,
          "... sends SIGALRM, not too early");
    check(last.si_code == SI_KERNEL && last.si_signo == SIGALRM, "... which is the kernel's");
    getitimer(ITIMER_REAL, &old);
    check(!old.it_value.tv_sec && !old.it_value.tv_usec, "... once, and then it is not set");
    t = (struct itimerval){{0, 5000}, {0, 5000}};
    setitimer(ITIMER_REAL, &t, NULL);
    check(wait_for(SIGALRM, 5), "one with an interval goes on");
    t = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &t, &old);
    check(old.it_interval.tv_usec == 5000 && old.it_value.tv_usec <= 5000,
          "... and what it was set to is told when it is stopped");
    int before = taken[SIGALRM];
    usleep(30000);
    check(taken[SIGALRM] == before, "a stopped one sends nothing");
    check(alarm(100) == 0 && alarm(1) == 100, "alarm tells the seconds that were left");
    check(pause() == -1 && errno == EINTR && taken[SIGALRM] == before + 1, "... and ends pause");
    t.it_value.tv_usec = 1000000;
    check(setitimer(ITIMER_REAL, &t, NULL) == -1 && errno == EINVAL, "a bad time is refused");
    check(setitimer((__itimer_which_t)3, &t, NULL) == -1 && errno == EINVAL, "... and a bad timer");
}

static void test_cpu_itimers(void)
{
    static const struct {
        __itimer_which_t which;
        int signal;
        const char *what;
    } kinds[] = {{ITIMER_VIRTUAL, SIGVTALRM, "a virtual timer counts CPU time"},
                 {ITIMER_PROF, SIGPROF, "a timer for profiles counts CPU time"}};

    for (unsigned i = 0; i < 2; i++) {
        struct itimerval t = {{0, 20000}, {0, 20000}}, off = {{0, 0}, {0, 0}};
        handle(kinds[i].signal);
        int64_t began = now(CLOCK_PROCESS_CPUTIME_ID);
        setitimer(kinds[i].which, &t, NULL);
        check(spin_for(kinds[i].signal, 3) && now(CLOCK_PROCESS_CPUTIME_ID) - began >= 55 * MS,
              kinds[i].what);
        int before = taken[kinds[i].signal];
        nanosleep(&(struct timespec){0, 200 * MS}, NULL);
        check(taken[kinds[i].signal] - before <= 1, "... which does not pass in sleep");
        setitimer(kinds[i].which, &off, NULL);
    }
}

/* ---- timer_create ---------------------------------------------------------------------------- */

static timer_t make(clockid_t clock, int notify, int signal, void *value)
{
    struct sigevent e = {.sigev_notify = notify, .sigev_signo = signal};
    timer_t t = NULL;

    e.sigev_value.sival_ptr = value;
    if (timer_create(clock, &e, &t))
        printf("# timer_create: %s\n", strerror(errno));
    return t;
}

static void test_timers(void)
{
    clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME};
    const char *names[] = {"a timer of the date", "a timer of time", "a timer of time since boot"};
    struct itimerspec t, old;
    char what[100];

    handle(SIGUSR1);
    for (unsigned i = 0; i < 3; i++) {
        int token, before = taken[SIGUSR1];
        int64_t until = now(clocks[i]) + 15 * MS;
        timer_t id = make(clocks[i], SIGEV_SIGNAL, SIGUSR1, &token);
        t = times(until, 0);
        timer_settime(id, TIMER_ABSTIME, &t, NULL);
        bool sent = wait_for(SIGUSR1, before + 1) && now(clocks[i]) >= until;
        snprintf(what, sizeof what, "%s sends its signal at an absolute time", names[i]);
        check(sent, what);
        check(last.si_code == SI_TIMER && last.si_value.sival_ptr == &token &&
                  last.si_overrun == 0 && last.si_signo == SIGUSR1,
              "... with its value");
        t = times(5 * MS, 0);
        timer_settime(id, 0, &t, NULL);
        check(wait_for(SIGUSR1, before + 2), "... and at a relative one");
        t = times(1 * MS, 0);
        timer_settime(id, TIMER_ABSTIME, &t, NULL);
        check(wait_for(SIGUSR1, before + 3), "... and at once at one that is past");
        check(!timer_delete(id), "... and is deleted");
    }
    timer_t id = make(CLOCK_MONOTONIC, SIGEV_NONE, 0, NULL);
    t = times(100 * 1000 * MS, 7 * MS);
    check(!timer_settime(id, 0, &t, &old) && !ns_of(old.it_value), "a silent timer is set");
    check(!timer_gettime(id, &old) && ns_of(old.it_value) > 90 * 1000 * MS &&
              ns_of(old.it_value) <= 100 * 1000 * MS && ns_of(old.it_interval) == 7 * MS,
          "... and tells what is left");
    t = times(2 * MS, 0);
    timer_settime(id, 0, &t, &old);
    check(ns_of(old.it_interval) == 7 * MS, "... and what it was set to");
    usleep(5000);
    timer_gettime(id, &old);
    check(!ns_of(old.it_value), "... and that it has come");
    t = times(2 * MS, 3 * MS);
    timer_settime(id, 0, &t, NULL);
    usleep(20000);
    timer_gettime(id, &old);
    check(ns_of(old.it_value) > 0 && ns_of(old.it_value) <= 3 * MS, "... and when it comes again");
    timer_delete(id);
    check(timer_gettime(id, &old) == -1 && errno == EINVAL, "a deleted timer is gone");
}

/* Waits until a timer that comes once has come, for 20 s at most: on another CPU that may be any
 * time later than its own. */
static bool has_come(timer_t id)
{
    struct itimerspec left;

    for (int i = 0; i < 20000; i++) {
        if (!timer_gettime(id, &left) && !ns_of(left.it_value))
            return true;
        usleep(1000);
    }
    return false;
}

static void test_overruns(void)
{
    sigset_t set;
    siginfo_t info;
    struct itimerspec t = times(5 * MS, 5 * MS);

    handle(SIGUSR2);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    timer_t id = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR2, NULL);
    int64_t began = now(CLOCK_MONOTONIC);
    timer_settime(id, 0, &t, NULL);
    usleep(52000);
    int got = sigwaitinfo(&set, &info);
    int64_t periods = (now(CLOCK_MONOTONIC) - began) / (5 * MS);
    check(got == SIGUSR2 && info.si_code == SI_TIMER && info.si_overrun >= 9 &&
              info.si_overrun < periods,
          "a blocked signal waits once, and tells how often the timer came");
    check(timer_getoverrun(id) == info.si_overrun, "... and so does the timer");
    check(sigwaitinfo(&set, &info) == SIGUSR2, "... which goes on");
    t = times(0, 0);
    timer_settime(id, 0, &t, NULL);
    struct timespec none = {0, 0};
    sigtimedwait(&set, &info, &none);
    usleep(20000);
    check(sigtimedwait(&set, &info, &none) == -1 && errno == EAGAIN, "... until it is stopped");
    timer_delete(id);

    /* Two timers with one signal. */
    timer_t a = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR2, (void *)1),
            b = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR2, (void *)2);
    t = times(1 * MS, 0);
    timer_settime(a, 0, &t, NULL);
    bool came = has_come(a);
    timer_settime(b, 0, &t, NULL);
    came &= has_come(b);
    sigwaitinfo(&set, &info);
    void *first = info.si_ptr;
    check(came && first == (void *)1 && sigtimedwait(&set, &info, &none) == SIGUSR2 &&
              info.si_ptr == (void *)2,
          "each timer has a signal of its own that waits");
    timer_delete(a);
    timer_delete(b);
    signal(SIGUSR2, SIG_IGN);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    id = make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR2, NULL);
    t = times(1, 1);
    timer_settime(id, 0, &t, NULL);
    usleep(20000);
    struct sigaction action = {.sa_sigaction = note_short, .sa_flags = SA_SIGINFO};
    taken[SIGUSR2] = 0;
    short_timer = id;
    sigaction(SIGUSR2, &action, NULL);
    check(wait_for(SIGUSR2, 100), "a timer goes on while its signal is ignored, however short");
    timer_delete(id);
}

/* ---- CPU time -------------------------------------------------------------------------------- */

static volatile bool stop_other;

static void *sleeper(void *arg)
{
    *(pid_t *)arg = gettid();
    while (!stop_other)
        usleep(1000);
    return NULL;
}

static void test_cpu_time(void)
{
    struct itimerspec t = times(30 * MS, 0);
    int64_t began = now(CLOCK_THREAD_CPUTIME_ID);

    handle(SIGUSR1);
    timer_t id = make(CLOCK_THREAD_CPUTIME_ID, SIGEV_SIGNAL, SIGUSR1, NULL);
    timer_settime(id, 0, &t, NULL);
    usleep(60000);
    check(!taken[SIGUSR1], "a timer of a thread's CPU time waits while it sleeps");
    check(spin_for(SIGUSR1, 1) && now(CLOCK_THREAD_CPUTIME_ID) - began >= 30 * MS,
          "... and comes when it has run so long");
    timer_delete(id);
    id = make(CLOCK_PROCESS_CPUTIME_ID, SIGEV_SIGNAL, SIGUSR1, NULL);
    t = times(now(CLOCK_PROCESS_CPUTIME_ID) + 30 * MS, 0);
    timer_settime(id, TIMER_ABSTIME, &t, NULL);
    check(spin_for(SIGUSR1, 2) && now(CLOCK_PROCESS_CPUTIME_ID) >= ns_of(t.it_value),
          "one of the process's CPU time comes at an absolute time");
    struct itimerspec left;
    timer_gettime(id, &left);
    check(!ns_of(left.it_value), "... once");
    timer_delete(id);
}

/* ---- User and system time -------------------------------------------------------------------- */

struct parts {
    int64_t user, system;
};

static int64_t ns_of_timeval(struct timeval t)
{
    return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

static struct parts parts_of(int who)
{
    struct rusage r;

    getrusage(who, &r);
    return (struct parts){ns_of_timeval(r.ru_utime), ns_of_timeval(r.ru_stime)};
}

/* Computes, or reads zeros, for 300 ms of CPU time. Returns the parts of it; *fell: one of them has
 * become less. */
static struct parts use_time(bool reads, bool *fell)
{
    static char zeros[65536];
    int file = open("/dev/zero", O_RDONLY);
    struct parts begin = parts_of(RUSAGE_SELF), last = begin, at = begin;

    while (at.user + at.system < begin.user + begin.system + 300 * MS) {
        for (volatile int i = 0; !reads && i < 10000; i++)
            ;
        for (int i = 0; reads && i < 4; i++)
            if (read(file, zeros, sizeof(zeros)) <= 0)
                exit(1);
        at = parts_of(RUSAGE_SELF);
        *fell |= at.user < last.user || at.system < last.system;
        last = at;
    }
    close(file);
    return (struct parts){at.user - begin.user, at.system - begin.system};
}

static void test_parts(void)
{
    bool fell = false;
    struct parts p = use_time(false, &fell);

    check(p.user > 3 * p.system, "who computes has user time");
    p = use_time(true, &fell);
    check(p.system > p.user, "who reads much has system time");
    check(!fell, "... and neither ever falls");
    pid_t child = fork();
    if (!child) {
        use_time(true, &fell);
        _exit(0);
    }
    p = parts_of(RUSAGE_CHILDREN);
    check(p.user + p.system == 0, "a child that was not waited for has no time yet");
    struct rusage r;
    wait4(child, NULL, 0, &r);
    p = parts_of(RUSAGE_CHILDREN);
    check(p.system > p.user && ns_of_timeval(r.ru_stime) == p.system,
          "... and one that was has both parts");
}

/* ---- Threads --------------------------------------------------------------------------------- */

static volatile sig_atomic_t called;

static void call(union sigval value)
{
    called += value.sival_int;
}

static void test_threads(void)
{
    pthread_t thread;
    volatile pid_t tid = 0;
    struct itimerspec t = times(5 * MS, 0);
    struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    timer_t id;

    pthread_create(&thread, NULL, sleeper, (void *)&tid);
    while (!tid)
        usleep(1000);
    handle(SIGUSR1);
    e.sigev_notify_thread_id = tid;
    check(!timer_create(CLOCK_MONOTONIC, &e, &id), "a timer for a thread");
    timer_settime(id, 0, &t, NULL);
    check(wait_for(SIGUSR1, 1) && taker == tid, "... sends it the signal");
    t = times(1 * MS, 1 * MS);
    timer_settime(id, 0, &t, NULL);
    wait_for(SIGUSR1, 5);
    stop_other = true;
    pthread_join(thread, NULL);
    usleep(10000);
    check(!timer_delete(id), "... which may end before it");
    e.sigev_notify_thread_id = 0x7ffffff;
    check(timer_create(CLOCK_MONOTONIC, &e, &id) == -1 && errno == EINVAL,
          "a thread that there is not is refused");
    e = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = call};
    e.sigev_value.sival_int = 7;
    check(!timer_create(CLOCK_MONOTONIC, &e, &id), "a timer that calls a function");
    t = times(2 * MS, 0);
    timer_settime(id, 0, &t, NULL);
    for (int i = 0; i < 5000 && !called; i++)
        usleep(1000);
    check(called == 7, "... calls it with its value");
    timer_delete(id);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static bool refused(clockid_t clock, int notify, int signal, int error)
{
    struct sigevent e = {.sigev_notify = notify, .sigev_signo = signal};
    timer_t id;

    return timer_create(clock, &e, &id) == -1 && errno == error;
}

static void test_refused(void)
{
    timer_t id = make(CLOCK_MONOTONIC, SIGEV_NONE, 0, NULL);
    struct itimerspec t = times(1, 0);

    check(refused(CLOCK_MONOTONIC, SIGEV_SIGNAL, 65, EINVAL), "a signal that there is not");
    check(refused(CLOCK_MONOTONIC, SIGEV_SIGNAL, 0, EINVAL), "... nor 0");
    check(refused(CLOCK_MONOTONIC, 77, SIGUSR1, EINVAL), "a way of telling that there is not");
    check(refused(99, SIGEV_SIGNAL, SIGUSR1, EINVAL), "a clock that there is not");
    check(refused(CLOCK_MONOTONIC_COARSE, SIGEV_SIGNAL, SIGUSR1, EOPNOTSUPP),
          "a clock that has no timers");
    t.it_value.tv_nsec = 1000 * MS;
    check(timer_settime(id, 0, &t, NULL) == -1 && errno == EINVAL, "a bad time");
    check(syscall(SYS_timer_settime, 12345, 0, &t, NULL) == -1 && errno == EINVAL &&
              syscall(SYS_timer_getoverrun, 12345) == -1 && syscall(SYS_timer_delete, -1) == -1,
          "a timer that there is not");
    check(syscall(SYS_timer_create, CLOCK_MONOTONIC, 8, &id) == -1 && errno == EFAULT &&
              syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, 8) == -1 && errno == EFAULT,
          "a bad address");
    timer_delete(id);
}

/* ---- timerfd --------------------------------------------------------------------------------- */

static void test_files(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec t = times(10 * MS, 5 * MS), old;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint64_t got = 0;

    check(fd >= 0 && read(fd, &got, 8) == -1 && errno == EAGAIN, "a timer's file has nothing yet");
    int64_t began = now(CLOCK_MONOTONIC);
    timerfd_settime(fd, 0, &t, NULL);
    check(poll(&p, 1, 20000) == 1 && p.revents == POLLIN && now(CLOCK_MONOTONIC) - began >= 10 * MS,
          "... it is ready when the time has come");
    usleep(30000);
    check(read(fd, &got, 8) == 8 && got >= 6, "... and tells how often it came");
    check(poll(&p, 1, 20000) == 1 && read(fd, &got, 8) == 8 && got >= 1, "... and goes on");
    check(!timerfd_gettime(fd, &old) && ns_of(old.it_interval) == 5 * MS &&
              ns_of(old.it_value) <= 5 * MS,
          "... and tells what is left");
    t = times(0, 0);
    check(!timerfd_settime(fd, 0, &t, &old) && ns_of(old.it_interval) == 5 * MS, "... and stops");
    check(poll(&p, 1, 20) == 0, "... and then is not ready");
    check(read(fd, &got, 4) == -1 && errno == EINVAL, "a short buffer is refused");
    close(fd);
    fd = timerfd_create(CLOCK_REALTIME, 0);
    t = times(now(CLOCK_REALTIME) + 10 * MS, 0);
    timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL);
    check(read(fd, &got, 8) == 8 && got == 1 && now(CLOCK_REALTIME) >= ns_of(t.it_value),
          "a read sleeps until a date");
    close(fd);
    check(timerfd_settime(1, 0, &t, NULL) == -1 && errno == EINVAL, "other files are no timers");
    check(timerfd_create(CLOCK_MONOTONIC, 1) == -1 && errno == EINVAL &&
              timerfd_create(77, 0) == -1 && errno == EINVAL,
          "bad flags and clocks are refused");
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    t = times(1, 1);
    timerfd_settime(fd, 0, &t, NULL);
    for (int i = 0; i < 100; i++)
        got = read(fd, &got, 8) == 8 ? 1 : 0;
    check(got == 1, "a period of 1 ns leaves the program time to run");
    close(fd);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_itimers();
    test_cpu_itimers();
    test_timers();
    test_overruns();
    test_cpu_time();
    test_parts();
    test_threads();
    test_refused();
    test_files();
    printf("1..%u\n", count);
    for (int i = 0; i < 100; i++) /* the process ends with timers that wait */
        make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGCHLD, NULL);
    handle(SIGUSR1);
    struct itimerspec t = times(MS, MS);
    timer_settime(make(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR1, NULL), 0, &t, NULL);
    return failed != 0;
}
