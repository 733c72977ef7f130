/*
 * Counts that a program reads without a system call. reads exact: each instruction is counted
 * (QEMU's -icount, one CPU); reads: what holds on any machine whose counters user mode can read;
 * reads ghz: on one that counts 10^9 cycles a second besides; reads call: on one whose counters it
 * cannot; reads memory: on one whose counters it reads in memory; reads cost: what a reading costs.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/libc/syscall.h"
#include "test/qemu/apps/known_loop.h"
#include "test/qemu/apps/tap.h"

enum { THREADS = 6, ROUNDS = 2000, EVENTS = 2, MANY = 200, CLOCK_ERROR_NS = 100 };

static int session;

static uint64_t by_call(unsigned i)
{
    const struct sys_hpm_read own = {.session = (uint32_t)session, .scope = SYS_SCOPE_THREAD};
    struct sys_hpm_value v[HPM_USER_COUNTS];

    return hpm_values(&own, v, HPM_USER_COUNTS) > (int)i ? v[i].count : 0;
}

/* Returns the instructions counted over two loops of `n` rounds, with between() in the middle. */
static uint64_t loop_of(uint64_t n, void (*between)(void))
{
    uint64_t before = 0, after = 0;

    hpm_count_read(session, 0, &before);
    known_loop(n);
    if (between)
        between();
    known_loop(n);
    hpm_count_read(session, 0, &after);
    return after - before;
}

/* Returns the least of several counts: a thread that is preempted while it reads must read again,
 * which takes more instructions. */
static uint64_t least_of(uint64_t n, void (*between)(void))
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < 3; i++) {
        uint64_t is = loop_of(n, between);
        least = is < least ? is : least;
    }
    return least;
}

static void nothing(void)
{
}

static void give_way(void)
{
    sched_yield();
}

static void differ(void (*between)(void), const char *when)
{
    unsigned wrong = 0;

    loop_of(1, between);
    uint64_t least = least_of(1, between);
    for (uint64_t n = 1; n < MANY; n++) {
        uint64_t more = least_of(1 + 1000 * n, between) - least;
        if (more != 4000 * n && !wrong++)
            printf("# %llu: %llu\n", (unsigned long long)n, (unsigned long long)more);
    }
    tap_check(!wrong, "loops differ by their instructions, %s (%u do not)", when, wrong);
}

/* Ways of reading take turns, and never go back, whatever the other threads do. */
static void *read_both_ways(void *arg)
{
    unsigned *wrong = arg;
    uint64_t last[EVENTS] = {0}, now = 0;

    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < EVENTS; i++) {
            int how = round % 3 ? hpm_count_read(session, i, &now) : 1;
            if (!(round % 3))
                now = by_call(i);
            *wrong += how != 1 || now < last[i];
            last[i] = now;
            if (round % 16 == 0)
                sched_yield();
        }
    return NULL;
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Between two readings no count grows by more than the time that passes. */
static void *read_by_the_clock(void *arg)
{
    unsigned *wrong = arg;
    uint64_t last[EVENTS] = {0}, since[EVENTS] = {0}, now = 0;

    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < EVENTS; i++) {
            uint64_t before = clock_ns();
            int how = hpm_count_read(session, i, &now);
            *wrong += how != 1 || (round && now - last[i] > clock_ns() - since[i] + CLOCK_ERROR_NS);
            last[i] = now;
            since[i] = before;
            sched_yield();
        }
    return NULL;
}

static unsigned threads_read(void *(*body)(void *))
{
    pthread_t thread[THREADS];
    unsigned wrong[THREADS] = {0}, sum = 0;

    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, body, &wrong[i]);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        sum += wrong[i];
    }
    return sum;
}

static void *read_once(void *arg)
{
    uint64_t count;

    *(unsigned *)arg += hpm_count_read(session, 0, &count) != 1;
    return NULL;
}

static uint64_t free_bytes(void)
{
    return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * 4096;
}

