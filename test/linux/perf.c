/*
 * Perf events, as a program of Linux's has them: what perf_event_open(2) answers, and what its
 * files count. Prints TAP; the same under Linux, where events of the processor are left out if it
 * has none. With the argument `child` it is the program that an execve(2) starts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOPS        200000
#define PAGE         4096
#define TIMES        (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define INSTRUCTIONS PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
#define CYCLES       PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES
#define TASK_CLOCK   PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK
#define FAULTS       PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS
#define SWITCHES     PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES
#define DUMMY        PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static void skip(const char *what)
{
    printf("ok %u - %s # SKIP no events of a processor\n", ++count, what);
}

static int open_event(const struct perf_event_attr *a, int pid, int cpu, int group,
                      unsigned long flags)
{
    int fd = (int)syscall(SYS_perf_event_open, a, pid, cpu, group, flags);

    return fd < 0 ? -errno : fd;
}

static struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr), .type = type, .config = config};
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void answer(const char *what, int is, int wanted)
{
    char line[160];

    snprintf(line, sizeof(line), "%s: %s", what, wanted ? strerror(-wanted) : "a descriptor");
    check(wanted ? is == wanted : is >= 0, line);
    if (is >= 0)
        close(is);
}

#define TRY(what, wanted, pid, cpu, group, flags, ...)                       \
    do {                                                                     \
        /* More than an attr, all of it set: sizes beyond it are noticed. */ \
        union {                                                              \
            struct perf_event_attr a;                                        \
            uint8_t bytes[2 * PAGE];                                         \
        } u;                                                                 \
        memset(&u, 0xff, sizeof(u));                                         \
        u.a = attr_of(TASK_CLOCK);                                           \
        struct perf_event_attr *a = &u.a;                                    \
        __VA_ARGS__;                                                         \
        answer(what, open_event(a, pid, cpu, group, flags), wanted);         \
    } while (0)

/* As Linux 6.18 answers. */
static void test_answers(void)
{
    struct perf_event_attr plain = attr_of(TASK_CLOCK);
    int leader = open_event(&plain, 0, -1, -1, 0);

    TRY("size 0", 0, 0, -1, -1, 0, a->size = 0);
    TRY("size 64", 0, 0, -1, -1, 0, a->size = 64);
    TRY("size 63", -E2BIG, 0, -1, -1, 0, a->size = 63);
    TRY("size 4096 with bits", -E2BIG, 0, -1, -1, 0, a->size = 4096);
    TRY("size 4097", -E2BIG, 0, -1, -1, 0, a->size = 4097);
    TRY("type 999", -ENOENT, 0, -1, -1, 0, a->type = 999);
    TRY("software event 99", -ENOENT, 0, -1, -1, 0, a->config = 99);
    TRY("hardware event 99", -ENOENT, 0, -1, -1, 0, a->type = 0; a->config = 99);
    TRY("pid -1, cpu -1", -EINVAL, -1, -1, -1, 0, );
    TRY("cpu 9999", -EINVAL, 0, 9999, -1, 0, );
    TRY("pid 999999", -ESRCH, 999999, -1, -1, 0, );
    TRY("group 99", -EBADF, 0, -1, 99, 0, );
    TRY("group of standard output", -EBADF, 0, -1, 1, 0, );
    TRY("flags 0x100", -EINVAL, 0, -1, -1, 0x100, );
    TRY("reserved bit", -EINVAL, 0, -1, -1, 0, a->__reserved_1 = 1);
    TRY("reserved word", -EINVAL, 0, -1, -1, 0, a->__reserved_2 = 1);
    TRY("sample_type beyond", -EINVAL, 0, -1, -1, 0, a->sample_type = 1ull << 25);
    TRY("read_format beyond", -EINVAL, 0, -1, -1, 0, a->read_format = 1 << 5);
    TRY("frequency 10,000,000", -EINVAL, 0, -1, -1, 0, a->freq = 1; a->sample_freq = 10000000);
    TRY("inherit and read groups", 0, 0, -1, -1, 0, a->inherit = 1;
        a->read_format = PERF_FORMAT_GROUP);
    TRY("stack of 8193 bytes", -EINVAL, 0, -1, -1, 0, a->sample_type = PERF_SAMPLE_STACK_USER;
        a->sample_stack_user = 8193);
    TRY("branches", -EOPNOTSUPP, 0, -1, -1, 0, a->sample_type = PERF_SAMPLE_BRANCH_STACK;
        a->branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
    TRY("chains of 200", -EOVERFLOW, 0, -1, -1, 0, a->sample_type = PERF_SAMPLE_CALLCHAIN;
        a->sample_max_stack = 200);
    TRY("sigtrap without remove_on_exec", -EINVAL, 0, -1, -1, 0, a->sigtrap = 1);
    TRY("remove_on_exec and enable_on_exec", -EINVAL, 0, -1, -1, 0, a->remove_on_exec = 1;
        a->enable_on_exec = 1);
    TRY("clock 77", -EINVAL, 0, -1, -1, 0, a->use_clockid = 1; a->clockid = 77);
    TRY("a breakpoint on nothing", -EINVAL, 0, -1, -1, 0, a->type = PERF_TYPE_BREAKPOINT;
        a->config = 0);
    TRY("precise samples of a clock", 0, 0, -1, -1, 0, a->precise_ip = 3;
        a->sample_period = 100000);
    TRY("exclusive", 0, 0, -1, -1, 0, a->exclusive = 1);
    TRY("a pinned member", -EINVAL, 0, -1, leader, 0, a->pinned = 1);
    TRY("a member of another scope", -EINVAL, -1, 0, leader, 0, );
    TRY("a member that inherits, unlike its leader", -EINVAL, 0, -1, leader, 0, a->inherit = 1);
    TRY("a member", 0, 0, -1, leader, 0, );
    TRY("cgroup", -EINVAL, 0, -1, -1, PERF_FLAG_PID_CGROUP, );
    answer("no attr", (int)syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) < 0 ? -errno : 0,
           -EFAULT);
    plain.size = 17;
    syscall(SYS_perf_event_open, &plain, 0, -1, -1, 0);
    check(plain.size >= 112 && plain.size % 8 == 0, "a refused size becomes the kernel's");
    close(leader);
}

