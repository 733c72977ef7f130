/*
 * Perf events, as a program of Linux's has them: what perf_event_open(2) answers, and what its
 * files count. Prints TAP; the same under Linux, where events of the processor are left out if it
 * has none. With the argument `child` it is the program that an execve(2) starts; with `storm` it
 * asks for more samples than can be told of, of which some Linuxes do nothing else any more.
 */
#include "perf.h"

static unsigned count, failed;

void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

void skip(const char *what, const char *why)
{
    printf("ok %u - %s # SKIP %s\n", ++count, what, why);
}

int open_event(const struct perf_event_attr *a, int pid, int cpu, int group, unsigned long flags)
{
    int fd = (int)syscall(SYS_perf_event_open, a, pid, cpu, group, flags);

    return fd < 0 ? -errno : fd;
}

struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr), .type = type, .config = config};
}

void fails(const char *what, long is, int wanted)
{
    char line[160];
    int error = errno;

    snprintf(line, sizeof(line), "%s: %s", what, strerror(wanted));
    check(is == -1 && error == wanted, line);
}

void work(long loops)
{
#ifdef __x86_64__
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(loops));
#else
    __asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(loops) : : "cc");
#endif
}

struct reading read_event(int fd)
{
    struct reading r = {0};

    if (read(fd, &r, sizeof(r)) != sizeof(r))
        r.running = UINT64_MAX;
    return r;
}

bool is_exact(struct reading r)
{
    return r.running == r.enabled;
}

int event(uint32_t type, uint64_t config, unsigned how, int group)
{
    struct perf_event_attr a = attr_of(type, config);

    a.disabled = !(how & ON);
    a.exclude_kernel = how & USER ? 1 : 0;
    a.inherit = how & INHERIT ? 1 : 0;
    a.enable_on_exec = how & AT_EXEC ? 1 : 0;
    a.pinned = how & PINNED ? 1 : 0;
    a.read_format = TIMES | (how & GROUP ? PERF_FORMAT_GROUP | PERF_FORMAT_ID : 0);
    return open_event(&a, 0, -1, group, 0);
}

struct ring map_ring(int fd, unsigned pages)
{
    void *at = mmap(NULL, (1 + pages) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return (struct ring){at == MAP_FAILED ? NULL : at, pages * (size_t)PAGE, fd};
}

bool next_record(struct ring *r, void *to)
{
    const uint8_t *data = (const uint8_t *)r->page + r->page->data_offset;
    uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE),
             tail = r->page->data_tail;
    struct perf_event_header h;

    if (head == tail)
        return false;
    for (size_t i = 0; i < sizeof(h); i++)
        ((uint8_t *)&h)[i] = data[(tail + i) % r->bytes];
    for (size_t i = 0; i < h.size; i++)
        ((uint8_t *)to)[i] = data[(tail + i) % r->bytes];
    __atomic_store_n(&r->page->data_tail, tail + h.size, __ATOMIC_RELEASE);
    return true;
}

struct perf_event_attr sampling_attr(void)
{
    struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

    a.sample_period = 200000; /* ns */
    a.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
    a.exclude_kernel = 1;
    a.disabled = 1;
    a.sample_id_all = 1;
    return a;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "child"))
        return run_child();
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && !strcmp(argv[1], "storm")) {
        test_storm();
        printf("1..%u\n", count);
        return failed != 0;
    }
    test_answers();
    test_requests();
    test_software();
    test_hardware();
    test_turns();
    test_group();
    test_others(argv[0]);
    test_samples();
    test_accesses();
    test_owners();
    test_refresh();
    test_period();
    test_output();
    test_lives(argv[0], false);
    test_lives(argv[0], true);
    test_order();
    test_cpu();
    test_many();
    printf("1..%u\n", count);
    return failed != 0;
}
