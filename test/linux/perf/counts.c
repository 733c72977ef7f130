/* Counts of the kernel and of the processor: what is counted, and for how long. */
#include "perf.h"

void test_software(void)
{
    int clock = event(TASK_CLOCK, ON, -1), faults = event(FAULTS, ON, -1),
        switches = event(SWITCHES, ON, -1), nothing = event(DUMMY, ON, -1);
    uint8_t *pages =
        mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct timespec soon = {.tv_nsec = 10000000};

    madvise(pages, 64 * PAGE, MADV_NOHUGEPAGE);
    struct reading before = read_event(faults), twice = read_event(faults);
    for (int i = 0; i < 64; i++)
        pages[i * PAGE] = 1;
    struct reading after = read_event(faults);
    check(after.value - twice.value == 64 && twice.value == before.value && is_exact(after),
          "64 pages that are touched first are 64 page faults");
    before = read_event(switches);
    for (int i = 0; i < 5; i++)
        nanosleep(&soon, NULL);
    after = read_event(switches);
    check(after.value > before.value && is_exact(after), "who sleeps gives way to others");
    before = read_event(clock);
    work(LOOPS);
    after = read_event(clock);
    check(after.value > before.value && is_exact(after) && after.enabled > before.enabled,
          "the task's clock goes on");
    after = read_event(nothing);
    check(!after.value && is_exact(after) && after.enabled, "a dummy event counts nothing");
    ioctl(clock, PERF_EVENT_IOC_DISABLE, 0);
    before = read_event(clock);
    work(LOOPS);
    after = read_event(clock);
    check(!memcmp(&before, &after, sizeof(after)), "a disabled event stands still");
    ioctl(clock, PERF_EVENT_IOC_RESET, 0);
    after = read_event(clock);
    check(!after.value && after.enabled == before.enabled && is_exact(after),
          "RESET sets the count to 0, and not the times");
    prctl(PR_TASK_PERF_EVENTS_DISABLE);
    before = read_event(faults);
    munmap(pages, 64 * PAGE);
    pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *pages = 1;
    check(read_event(faults).value == before.value, "prctl disables all events of a thread");
    prctl(PR_TASK_PERF_EVENTS_ENABLE);
    pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *pages = 1;
    check(read_event(faults).value > before.value, "... and enables them");
    close(clock), close(faults), close(switches), close(nothing);
}

/* Returns what is counted of `loops` loops. */
static struct reading count_work(int fd, long loops)
{
    ioctl(fd, PERF_EVENT_IOC_RESET, 0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    work(loops);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    return read_event(fd);
}

/* Differences of equal code around loops leave the loops alone. */
void test_hardware(void)
{
    static const char *const what[] = {
        "instructions in user mode are counted to the instruction",
        "... by the processor's code for them, too",
        "... of children and threads, too",
        "cycles and instructions are exact",
        "a member counts while its leader does",
        "... and its leader's time is its own",
        "a pinned event is counted all the time, or is known not to be",
    };
    int fd = event(INSTRUCTIONS, USER | PINNED, -1);

    if (fd < 0) {
        for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++)
            skip(what[i], NO_PMU);
        return;
    }
    count_work(fd, 10);
    struct reading few = count_work(fd, LOOPS), many = count_work(fd, 3 * LOOPS);
    check(is_exact(few) && is_exact(many) && many.value - few.value == 4 * LOOPS, what[0]);
    printf("# %llu %llu: %llu of %llu ns\n", (unsigned long long)few.value,
           (unsigned long long)many.value, (unsigned long long)many.running,
           (unsigned long long)many.enabled);
    close(fd);

    fd = event(BY_CODE, USER | PINNED, -1);
    count_work(fd, 10);
    few = count_work(fd, LOOPS), many = count_work(fd, 3 * LOOPS);
    check(is_exact(few) && is_exact(many) && many.value - few.value == 4 * LOOPS, what[1]);
    close(fd);

    fd = event(INSTRUCTIONS, USER | PINNED | INHERIT, -1);
    uint64_t of[2];
    for (int i = 0; i < 2; i++) {
        ioctl(fd, PERF_EVENT_IOC_RESET, 0);
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        pid_t child = fork();
        if (!child) {
            work(i ? 3 * LOOPS : LOOPS);
            _exit(0);
        }
        while (waitpid(child, NULL, 0) != child)
            ;
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        of[i] = read_event(fd).value;
    }
    check(of[1] - of[0] == 4 * LOOPS && is_exact(read_event(fd)), what[2]);
    printf("# %llu %llu\n", (unsigned long long)of[0], (unsigned long long)of[1]);
    close(fd);

    int leader = event(CYCLES, 0, -1), member = event(INSTRUCTIONS, ON, leader);
    struct reading idle = read_event(member);
    work(LOOPS);
    struct reading off = read_event(member);
    struct reading cycles = count_work(leader, LOOPS), instructions = read_event(member);
    check(is_exact(cycles) && is_exact(instructions) && instructions.value >= 2 * LOOPS &&
              cycles.value >= LOOPS / 8,
          what[3]);
    check(!idle.value && !off.value && instructions.value, what[4]);
    printf("# cycles %llu, %llu of %llu ns; instructions %llu, %llu of %llu ns\n",
           (unsigned long long)cycles.value, (unsigned long long)cycles.running,
           (unsigned long long)cycles.enabled, (unsigned long long)instructions.value,
           (unsigned long long)instructions.running, (unsigned long long)instructions.enabled);
    check(cycles.enabled && instructions.enabled, what[5]);
    close(leader), close(member);

    fd = event(CYCLES, PINNED | ON, -1);
    struct reading pinned = {0};
    ssize_t n = read(fd, &pinned, sizeof(pinned));
    check(!n || (n == sizeof(pinned) && is_exact(pinned)), what[6]);
    close(fd);
}

/* Many events take turns: a value is never more than there was, and exact only if it says so. */
void test_turns(void)
{
    static const char what[] = "events that take turns: none counts more than there was";
    enum { EVENTS = 8 };
    int fd[EVENTS], first = event(INSTRUCTIONS, USER, -1);
    bool right = true;

    if (first < 0) {
        skip(what, NO_PMU);
        return;
    }
    fd[0] = first;
    for (int i = 1; i < EVENTS; i++)
        fd[i] = event(PERF_TYPE_HW_CACHE, (uint64_t)(i % 4), i % 2 ? USER : 0, -1);
    for (int i = 0; i < EVENTS; i++)
        ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0);
    ioctl(first, PERF_EVENT_IOC_RESET, 0);
    work(20 * LOOPS);
    struct reading r = read_event(first);
    right = r.running <= r.enabled && r.value <= 40 * LOOPS + 1000 &&
            (!is_exact(r) || r.value >= 40 * LOOPS) && (r.running || !r.value);
    check(right, what);
    printf("# %llu of %d, running %llu of %llu ns\n", (unsigned long long)r.value, 40 * LOOPS,
           (unsigned long long)r.running, (unsigned long long)r.enabled);
    for (int i = 0; i < EVENTS; i++)
        close(fd[i]);
}
