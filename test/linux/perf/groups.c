/* Groups, other threads and programs, CPUs, and many events. */
#include "perf.h"

struct group {
    uint64_t events, enabled, running;
    struct {
        uint64_t value, id;
    } of[3];
};

void test_group(void)
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

static void *touch(void *pages)
{
    for (int i = 0; i < 32; i++)
        ((volatile uint8_t *)pages)[i * PAGE] = 1;
    return NULL;
}

void test_others(const char *self)
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

int run_child(void)
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

void test_cpu(void)
{
    struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

    a.read_format = TIMES;
    int fd = open_event(&a, -1, 0, -1, 0);
    if (fd == -EACCES) {
        skip("a CPU's clock", "not allowed here");
        return;
    }
    struct reading before = read_event(fd);
    work(LOOPS);
    struct reading after = read_event(fd);
    check(after.value > before.value && is_exact(after), "a CPU's clock goes on");
    close(fd);
}

/* Descriptors of an event are its program's, its child's, and end with the last of them. */
void test_many(void)
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
