/*
 * Waiting for many files, as a program of Linux's has it: epoll by level, by edge and once, epolls
 * in epolls, files of signals. Prints TAP; the same under Linux.
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
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static struct epoll_event got[8];

static int add(int ep, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event e = {.events = events, .data.u64 = data};

    return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
}

static int change(int ep, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event e = {.events = events, .data.u64 = data};

    return epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e);
}

static bool is_next(int ep, int ms, uint32_t events, uint64_t data)
{
    int n = epoll_wait(ep, got, 8, ms);

    if (n != 1 || got[0].events != events || got[0].data.u64 != data)
        printf("# %d events, %#x, data %llu\n", n, got[0].events,
               (unsigned long long)got[0].data.u64);
    return n == 1 && got[0].events == events && got[0].data.u64 == data;
}

static void put(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        printf("# write: %s\n", strerror(errno));
}

static void drop(int fd, size_t n)
{
    char buffer[65536];

    if (read(fd, buffer, n) != (ssize_t)n)
        printf("# read: %s\n", strerror(errno));
}

static void test_levels(void)
{
    int ep = epoll_create1(EPOLL_CLOEXEC), ends[2], others[2];

    check(ep >= 0 && !pipe(ends) && !pipe(others), "an epoll");
    check(fcntl(ep, F_GETFD) == FD_CLOEXEC, "... that exec closes");
    check(!add(ep, ends[0], EPOLLIN, 0x123456789abcdef0), "it waits for a pipe");
    check(epoll_wait(ep, got, 8, 0) == 0 && epoll_wait(ep, got, 8, 5) == 0, "... that is empty");
    put(ends[1], "abc");
    check(is_next(ep, -1, EPOLLIN, 0x123456789abcdef0), "... and tells that it is not");
    check(is_next(ep, 0, EPOLLIN, 0x123456789abcdef0), "... as long as it is not");
    drop(ends[0], 3);
    check(epoll_wait(ep, got, 8, 0) == 0, "... and no longer");
    check(!add(ep, others[1], EPOLLOUT, 2) && is_next(ep, 0, EPOLLOUT, 2),
          "another can be written");
    put(ends[1], "x");
    check(epoll_wait(ep, got, 8, 0) == 2, "both are told");
    check(epoll_wait(ep, got, 1, 0) == 1, "... one where there is room for one");
    uint64_t first = got[0].data.u64;
    check(epoll_wait(ep, got, 1, 0) == 1 && got[0].data.u64 != first, "... then the other");
    check(!change(ep, ends[0], 0, 7) && is_next(ep, 0, EPOLLOUT, 2), "one is asked for nothing");
    check(!epoll_ctl(ep, EPOLL_CTL_DEL, others[1], NULL) && epoll_wait(ep, got, 8, 0) == 0,
          "... the other is taken out");
    close(ends[1]);
    check(is_next(ep, 0, EPOLLHUP, 7), "a hang-up is always told");
    close(ends[0]);
    check(epoll_wait(ep, got, 8, 0) == 0, "a file that is closed is gone");
    close(others[0]);
    check(!add(ep, others[1], 0, 3) && is_next(ep, 0, EPOLLERR, 3), "an error is always told");
    close(others[1]);
    close(ep);
}

static void test_edges(void)
{
    int ep = epoll_create1(0), ends[2];

    (void)!pipe2(ends, O_NONBLOCK);
    add(ep, ends[0], EPOLLIN | EPOLLET, 1);
    put(ends[1], "abc");
    check(is_next(ep, -1, EPOLLIN, 1) && epoll_wait(ep, got, 8, 0) == 0, "an edge is told once");
    drop(ends[0], 1);
    check(epoll_wait(ep, got, 8, 0) == 0, "... reading a part is none");
    put(ends[1], "d");
    check(is_next(ep, 0, EPOLLIN, 1), "... but what is written is");
    change(ep, ends[0], EPOLLIN | EPOLLET, 1);
    check(is_next(ep, 0, EPOLLIN, 1), "... and asking again");
    change(ep, ends[0], EPOLLIN | EPOLLONESHOT, 2);
    check(is_next(ep, 0, EPOLLIN, 2), "once is told");
    put(ends[1], "e");
    check(epoll_wait(ep, got, 8, 0) == 0, "... once");
    change(ep, ends[0], EPOLLIN | EPOLLONESHOT, 3);
    check(is_next(ep, 0, EPOLLIN, 3), "... and again where it is asked for");
    int writer = epoll_create1(0), n = 0;
    add(writer, ends[1], EPOLLOUT | EPOLLET, 4);
    check(is_next(writer, 0, EPOLLOUT, 4) && epoll_wait(writer, got, 8, 0) == 0, "a writer's edge");
    while (write(ends[1], &n, 1) == 1)
        n++;
    check(epoll_wait(writer, got, 8, 0) == 0, "... a full pipe is none");
    drop(ends[0], 5000);
    check(is_next(writer, 0, EPOLLOUT, 4), "... room is");
    close(ends[0]), close(ends[1]), close(ep), close(writer);
}

static void test_nested(void)
{
    int outer = epoll_create1(0), inner = epoll_create1(0), third = epoll_create1(0);
    int event = eventfd(0, 0);
    struct pollfd p = {.fd = outer, .events = POLLIN};

    check(!add(inner, event, EPOLLIN, 1) && !add(outer, inner, EPOLLIN, 2), "an epoll in an epoll");
    check(poll(&p, 1, 0) == 0 && epoll_wait(outer, got, 8, 0) == 0, "... that has nothing");
    eventfd_write(event, 1);
    check(poll(&p, 1, -1) == 1 && is_next(outer, 0, EPOLLIN, 2), "... tells what is in it");
    check(is_next(inner, 0, EPOLLIN, 1), "... which is still there");
    eventfd_t value;
    eventfd_read(event, &value);
    check(poll(&p, 1, 0) == 0 && epoll_wait(outer, got, 8, 0) == 0, "... and then is not");
    check(add(outer, outer, EPOLLIN, 0) == -1 && errno == EINVAL, "not in itself");
    check(add(inner, outer, EPOLLIN, 0) == -1 && errno == ELOOP, "... nor around a corner");
    close(outer), close(inner), close(third), close(event);
}

static int waited_for;

static void *write_later(void *arg)
{
    (void)arg;
    usleep(20000);
    eventfd_write(waited_for, 1);
    return NULL;
}

static void *wait_in(void *arg)
{
    struct epoll_event e;

    return (void *)(intptr_t)epoll_wait((int)(intptr_t)arg, &e, 1, 20000);
}

static void test_sleep(void)
{
    int ep = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_t thread, sleepers[4];
    struct timespec before, after;

    waited_for = eventfd(0, 0);
    add(ep, waited_for, EPOLLIN, 1);
    pthread_create(&thread, NULL, write_later, NULL);
    check(is_next(ep, 20000, EPOLLIN, 1), "a wait ends when another thread writes");
    pthread_join(thread, NULL);
    change(ep, waited_for, EPOLLIN | EPOLLET, 1);
    epoll_wait(ep, got, 8, 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    check(epoll_wait(ep, got, 8, 30) == 0, "... or when its time is over");
    clock_gettime(CLOCK_MONOTONIC, &after);
    check((after.tv_sec - before.tv_sec) * 1000000000ll + after.tv_nsec - before.tv_nsec >=
              30000000,
          "... not sooner");
    add(ep, timer, EPOLLIN, 5);
    struct itimerspec t = {{0, 0}, {0, 10000000}};
    timerfd_settime(timer, 0, &t, NULL);
    check(is_next(ep, 20000, EPOLLIN, 5), "a timer ends it");
    uint64_t times;
    (void)!read(timer, &times, 8);
    change(ep, waited_for, EPOLLIN | EPOLLONESHOT, 1);
    eventfd_t value;
    eventfd_read(waited_for, &value);
    change(ep, waited_for, EPOLLIN, 1);
    for (int i = 0; i < 4; i++)
        pthread_create(&sleepers[i], NULL, wait_in, (void *)(intptr_t)ep);
    usleep(20000);
    eventfd_write(waited_for, 1);
    intptr_t found = 0;
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(sleepers[i], &result);
        found += (intptr_t)result;
    }
    check(found == 4, "all that wait for what stays ready get it");
    close(ep), close(timer), close(waited_for);
}

static void test_refused(void)
{
    int ep = epoll_create1(0), ends[2], file = open("/proc/self/stat", O_RDONLY);
    struct epoll_event e = {.events = EPOLLIN};

    (void)!pipe(ends);
    check(epoll_create(0) == -1 && errno == EINVAL && epoll_create1(1) == -1 && errno == EINVAL,
          "bad sizes and flags are refused");
    check(add(ep, 999, EPOLLIN, 0) == -1 && errno == EBADF, "a bad descriptor");
    check(add(ends[0], ends[1], EPOLLIN, 0) == -1 && errno == EINVAL, "what is no epoll");
    check(add(ep, ends[0], EPOLLIN, 0) == 0 && add(ep, ends[0], EPOLLIN, 0) == -1 &&
              errno == EEXIST,
          "the same twice");
    int copy = dup(ends[0]);
    check(add(ep, copy, EPOLLIN, 0) == 0, "... but not a copy");
    check(change(ep, ends[1], EPOLLIN, 0) == -1 && errno == ENOENT,
          "a descriptor that was not added is not changed");
    check(epoll_ctl(ep, 9, ends[0], &e) == -1 && errno == EINVAL, "a bad operation");
    check(epoll_ctl(ep, EPOLL_CTL_ADD, ends[1], (void *)8) == -1 && errno == EFAULT, "bad events");
    check(epoll_wait(ep, got, 0, 0) == -1 && errno == EINVAL, "no room");
    put(ends[1], "x");
    check(syscall(SYS_epoll_pwait, ep, (void *)8, 1, 0, NULL, 8) == -1 && errno == EFAULT,
          "a bad address");
    close(ep), close(ends[0]), close(ends[1]), close(copy), close(file);
}

static void test_exclusive(void)
{
    int ep = epoll_create1(0), other = epoll_create1(0), ends[2];
    struct epoll_event got[2];

    check(!pipe(ends) && !add(ep, ends[0], EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, 1) &&
              !add(other, ends[0], EPOLLIN | EPOLLEXCLUSIVE, 2),
          "two epolls wait for a pipe, each exclusively");
    put(ends[1], "x");
    check(epoll_wait(ep, got, 2, 0) + epoll_wait(other, got + 1, 1, 0) >= 1, "... one is told");
    check(change(ep, ends[0], EPOLLIN, 1) == -1 && errno == EINVAL, "... which is not changed");
    check(change(ep, ends[1], EPOLLOUT | EPOLLEXCLUSIVE, 1) == -1 && errno == EINVAL,
          "... nor is another file to exclusive");
    check(add(ep, ends[1], EPOLLOUT | EPOLLONESHOT | EPOLLEXCLUSIVE, 1) == -1 && errno == EINVAL,
          "not once and exclusively");
    check(add(ep, ends[1], EPOLLRDHUP | EPOLLEXCLUSIVE, 1) == -1 && errno == EINVAL,
          "not for half a hang-up");
    check(add(ep, other, EPOLLIN | EPOLLEXCLUSIVE, 1) == -1 && errno == EINVAL, "not for an epoll");
    close(ep), close(other), close(ends[0]), close(ends[1]);
}

static volatile sig_atomic_t taken;

static void note(int n)
{
    taken = n;
}

static void test_masks(void)
{
    int ep = epoll_create1(0), event = eventfd(0, 0);
    sigset_t usr1, none;

    add(ep, event, EPOLLIN, 1);
    sigemptyset(&none);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    signal(SIGUSR1, note);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    raise(SIGUSR1);
    check(epoll_wait(ep, got, 8, 10) == 0 && !taken, "a blocked signal does not end a wait");
    check(epoll_pwait(ep, got, 8, 20000, &none) == -1 && errno == EINTR && taken == SIGUSR1,
          "... but where the wait unblocks it");
    taken = 0;
    raise(SIGUSR1);
    check(!taken, "... and it is blocked again");
    struct timespec t = {0, 5000000};
    check(syscall(SYS_epoll_pwait2, ep, got, 8, &t, NULL, 8) == 0, "a wait by nanoseconds");
    sigprocmask(SIG_UNBLOCK, &usr1, NULL);
    close(ep), close(event);
}

static void *raise_later(void *arg)
{
    (void)arg;
    usleep(20000);
    kill(getpid(), SIGUSR2);
    return NULL;
}

static void test_signal_files(void)
{
    sigset_t set;
    struct signalfd_siginfo s[4];
    pthread_t thread;
    int ep = epoll_create1(0);

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    check(fd >= 0 && read(fd, s, sizeof s) == -1 && errno == EAGAIN, "a file of signals, empty");
    add(ep, fd, EPOLLIN, 1);
    kill(getpid(), SIGUSR1);
    check(is_next(ep, 0, EPOLLIN, 1), "... is ready when one waits");
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 42});
    check(read(fd, s, sizeof s) == 2 * sizeof s[0], "... all are read");
    check(s[0].ssi_signo == SIGUSR1 && s[0].ssi_code == SI_USER &&
              s[0].ssi_pid == (uint32_t)getpid() && s[1].ssi_signo == (uint32_t)SIGRTMIN &&
              s[1].ssi_int == 42 && s[1].ssi_code == SI_QUEUE,
          "... with what they say");
    check(epoll_wait(ep, got, 8, 0) == 0, "... and then it is not ready");
    check(read(fd, s, 8) == -1 && errno == EINVAL, "a short buffer is refused");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    check(signalfd(fd, &set, 0) == fd, "its signals are changed");
    int slow = signalfd(-1, &set, 0);
    pthread_create(&thread, NULL, raise_later, NULL);
    check(read(slow, s, sizeof s) == sizeof s[0] && s[0].ssi_signo == SIGUSR2,
          "a read sleeps until one comes");
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, raise_later, NULL);
    check(is_next(ep, 20000, EPOLLIN, 1), "... and so does an epoll");
    pthread_join(thread, NULL);
    check(signalfd(ep, &set, 0) == -1 && errno == EINVAL, "another file is refused");
    close(fd), close(slow), close(ep);
}

/* Epolls that share a file: each has a thread that waits. */
enum { SHARERS = 4 };
static int shared;
static unsigned woken;