static void pages_come_back(void)
{
    unsigned wrong = 0;
    uint64_t before = 0;

    for (unsigned i = 0; i < MANY; i++) {
        pthread_t t;
        if (i == MANY / 2)
            before = free_bytes();
        pthread_create(&t, NULL, read_once, &wrong);
        pthread_join(t, NULL);
    }
    tap_check(!wrong, "every new thread has its page");
    tap_check(free_bytes() + MANY * 1024 > before, "... which comes back");
}

static void pages_are_the_kernels(void)
{
    int64_t at = (int64_t)syscall1(SYS_HPM_SHOW, session);

    tap_check(at > 0 && (int64_t)syscall1(SYS_HPM_SHOW, session) == at, "a thread has one page");
    tap_check((int64_t)syscall2(SYS_munmap, at, 4096) < 0 &&
                  (int64_t)syscall3(SYS_mprotect, at, 4096, LINUX_PROT_READ | LINUX_PROT_WRITE) < 0,
              "... which is not its to unmap or to change");
    tap_check((int64_t)syscall1(SYS_sysinfo, at) == -EFAULT,
              "... nor is it written by system calls");
    tap_check((int64_t)syscall1(SYS_HPM_SHOW, session + 1) == -ESRCH &&
                  (int64_t)syscall1(SYS_HPM_SHOW, 0x100000000 + session) == -ESRCH,
              "of other sessions there is none");
}

static void sessions_follow_each_other(void)
{
    char why[160];
    uint64_t first = 0, second = 0, count = 0;
    int more = hpm_open("cycles:u", why, sizeof why);

    tap_check(more > 0 && hpm_count_read(more, 0, &second) == 1,
              "another session has counts of its own");
    tap_check(hpm_count_read(session, 0, &first) == 1 && second < first, "... from its opening on");
    tap_check(hpm_count_read(session, EVENTS, &count) == -EINVAL &&
                  hpm_count_read(session, 99, &count) == -EINVAL,
              "counts that there are not are refused");
    hpm_close(more);
    tap_check(hpm_count_read(session, 0, &second) == 1 && second > first,
              "the first goes on when it is closed");
    tap_check(hpm_count_read(more, 0, &count) == -ESRCH, "... and that is no more");
}

static void metrics_are_asked_for(void)
{
    char why[160];
    uint64_t count;
    int mixed = hpm_open("ipc,instructions:u", why, sizeof why);

    if (mixed < 0) {
        tap_skip("metrics", why);
        return;
    }
    tap_check(hpm_count_read(mixed, 0, &count) == -EINVAL, "a metric is no count");
    tap_check(hpm_count_read(mixed, 1, &count) >= 0, "... the event behind it is");
    hpm_close(mixed);
}

static void run_on(unsigned cpu)
{
    cpu_set_t at;

    CPU_ZERO(&at);
    CPU_SET(cpu, &at);
    pthread_setaffinity_np(pthread_self(), sizeof at, &at);
}

static volatile struct hpm_user_latch *latch_of(unsigned cpu)
{
    const volatile struct hpm_user_page *page =
        (const volatile struct hpm_user_page *)syscall1(SYS_HPM_SHOW, session);

    run_on(cpu);
    return (volatile struct hpm_user_latch *)page->latch;
}

/* Returns the sum of a page's values after a store to its latch. */
static uint64_t latched(volatile struct hpm_user_latch *l)
{
    uint64_t sum = 0;

    l->latch = 1;
    for (unsigned i = 0; i < 6; i++)
        sum += l->value[i];
    return sum;
}

/* Counts are exact on every CPU that the thread moves to. */
static uint64_t last_least;

