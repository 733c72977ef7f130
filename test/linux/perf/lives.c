/* Records of what threads and programs do, and their order. */
#include "perf.h"

/* Counts kinds of records of a child that runs this program anew, on all CPUs. */
void test_lives(const char *self, bool wide)
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
        skip("records of CPUs", "not allowed here");
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
void test_order(void)
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