static void fails(const char *what, long is, int wanted)
{
    char line[160];
    int error = errno;

    snprintf(line, sizeof(line), "%s: %s", what, strerror(wanted));
    check(is == -1 && error == wanted, line);
}

static void test_requests(void)
{
    struct perf_event_attr a = attr_of(TASK_CLOCK);
    uint64_t id = 0, period = 5;
    char few[4];

    a.disabled = 1;
    int fd = open_event(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    check(fcntl(fd, F_GETFD) == FD_CLOEXEC, "a descriptor that exec closes");
    fails("read of 4 bytes", read(fd, few, sizeof(few)), ENOSPC);
    fails("write", write(fd, few, sizeof(few)), EINVAL);
    fails("REFRESH of what counts only", ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), EINVAL);
    fails("PERIOD of what counts only", ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), EINVAL);
    fails("PERIOD from nowhere", ioctl(fd, PERF_EVENT_IOC_PERIOD, NULL), EFAULT);
    fails("request 0x2499", ioctl(fd, 0x2499, 0), ENOTTY);
    fails("ID to nowhere", ioctl(fd, PERF_EVENT_IOC_ID, NULL), EFAULT);
    check(!ioctl(fd, PERF_EVENT_IOC_ID, &id) && id, "ID");
    struct pollfd p = {.fd = fd, .events = POLLIN};
    check(poll(&p, 1, 0) == 1 && p.revents == POLLHUP, "poll: there is nothing to wait for");
    close(fd);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* Two instructions, LOOPS times. */
static void work(long loops)
{
#ifdef __x86_64__
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(loops));
#else
    __asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(loops) : : "cc");
#endif
}

struct reading {
    uint64_t value, enabled, running;
};

static struct reading read_event(int fd)
{
    struct reading r = {0};

    if (read(fd, &r, sizeof(r)) != sizeof(r))
        r.running = UINT64_MAX;
    return r;
}

static bool is_exact(struct reading r)
{
    return r.running == r.enabled;
}

/* What an event is opened with, beside its type and config. */
enum { ON = 1, USER = 2, INHERIT = 4, AT_EXEC = 8, GROUP = 16, PINNED = 32 };

static int event(uint32_t type, uint64_t config, unsigned how, int group)
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

