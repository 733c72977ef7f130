/* Samples, and the buffers that they are written to. */
#include "perf.h"

struct sample {
    struct perf_event_header h;
    uint64_t id, ip;
    uint32_t pid, tid;
    uint64_t time, cpu, period;
};

extern char __executable_start, etext;

static uint64_t read_ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

uint64_t clock_of(const struct perf_event_mmap_page *page)
{
    uint64_t ticks = read_ticks(), low = ticks & ((1ull << page->time_shift) - 1);

    return page->time_zero + (ticks >> page->time_shift) * page->time_mult +
           (low * page->time_mult >> page->time_shift);
}

static void test_clock(struct ring *r)
{
    union {
        struct sample s;
        uint8_t bytes[65536];
    } u;
    unsigned samples = 0, right = 0;

    if (!r->page->cap_user_time_zero) {
        skip("the clock of records", "it cannot be read");
        return;
    }
    while (next_record(r, &u))
        ;
    uint64_t begin = clock_of(r->page);
    ioctl(r->fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int tries = 0; samples < 10 && tries < 2000; tries++) {
        work(LOOPS);
        while (next_record(r, &u)) {
            if (u.s.h.type != PERF_RECORD_SAMPLE)
                continue;
            samples++;
            right += u.s.time + 50000 >= begin && u.s.time <= clock_of(r->page) + 50000;
        }
    }
    ioctl(r->fd, PERF_EVENT_IOC_DISABLE, 0);
    check(samples >= 10 && right == samples, "the clock of records can be read");
}

void test_samples(void)
{
    struct perf_event_attr a = sampling_attr();
    union {
        struct sample s;
        uint8_t bytes[65536];
    } u;
    int fd = open_event(&a, 0, -1, -1, 0);
    struct ring r = map_ring(fd, RING_PAGES);
    unsigned samples = 0, here = 0;
    uint64_t id = 0, before = 0;
    bool right = true;

    ioctl(fd, PERF_EVENT_IOC_ID, &id);
    check(fd >= 0 && r.page && r.page->data_size == r.bytes && r.page->data_offset == PAGE &&
              !r.page->cap_bit0 && r.page->cap_bit0_is_deprecated,
          "a buffer for samples is mapped");
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (int tries = 0; samples < 20 && tries < 2000; tries++) {
        work(LOOPS);
        while (next_record(&r, &u)) {
            if (u.s.h.type != PERF_RECORD_SAMPLE)
                continue;
            samples++;
            here += u.s.ip >= (uintptr_t)&__executable_start && u.s.ip < (uintptr_t)&etext;
            right = right && u.s.h.size == sizeof(u.s) && u.s.id == id &&
                    u.s.pid == (uint32_t)getpid() && u.s.tid == (uint32_t)gettid() && u.s.period &&
                    u.s.time >= before && (u.s.h.misc & 7) == PERF_RECORD_MISC_USER;
            before = u.s.time;
        }
    }
    check(samples >= 20 && right, "samples say who, when, where and what they stand for");
    check(here == samples, "... and are of the program's code");
    for (int tries = 0; tries < 2000 && poll(&p, 1, 0) != 1; tries++)
        work(LOOPS);
    check(p.revents & POLLIN, "poll tells of unread records");
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    while (next_record(&r, &u))
        ;
    work(20 * LOOPS);
    check(!next_record(&r, &u), "a disabled event has no samples");
    test_clock(&r);
    munmap(r.page, r.bytes + PAGE);
    close(fd);

    /* What is not read is not overwritten. */
    a.read_format = PERF_FORMAT_LOST;
    a.sample_period = 20000;
    fd = open_event(&a, 0, -1, -1, 0);
    r = map_ring(fd, 1);
    uint64_t lost[2] = {0};
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int tries = 0; tries < 4000 && !lost[1]; tries++) {
        work(LOOPS);
        if (read(fd, lost, sizeof(lost)) != sizeof(lost))
            break;
    }
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    check(lost[1] && r.page && r.page->data_head <= PAGE,
          "a full buffer loses records, and says so");
    munmap(r.page, r.bytes + PAGE);
    fails("a buffer of 3 pages of records",
          (long)mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), EINVAL);
    fails("a private one", (long)mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0), EINVAL);
    close(fd);
    a.inherit = 1;
    fd = open_event(&a, 0, -1, -1, 0);
    fails("one of threads on all CPUs",
          (long)mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), EINVAL);
    close(fd);
}
