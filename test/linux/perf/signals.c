/* Who is told of samples, and when: signals, REFRESH, PERIOD, PAUSE_OUTPUT, watermarks. */
#include "perf.h"

#define NEWS (SIGRTMIN + 1)

static volatile int told_in, told_hup, told_fd, told_simple;

static void on_news(int number, siginfo_t *info, void *unused)
{
    (void)number, (void)unused;
    told_in += info->si_code == POLL_IN;
    told_hup += info->si_code == POLL_HUP;
    told_fd = info->si_fd;
}

static void on_simple(int number)
{
    (void)number;
    told_simple++;
}

/* Works until something is not 0, or for a long time. */
static void work_until(const volatile int *what)
{
    for (int tries = 0; tries < 500 && !*what; tries++)
        work(LOOPS);
}

static int open_telling(uint32_t events, struct ring *r)
{
    struct perf_event_attr a = sampling_attr();

    a.wakeup_events = events;
    int fd = open_event(&a, 0, -1, -1, 0);
    *r = map_ring(fd, 8);
    return fd;
}

static unsigned count_samples(struct ring *r)
{
    union {
        struct perf_event_header h;
        uint8_t bytes[65536];
    } u;
    unsigned n = 0;

    while (next_record(r, &u))
        n += u.h.type == PERF_RECORD_SAMPLE;
    return n;
}

/* Returns the samples of some work. The buffer is never full. */
static unsigned sample_work(int fd, struct ring *r)
{
    unsigned n = 0;

    count_samples(r);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int i = 0; i < 80; i++) {
        work(LOOPS / 2);
        n += count_samples(r);
    }
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    return n + count_samples(r);
}

/* Prints how late samples come to the buffer, on average, if its clock can be read. */
static void print_lateness(int fd, struct ring *r)
{
    union {
        struct {
            struct perf_event_header h;
            uint64_t id, ip, thread, time;
        } s;
        uint8_t bytes[65536];
    } u;
    uint64_t late = 0, samples = 0;

    count_samples(r);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int i = 0; i < 8000; i++) {
        work(LOOPS / 50);
        uint64_t now = clock_of(r->page);
        for (; next_record(r, &u); samples++)
            late += now > u.s.time ? now - u.s.time : 0;
    }
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (r->page->cap_user_time_zero && samples)
        printf("# without O_ASYNC: %llu samples, %llu us late\n", (unsigned long long)samples,
               (unsigned long long)(late / samples / 1000));
}

static void *own(void *fd)
{
    return (void *)(intptr_t)fcntl((int)(intptr_t)fd, F_SETOWN, (int)syscall(SYS_gettid));
}

void test_owners(void)
{
    struct perf_event_attr a = sampling_attr();
    struct f_owner_ex who = {F_OWNER_TID, gettid()}, is = {0};
    int fd = open_event(&a, 0, -1, -1, 0);

    check(!fcntl(fd, F_GETOWN) && !fcntl(fd, F_GETSIG), "a file has no owner and no signal");
    check(!fcntl(fd, F_SETOWN, getpid()) && fcntl(fd, F_GETOWN) == getpid(), "a process owns it");
    check(!fcntl(fd, F_SETOWN, -getpgrp()) && !fcntl(fd, F_GETOWN_EX, &is) &&
              is.type == F_OWNER_PGRP && is.pid == getpgrp(),
          "... or a group");
    check(!fcntl(fd, F_SETOWN_EX, &who) && !fcntl(fd, F_GETOWN_EX, &is) && is.type == F_OWNER_TID &&
              is.pid == gettid(),
          "... or a thread");
    pthread_t t;
    void *result = NULL;
    pthread_create(&t, NULL, own, (void *)(intptr_t)fd);
    pthread_join(t, &result);
    check(!result, "the number of a thread also means its process");
    fails("a process that is not there", fcntl(fd, F_SETOWN, 999999), ESRCH);
    who.type = 3;
    fails("another kind of owner", fcntl(fd, F_SETOWN_EX, &who), EINVAL);
    fails("an owner from nowhere", fcntl(fd, F_SETOWN_EX, (void *)8), EFAULT);
    check(!fcntl(fd, F_SETSIG, NEWS) && fcntl(fd, F_GETSIG) == NEWS, "its signal is set");
    fails("signal 65", fcntl(fd, F_SETSIG, 65), EINVAL);
    close(fd);
}