static void test_software(void)
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
static void test_hardware(void)
{
    static const char *const what[] = {
        "instructions in user mode are counted to the instruction",
        "... of children and threads, too",
        "cycles and instructions are exact",
        "a member counts while its leader does",
        "... and its leader's time is its own",
        "a pinned event is counted all the time, or is known not to be",
    };
    int fd = event(INSTRUCTIONS, USER | PINNED, -1);

    if (fd < 0) {
        for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++)
            skip(what[i]);
        return;
    }
    count_work(fd, 10);
    struct reading few = count_work(fd, LOOPS), many = count_work(fd, 3 * LOOPS);
    check(is_exact(few) && is_exact(many) && many.value - few.value == 4 * LOOPS, what[0]);
    printf("# %llu %llu: %llu of %llu ns\n", (unsigned long long)few.value,
           (unsigned long long)many.value, (unsigned long long)many.running,
           (unsigned long long)many.enabled);
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
    check(of[1] - of[0] == 4 * LOOPS && is_exact(read_event(fd)), what[1]);
    printf("# %llu %llu\n", (unsigned long long)of[0], (unsigned long long)of[1]);
    close(fd);

    int leader = event(CYCLES, 0, -1), member = event(INSTRUCTIONS, ON, leader);
    struct reading idle = read_event(member);
    work(LOOPS);
    struct reading off = read_event(member);
    struct reading cycles = count_work(leader, LOOPS), instructions = read_event(member);
    check(is_exact(cycles) && is_exact(instructions) && instructions.value >= 2 * LOOPS &&
              cycles.value >= LOOPS / 8,
          what[2]);
    check(!idle.value && !off.value && instructions.value, what[3]);
    printf("# cycles %llu, %llu of %llu ns; instructions %llu, %llu of %llu ns\n",
           (unsigned long long)cycles.value, (unsigned long long)cycles.running,
           (unsigned long long)cycles.enabled, (unsigned long long)instructions.value,
           (unsigned long long)instructions.running, (unsigned long long)instructions.enabled);
    check(cycles.enabled && instructions.enabled, what[4]);
    close(leader), close(member);

    fd = event(CYCLES, PINNED | ON, -1);
    struct reading pinned = {0};
    ssize_t n = read(fd, &pinned, sizeof(pinned));
    check(!n || (n == sizeof(pinned) && is_exact(pinned)), what[5]);
    close(fd);
}