static void *wait_once(void *arg)
{
    struct epoll_event e;
    int ep = epoll_create1(0);

    add(ep, shared, EPOLLIN | EPOLLEXCLUSIVE, 0);
    if (epoll_wait(ep, &e, 1, -1) == 1)
        __atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
    close(ep);
    return arg;
}

static void test_sharing(void)
{
    pthread_t threads[SHARERS];

    shared = eventfd(0, EFD_NONBLOCK);
    for (int i = 0; i < SHARERS; i++)
        pthread_create(&threads[i], NULL, wait_once, NULL);
    usleep(100000);
    for (unsigned i = 1; i <= SHARERS; i++) {
        eventfd_write(shared, 1);
        usleep(100000);
        if (i == 1)
            check(woken == 1, "of epolls that share a file one has its event");
    }
    for (int i = 0; i < SHARERS; i++)
        pthread_join(threads[i], NULL);
    check(woken == SHARERS, "... the next event is another one's");
    close(shared);
}

/* Threads write to many counters, others wait for them in one epoll: each event is found once. */
enum { COUNTERS = 64, WRITERS = 4, READERS = 4, ROUNDS = 2000 };
static int counters[COUNTERS], many;
static unsigned found[COUNTERS];
static unsigned total;

static void *write_many(void *arg)
{
    unsigned seed = (unsigned)(intptr_t)arg;

    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245 + 12345;
        eventfd_write(counters[seed >> 16 & (COUNTERS - 1)], 1);
    }
    return NULL;
}

