/* What perf_event_open(2) and requests of its files answer, as Linux 6.18. */
#include "perf.h"

void answer(const char *what, int is, int wanted)
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
void test_answers(void)
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

void test_requests(void)
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