/* Many events take turns: a value is never more than there was, and exact only if it says so. */
static void test_turns(void)
{
    static const char what[] = "events that take turns: none counts more than there was";
    enum { EVENTS = 8 };
    int fd[EVENTS], first = event(INSTRUCTIONS, USER, -1);
    bool right = true;

    if (first < 0) {
        skip(what);
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

struct group {
    uint64_t events, enabled, running;
    struct {
        uint64_t value, id;
    } of[3];
};

static void test_group(void)
{
    int leader = event(TASK_CLOCK, GROUP, -1), second = event(FAULTS, GROUP | ON, leader),
        third = event(DUMMY, GROUP | ON, leader);
    uint64_t id[3];
    struct group g = {0};

    ioctl(leader, PERF_EVENT_IOC_ID, &id[0]);
    ioctl(second, PERF_EVENT_IOC_ID, &id[1]);
    ioctl(third, PERF_EVENT_IOC_ID, &id[2]);
    fails("a group's reading that is too short", read(leader, &g, sizeof(g) - 8), ENOSPC);
    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
    ssize_t n = read(leader, &g, sizeof(g));
    check(n == sizeof(g) && g.events == 3 && g.of[0].id == id[0] && g.of[1].id == id[1] &&
              g.of[2].id == id[2] && id[0] != id[1],
          "a group is read at once, leader first");
    check(g.of[0].value && g.of[1].value >= 1 && !g.of[2].value && g.enabled == g.running,
          "... with the counts of all");
    fails("a member has no members", event(DUMMY, 0, second) == -EINVAL ? (errno = EINVAL, -1) : 0,
          EINVAL);
    close(third);
    n = read(leader, &g, sizeof(g));
    check(n == (ssize_t)(sizeof(g) - sizeof(g.of[0])) && g.events == 2, "a closed member is gone");
    close(leader);
    uint64_t alone[5] = {0};
    n = read(second, alone, sizeof(alone));
    check(n == sizeof(alone) && alone[0] == 1, "a member outlives its leader");
    close(second);
}

/* ---- Other threads and programs -------------------------------------------------------------- */

static void *touch(void *pages)
{
    for (int i = 0; i < 32; i++)
        ((volatile uint8_t *)pages)[i * PAGE] = 1;
    return NULL;
}

static void test_others(const char *self)
{
    struct perf_event_attr a = attr_of(FAULTS);
    int ready[2], go[2];
    char c;
    uint8_t *pages =
        mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(pages, 64 * PAGE, MADV_NOHUGEPAGE);
    int inherited = event(FAULTS, ON | INHERIT, -1), own = event(FAULTS, ON, -1);
    struct reading before = read_event(inherited), before_own = read_event(own);
    pthread_t t;
    pthread_create(&t, NULL, touch, pages);
    pthread_join(t, NULL);
    struct reading after = read_event(inherited), after_own = read_event(own);
    check(after.value - before.value >= 32 && after_own.value - before_own.value < 32,
          "a thread's faults are its creator's only if they are inherited");
    close(inherited), close(own);

    if (pipe(ready) || pipe(go))
        exit(1);
    pid_t child = fork();
    if (!child) {
        (void)!write(ready[1], "r", 1);
        (void)!read(go[0], &c, 1);
        execl(self, self, "child", NULL);
        _exit(1);
    }
    (void)!read(ready[0], &c, 1);
    a.disabled = a.enable_on_exec = a.inherit = 1;
    a.read_format = TIMES;
    int at_exec = open_event(&a, child, -1, -1, 0);
    check(at_exec >= 0 && !read_event(at_exec).value && !read_event(at_exec).enabled,
          "an event of another process that waits for its execve");
    (void)!write(go[1], "g", 1);
    int status = 0;
    while (waitpid(child, &status, 0) != child)
        ;
    after = read_event(at_exec);
    check(WIFEXITED(status) && !WEXITSTATUS(status) && after.value >= 40 && after.enabled &&
              is_exact(after),
          "... has counted it, and its children, when it has ended");
    answer("an ended process", open_event(&a, child, -1, -1, 0), -ESRCH);
    close(at_exec);
}

static int run_child(void)
{
    uint8_t *pages =
        mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(pages, 64 * PAGE, MADV_NOHUGEPAGE);
    if (!fork()) {
        touch(pages);
        _exit(0);
    }
    wait(NULL);
    return 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

#define RING_PAGES 16

struct ring {
    struct perf_event_mmap_page *page;
    size_t bytes;
    int fd;
};

static struct ring map_ring(int fd, unsigned pages)
{
    void *at = mmap(NULL, (1 + pages) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return (struct ring){at == MAP_FAILED ? NULL : at, pages * (size_t)PAGE, fd};
}

/* Copies the next record to `to`, and lets go of it. Returns false if there is none. */
static bool next_record(struct ring *r, void *to)
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

static struct perf_event_attr sampling_attr(void)
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

struct sample {
    struct perf_event_header h;
    uint64_t id, ip;
    uint32_t pid, tid;
    uint64_t time, cpu, period;
};

extern char __executable_start, etext;

static void test_samples(void)
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

/* Counts kinds of records of a child that runs this program anew, on all CPUs. */
static void test_lives(const char *self, bool wide)
{
    enum { CPUS = 64 };
    struct perf_event_attr a = attr_of(DUMMY);
    struct ring ring[CPUS];
    unsigned n = 0, names = 0, mapped = 0, begun = 0, ended = 0, other = 0;
    int go[2];
    char c;
    union {
        struct perf_event_header h;
        struct {
            struct perf_event_header h;
            uint32_t pid, tid;
            char name[16];
        } comm;
        uint8_t bytes[65536];
    } u;

    if (pipe(go))
        exit(1);
    pid_t child = fork();
    if (!child) {
        (void)!read(go[0], &c, 1);
        execl(self, self, "child", NULL);
        _exit(1);
    }
    a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    a.sample_id_all = a.inherit = a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
    for (int cpu = 0; cpu < CPUS && n < CPUS; cpu++) {
        int fd = open_event(&a, wide ? -1 : child, cpu, -1, 0);
        if (fd >= 0)
            ring[n++] = map_ring(fd, 4);
    }
    (void)!write(go[1], "g", 1);
    while (waitpid(child, NULL, 0) != child)
        ;
    for (unsigned i = 0; i < n; i++) {
        while (ring[i].page && next_record(&ring[i], &u)) {
            names += u.h.type == PERF_RECORD_COMM && u.comm.pid == (uint32_t)child &&
                     !strncmp(strrchr(self, '/') ? strrchr(self, '/') + 1 : self, u.comm.name, 15);
            mapped += u.h.type == PERF_RECORD_MMAP2 && u.comm.pid == (uint32_t)child;
            /* Behind the process and its parent. */
            begun += u.h.type == PERF_RECORD_FORK && (!wide || u.comm.tid == (uint32_t)child);
            ended += u.h.type == PERF_RECORD_EXIT && (!wide || u.comm.pid == (uint32_t)child);
            other += u.h.size < 8 || u.h.size % 8;
        }
        close(ring[i].fd);
    }
    printf("# %u buffers: %u names, %u mappings, %u threads, %u ends\n", n, names, mapped, begun,
           ended);
    if (wide && !n) {
        printf("ok %u - records of CPUs # SKIP not allowed here\n", ++count);
        return;
    }
    check(n && names == 1 && mapped >= 1,
          wide ? "records of CPUs, too" : "a new program's name and code are recorded");
    check(begun == 1 && ended == (wide ? 1 : 2) && !other, "... and its child, and the ends");
}

/* Threads of several processes begin, work and end. */
static void live_in_turns(void)
{
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        work(LOOPS);
        if (!child)
            _exit(0);
        while (waitpid(child, NULL, 0) != child)
            ;
    }
}

/* Samples of two events and records of lives in one buffer for each CPU. */
static void test_order(void)
{
    enum { CPUS = 64 };
    struct perf_event_attr a = sampling_attr();
    struct ring ring[CPUS];
    int second[CPUS];
    unsigned n = 0, samples = 0, lives = 0, falls = 0;
    union {
        struct perf_event_header h;
        uint64_t word[8192];
    } u;

    a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    a.inherit = a.mmap = a.mmap2 = a.comm = a.task = 1;
    a.disabled = 0;
    for (int cpu = 0; cpu < CPUS && n < CPUS; cpu++) {
        int fd = open_event(&a, 0, cpu, -1, 0);
        if (fd < 0)
            continue;
        ring[n] = map_ring(fd, 16);
        struct perf_event_attr other = a;
        other.sample_period = a.sample_period * 3 / 4;
        other.mmap = other.mmap2 = other.comm = other.task = 0;
        second[n] = open_event(&other, 0, cpu, -1, 0);
        ioctl(second[n++], PERF_EVENT_IOC_SET_OUTPUT, fd);
    }
    live_in_turns();
    for (unsigned i = 0; i < n; i++) {
        uint64_t before = 0;
        while (ring[i].page && next_record(&ring[i], &u)) {
            bool sample = u.h.type == PERF_RECORD_SAMPLE;
            uint64_t time = u.word[sample ? 2 : u.h.size / 8 - 1];
            samples += sample;
            lives += !sample;
            falls += time < before;
            before = time;
        }
        close(second[i]);
        close(ring[i].fd);
    }
    printf("# %u buffers: %u samples, %u other records\n", n, samples, lives);
    check(n && samples >= 20 && lives >= 60 && !falls, "times in a buffer never fall");
}

static void test_cpu(void)
{
    struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

    a.read_format = TIMES;
    int fd = open_event(&a, -1, 0, -1, 0);
    if (fd == -EACCES) {
        printf("ok %u - a CPU's clock # SKIP not allowed here\n", ++count);
        return;
    }
    struct reading before = read_event(fd);
    work(LOOPS);
    struct reading after = read_event(fd);
    check(after.value > before.value && is_exact(after), "a CPU's clock goes on");
    close(fd);
}

/* Descriptors of an event are its program's, its child's, and end with the last of them. */
static void test_many(void)
{
    int fd[200];
    bool right = true;

    for (int i = 0; i < 200; i++) {
        fd[i] = event(INSTRUCTIONS, ON | (i % 2 ? USER : 0), -1);
        if (fd[i] == -ENOENT)
            fd[i] = event(FAULTS, ON, -1);
        right = right && fd[i] >= 0;
    }
    for (int i = 0; i < 200; i++)
        right = right && read_event(fd[i]).running <= read_event(fd[i]).enabled;
    check(right, "200 events at a time");
    pid_t child = fork();
    if (!child)
        _exit(read_event(fd[7]).running == UINT64_MAX);
    int status = 1;
    while (waitpid(child, &status, 0) != child)
        ;
    check(!status, "a child can read what its parent has opened");
    for (int i = 0; i < 200; i++)
        close(fd[i]);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "child"))
        return run_child();
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_answers();
    test_requests();
    test_software();
    test_hardware();
    test_turns();
    test_group();
    test_others(argv[0]);
    test_samples();
    test_lives(argv[0], false);
    test_lives(argv[0], true);
    test_order();
    test_cpu();
    test_many();
    printf("1..%u\n", count);
    return failed != 0;
}