void test_refresh(void)
{
    struct sigaction act = {.sa_sigaction = on_news, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct f_owner_ex who = {F_OWNER_TID, gettid()};
    struct ring r;
    int fd = open_telling(1, &r);

    sigaction(NEWS, &act, NULL);
    fcntl(fd, F_SETOWN_EX, &who);
    fcntl(fd, F_SETSIG, NEWS);
    fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC);
    check(!ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), "REFRESH");
    work_until(&told_hup);
    printf("# told %d times of samples, %d times of the end\n", told_in, told_hup);
    check(told_hup == 1 && told_in <= 2 && told_fd == fd,
          "a signal says that there were as many samples, by which descriptor");
    unsigned samples = count_samples(&r);
    check(samples == 3, "... of which there are as many");
    work(50 * LOOPS);
    check(!count_samples(&r) && told_hup == 1, "... and the event is disabled then");
    told_hup = 0;
    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
    work_until(&told_hup);
    check(told_hup == 1 && count_samples(&r) == 1, "... until REFRESH enables it again");
    /* Each sample is told of at once. */
    told_in = 0;
    samples = sample_work(fd, &r);
    printf("# %u samples, told %d times\n", samples, told_in);
    check(told_in >= 3 && (unsigned)told_in <= samples + 1 && (unsigned)told_in * 4 >= samples * 3,
          "a signal for each sample");
    fcntl(fd, F_SETFL, O_RDWR);
    told_in = 0;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    work(50 * LOOPS);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    check(!told_in, "... and none without O_ASYNC");
    print_lateness(fd, &r);
    /* Without F_SETSIG it is SIGIO. */
    signal(SIGIO, on_simple);
    fcntl(fd, F_SETSIG, 0);
    fcntl(fd, F_SETFL, O_RDWR | O_ASYNC);
    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
    work_until(&told_simple);
    check(told_simple == 1, "SIGIO, if no other signal is set");
    signal(SIGIO, SIG_DFL);
    close(fd);
    struct perf_event_attr a = sampling_attr();
    a.inherit = 1;
    fd = open_event(&a, 0, -1, -1, 0);
    fails("REFRESH of what is inherited", ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), EINVAL);
    close(fd);
}

static int storm(uint32_t type, uint64_t config, uint64_t period, struct ring *r)
{
    struct perf_event_attr a = sampling_attr();

    a.type = type;
    a.config = config;
    a.sample_period = period;
    a.wakeup_events = 1;
    int fd = open_event(&a, 0, -1, -1, 0);
    if (fd >= 0)
        *r = map_ring(fd, 8);
    return fd;
}

/* Works for `rounds` rounds, or until a record of throttling has come. Returns the number of
 * those. */
static unsigned work_in_storm(int fd, struct ring *r, int rounds)
{
    union {
        struct perf_event_header h;
        uint8_t bytes[65536];
    } u;
    unsigned throttled = 0;

    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int i = 0; i < rounds && !throttled; i++) {
        work(LOOPS / 4);
        while (next_record(r, &u))
            throttled += u.h.type == PERF_RECORD_THROTTLE;
    }
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    close(fd);
    return throttled;
}

/* A signal for each sample, which come faster than they are handled: the program goes on. */
void test_storm(void)
{
    struct ring r;
    int fd = storm(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10000, &r);

    signal(SIGIO, on_simple);
    fcntl(fd, F_SETOWN, getpid());
    fcntl(fd, F_SETFL, O_RDWR | O_ASYNC);
    told_simple = 0;
    work_in_storm(fd, &r, 400);
    printf("# told %d times\n", (int)told_simple);
    check(told_simple > 0, "a storm of samples lets the program go on");
    signal(SIGIO, SIG_DFL);
    fd = storm(CYCLES, 1000, &r);
    if (fd < 0)
        skip("throttling", NO_PMU);
    else
        check(work_in_storm(fd, &r, 8000) > 0, "fewer samples than asked for: THROTTLE");
}

void test_period(void)
{
    struct ring r;
    int fd = open_telling(0, &r);
    uint64_t period = 1000000, none = 0, high = 1ull << 63;

    ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
    unsigned few = sample_work(fd, &r);
    period = 50000;
    int err = ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
    unsigned many = sample_work(fd, &r);
    printf("# %u samples, then %u\n", few, many);
    check(!err && many > 4 * few, "PERIOD: a shorter period brings more samples");
    fails("a period of 0", ioctl(fd, PERF_EVENT_IOC_PERIOD, &none), EINVAL);
    fails("a period of 2^63", ioctl(fd, PERF_EVENT_IOC_PERIOD, &high), EINVAL);
    close(fd);
}

void test_output(void)
{
    struct ring r;
    int fd = open_telling(0, &r);

    check(!ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1) && !sample_work(fd, &r),
          "a paused buffer gets no records");
    check(!ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0) && sample_work(fd, &r),
          "... and gets them again");
    close(fd);
    struct perf_event_attr a = sampling_attr();
    fd = open_event(&a, 0, -1, -1, 0);
    fails("PAUSE_OUTPUT without a buffer", ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), EINVAL);
    close(fd);

    /* A watermark: poll tells of half the buffer, and once. */
    a.watermark = 1;
    a.wakeup_watermark = 2 * PAGE;
    a.sample_period = 50000;
    fd = open_event(&a, 0, -1, -1, 0);
    r = map_ring(fd, 4);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint64_t early = 0;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int tries = 0; tries < 4000 && poll(&p, 1, 0) != 1; tries++) {
        early = r.page->data_head;
        work(LOOPS / 4);
    }
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    printf("# told between %llu and %llu bytes\n", (unsigned long long)early,
           (unsigned long long)r.page->data_head);
    check(p.revents == POLLIN && r.page->data_head > 2 * PAGE - 100,
          "a reader waits for its watermark");
    check(early < 3 * PAGE, "... and is told of it");
    close(fd);
}