static void loops_move(void)
{
    unsigned wrong = 0, cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t before = 0, after = 0;

    for (unsigned i = 0; i < 8 * cpus; i++) {
        for (unsigned n = 0; n < 2; n++) {
            uint64_t is = UINT64_MAX;
            for (unsigned again = 0; again < 3; again++) {
                run_on(i % cpus);
                hpm_count_read(session, 0, &before);
                known_loop(1 + 1000 * n);
                run_on((i + 1) % cpus);
                hpm_count_read(session, 0, &after);
                is = after - before < is ? after - before : is;
            }
            if (n && is != last_least + 2000 && !wrong++)
                printf("# %llu and %llu\n", (unsigned long long)last_least, (unsigned long long)is);
            last_least = is;
        }
    }
    tap_check(!wrong, "... and across migrations (%u do not)", wrong);
}

static void counters_in_memory(void)
{
    volatile struct hpm_user_latch *first = latch_of(0), *second = latch_of(1);
    uint64_t before, sum;

    loops_move();
    tap_check(first && (uintptr_t)second == (uintptr_t)first + 4096, "each CPU has its counters");
    run_on(1);
    before = latched(second);
    sum = latched(second);
    tap_check(sum > before && before, "a store to its own latches its values");
    before = latched(first);
    known_loop(1000);
    tap_check(latched(first) == before, "... to another CPU's does nothing");
    hpm_close(session);
    tap_check(!latched(second), "with its session closed a thread gets no values");
    uint64_t count = 0;
    tap_check(hpm_count_read(session, 0, &count) == -ESRCH, "... nor by a call");
}

/* Between marks, 100 readings and 1,100, so that the difference is that of 1,000. */
static void cost(void)
{
    static const char *const label[] = {"few", "many"};
    uint64_t count;

    run_on(0);
    hpm_count_read(session, 1, &count);
    for (unsigned i = 0; i < 42; i++) {
        hpm_mark(label[i % 2]);
        for (unsigned n = i % 2 ? 1100 : 100; n; n--)
            hpm_count_read(session, 1, &count);
        hpm_mark("end");
    }
    tap_check(hpm_count_read(session, 1, &count) == 1, "read without a call");
}

int main(int argc, char **argv)
{
    char why[160] = "";
    uint64_t count = 0;

    /* fault: reads a register that it has not asked for. */
    if (argc > 1 && !strcmp(argv[1], "fault"))
        return (int)counter_read(1);
    session = hpm_open("instructions:u,cycles", why, sizeof why);
    if (session == -EOPNOTSUPP || session == -ENOSPC)
        session = hpm_open("cycles:u,cycles", why, sizeof why);
    printf("# session=%d\n", session);
    tap_check(session > 0, "a session (%s)", why);
    if (argc > 1 && !strcmp(argv[1], "call")) {
        tap_check(hpm_count_read(session, 1, &count) == 0 && count, "it is read by the call");
        tap_check((int64_t)syscall1(SYS_HPM_SHOW, session) == -EOPNOTSUPP,
                  "... for user mode cannot");
        return tap_done();
    }
    tap_check(hpm_count_read(session, 0, &count) == 1, "it is read without a call");
    if (argc > 1 && !strcmp(argv[1], "cost")) {
        cost();
        return tap_done();
    }
    if (argc > 1 && !strcmp(argv[1], "memory")) {
        counters_in_memory();
        return tap_done();
    }
    if (argc > 1 && !strcmp(argv[1], "exact")) {
        differ(nothing, "alone");
        differ(give_way, "across system calls");
    }
    tap_check(!threads_read(read_both_ways), "threads read both ways, and counts never go back");
    if (argc > 1 && !strcmp(argv[1], "ghz")) {
        unsigned fast = threads_read(read_by_the_clock);
        tap_check(!fast, "... nor ahead of the time (%u times)", fast);
    }
    pages_come_back();
    pages_are_the_kernels();
    sessions_follow_each_other();
    metrics_are_asked_for();
    char *fault[] = {"reads", "fault"};
    int pid = application_start(fault, 2);
    int status = application_wait(pid); /* of SIGSEGV or SIGILL */
    tap_check(status == 139 || status == 132, "a thread that has not asked reads no counter");
    if (argc > 1 && !strcmp(argv[1], "closed")) {
        hpm_close(session);
        return (int)counter_read(1);
    }
    return tap_done();
}