static void *read_many(void *arg)
{
    struct epoll_event e[4];

    (void)arg;
    while (__atomic_load_n(&total, __ATOMIC_RELAXED) < WRITERS * ROUNDS) {
        int n = epoll_wait(many, e, 4, 100);
        for (int i = 0; i < n; i++) {
            eventfd_t value;
            if (!eventfd_read(counters[e[i].data.u32], &value)) {
                __atomic_fetch_add(&found[e[i].data.u32], value, __ATOMIC_RELAXED);
                __atomic_fetch_add(&total, value, __ATOMIC_RELAXED);
            }
            if (e[i].data.u32 & 1) /* these are told once */
                change(many, counters[e[i].data.u32], EPOLLIN | EPOLLONESHOT, e[i].data.u32);
        }
    }
    return NULL;
}

static void test_many(void)
{
    pthread_t threads[WRITERS + READERS];

    many = epoll_create1(0);
    for (unsigned i = 0; i < COUNTERS; i++) {
        counters[i] = eventfd(0, EFD_NONBLOCK);
        add(many, counters[i], EPOLLIN | (i & 1 ? EPOLLONESHOT : i & 2 ? EPOLLET : 0), i);
    }
    for (int i = 0; i < WRITERS + READERS; i++)
        pthread_create(&threads[i], NULL, i < WRITERS ? write_many : read_many,
                       (void *)(intptr_t)(i + 1));
    for (int i = 0; i < WRITERS + READERS; i++)
        pthread_join(threads[i], NULL);
    check(total == WRITERS * ROUNDS, "threads that write and threads that wait lose nothing");
}

static long free_kb(void)
{
    char line[100];
    long kb = 0;
    FILE *f = fopen("/proc/meminfo", "r");

    while (f && fgets(line, sizeof(line), f))
        sscanf(line, "MemFree: %ld", &kb);
    if (f)
        fclose(f);
    return kb;
}

/* Epolls wait for files that are closed before them, and after them. */
static void wait_and_close(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        int ep = epoll_create1(0), file = eventfd(1, EFD_NONBLOCK);
        add(ep, file, EPOLLIN, 0);
        epoll_wait(ep, got, 8, 0);
        close(i % 2 ? ep : file);
        close(i % 2 ? file : ep);
    }
}

static void test_memory(void)
{
    wait_and_close(1000);
    long before = free_kb();
    wait_and_close(20000);
    long less = before - free_kb();
    printf("# %ld KB less\n", less);
    check(less < 2000, "what epolls have waited for leaves no memory behind");
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_levels();
    test_edges();
    test_nested();
    test_sleep();
    test_refused();
    test_exclusive();
    test_masks();
    test_signal_files();
    test_sharing();
    test_many();
    test_memory();
    printf("1..%u\n", count);
    return failed != 0;
}
