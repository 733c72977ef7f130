/* Starts processes that make calls, or return to broken frames, one after the other, several at a
 * time; looks that each ends, and that the machine has afterwards what it had before. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include "kernel/proc/abi.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS   16
#define PHASES 5
#define FEW    300 /* calls after which most processes are still there */
#define LIMIT  20  /* seconds that a process may take */
#define GRACE  30  /* seconds that it may take to end, once it has been told to */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* lock */
static struct {
    uint64_t next_seed, left, done, processes, few, few_whole, whole, died, stuck, killed;
    struct {
        int pid;
        time_t began;
    } job[JOBS];
    unsigned running;
} all;
static const struct options *options;
static const char *self, *part;
static int beside;    /* a process whose things must be kept */
static uint64_t each; /* calls of one process */

/* Memory that is free, or has pages of files, as of programs, which stay until it is needed. */
static uint64_t free_kb(void)
{
    char line[100];
    unsigned long long sum = 0, kb;
    FILE *f = fopen("/proc/meminfo", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemFree: %llu", &kb) == 1 || sscanf(line, "Cached: %llu", &kb) == 1)
            sum += kb;
    if (f)
        fclose(f);
    return sum;
}

static long threads_now(void)
{
    static struct sys_thread_info infos[4096];

    return syscall(SYS_THREADS, 0, infos, sizeof infos);
}

/* Returns the number of sockets. Connections that wait for late packets only are none. */
static unsigned sockets_now(void)
{
    static const char *const tables[] = {"/proc/net/unix", "/proc/net/tcp", "/proc/net/udp"};
    char line[300];
    unsigned n = 0;

    for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        FILE *f = fopen(tables[i], "r");
        if (!f)
            continue;
        fgets(line, sizeof line, f);
        while (fgets(line, sizeof line, f)) {
            bool waits = strstr(tables[i], "tcp") && strstr(line, " 06 ");
            n += !waits;
            if (!waits && n < 20)
                printf("# left in %s: %s", tables[i], line);
        }
        fclose(f);
    }
    return n;
}

static time_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static int spawn(const char *what, uint64_t seed, uint64_t calls)
{
    char text[256];
    int n = snprintf(text, sizeof text,
                     "%s%c%s%cseed=%llu%ccalls=%llu%cframes=%llu%cthreads=%llu%csockets=%llu%c",
                     self, 0, what, 0, (unsigned long long)seed, 0, (unsigned long long)calls, 0,
                     (unsigned long long)calls, 0, (unsigned long long)options->threads, 0,
                     (unsigned long long)options->sockets, 0);

    return (int)syscall(SYS_SPAWN, text, n);
}

/* Removes what is in a folder, whose descriptor it closes, at any depth. By descriptors, since
 * calls make names of 255 bytes in folders with such names. */
static void clear(int folder)
{
    struct dirent *e;
    DIR *d = fdopendir(folder);

    while (d && (e = readdir(d))) {
        const char *name = e->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..") || !unlinkat(folder, name, 0))
            continue;
        fchmodat(folder, name, 0700, 0);
        int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (inner >= 0)
            clear(inner);
        unlinkat(folder, name, AT_REMOVEDIR);
    }
    if (d)
        closedir(d);
    else
        close(folder);
}

/* ---- What was there before ------------------------------------------------------------------- */

#define PATHS_MAX 8192

static struct {
    char *path[PATHS_MAX]; /* of all files but those of the kernel */
    unsigned n;
} known;

static bool is_known(const char *path)
{
    for (unsigned i = 0; i < known.n; i++)
        if (!strcmp(known.path[i], path))
            return true;
    return false;
}

/* Walks the tree, whose folder's descriptor it closes. Notes all that is there, or removes what was
 * not there then: calls make files wherever they can. */
static void walk(int folder, const char *at, bool notes)
{
    struct dirent *e;
    DIR *d = fdopendir(folder);
    char path[600];

    while (d && (e = readdir(d))) {
        const char *name = e->d_name;
        snprintf(path, sizeof path, "%s/%s", at, name);
        if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(path, "/proc") ||
            !strcmp(path, "/sys"))
            continue;
        if (notes && known.n < PATHS_MAX)
            known.path[known.n++] = strdup(path);
        int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        bool stays = notes || is_known(path);
        if (inner >= 0 && stays)
            walk(inner, path, notes);
        else if (inner >= 0)
            clear(inner);
        if (!stays)
            unlinkat(folder, name, inner >= 0 ? AT_REMOVEDIR : 0);
    }
    if (d)
        closedir(d);
    else
        close(folder);
}

static void walk_all(bool notes)
{
    walk(open("/", O_RDONLY | O_DIRECTORY), "", notes);
}

/* The calls that a process has counted, at most `reserved`: calls of others may have written there,
 * or removed the file, then 0. */
static uint64_t count_of(uint64_t seed, uint64_t reserved)
{
    char path[64];
    uint64_t n = 0;

    snprintf(path, sizeof path, "/tmp/counts/%llu", (unsigned long long)seed);
    int fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, &n, sizeof n) != sizeof n)
        n = 0;
    close(fd);
    unlink(path);
    return n < reserved ? n : reserved;
}

static void note_end(unsigned job, int status, uint64_t seed, uint64_t reserved)
{
    uint64_t counted = count_of(seed, reserved), calls = status ? counted : reserved;

    pthread_mutex_lock(&lock);
    all.processes++;
    all.done += calls;
    if (calls < reserved) /* others make the rest */
        all.left += reserved - (calls ? calls : 1);
    all.whole += status == 0;
    all.few += reserved <= FEW;
    all.few_whole += reserved <= FEW && status == 0;
    all.died += status > 2;
    all.stuck += status == 2;
    all.job[job].pid = 0;
    pthread_mutex_unlock(&lock);
}

/* The calls that a process is to make: two of three can come to their end. */
static uint64_t most_calls(uint64_t seed)
{
    return seed % 3 && each > FEW ? FEW : each;
}

static void *run_job(void *argument)
{
    unsigned job = (unsigned)(uintptr_t)argument;

    for (;;) {
        pthread_mutex_lock(&lock);
        uint64_t seed = all.next_seed++, most = most_calls(seed),
                 calls = all.left < most ? all.left : most;
        all.left -= calls;
        pthread_mutex_unlock(&lock);
        if (!calls)
            break;
        mkdir("/tmp/counts", 0700);
        pthread_mutex_lock(&lock);
        int pid = spawn(part, seed, calls);
        all.left += pid < 0 ? calls : 0;
        all.job[job].pid = pid < 0 ? 0 : pid;
        all.job[job].began = now();
        pthread_mutex_unlock(&lock);
        if (pid < 0) {
            printf("# a process cannot be started: %d\n", pid);
            usleep(100000);
            continue;
        }
        int status = (int)syscall(SYS_WAIT, pid);
        kill(-pid, SIGKILL); /* its forked children */
        if (status == 1)
            printf("not ok - %s seed=%llu: it has seen something wrong\n", part,
                   (unsigned long long)seed);
        note_end(job, status, seed, calls);
    }
    pthread_mutex_lock(&lock);
    all.running--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Ends processes that take too long. Returns false if one does not end even so. */
static bool end_slow(void)
{
    bool good = true;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < JOBS; i++) {
        time_t for_s = all.job[i].pid ? now() - all.job[i].began : 0;
        if (for_s > LIMIT + GRACE) {
            printf("not ok - process %d does not end\n", all.job[i].pid);
            good = false;
        } else if (for_s > LIMIT) {
            all.killed++;
            kill(all.job[i].pid, SIGKILL);
        }
    }
    pthread_mutex_unlock(&lock);
    return good;
}

static bool is_waited_for(int pid)
{
    bool is = pid == beside;

    for (unsigned i = 0; i < JOBS; i++)
        is |= pid == all.job[i].pid;
    return is;
}

/* Forgets orphans that have ended, beside processes that are waited for: the first process has
 * them. */
static void reap_orphans(void)
{
    DIR *d = opendir("/proc");
    struct dirent *e;

    pthread_mutex_lock(&lock);
    while (d && (e = readdir(d))) {
        int pid = atoi(e->d_name);
        if (pid > 0 && !is_waited_for(pid))
            waitpid(pid, NULL, WNOHANG);
    }
    pthread_mutex_unlock(&lock);
    if (d)
        closedir(d);
}

/* Makes `calls` calls. Returns whether each process has ended. */
static bool run_all(uint64_t calls)
{
    pthread_t thread[JOBS];
    unsigned jobs = (unsigned)(options->jobs < JOBS ? options->jobs : JOBS), told = 0;

    time_t reaped = now();

    all.left = calls;
    all.running = jobs;
    for (unsigned i = 0; i < jobs; i++)
        pthread_create(&thread[i], NULL, run_job, (void *)(uintptr_t)i);
    for (bool good = true; good;) {
        usleep(50000);
        if (now() != reaped)
            reap_orphans();
        reaped = now();
        good = end_slow();
        pthread_mutex_lock(&lock);
        unsigned running = all.running;
        if (all.done / 500000 > told) {
            told = (unsigned)(all.done / 500000);
            printf("# calls=%llu processes=%llu free_kb=%llu s=%ld\n", (unsigned long long)all.done,
                   (unsigned long long)all.processes, (unsigned long long)free_kb(), (long)now());
            fflush(stdout);
        }
        pthread_mutex_unlock(&lock);
        if (!running) {
            for (unsigned i = 0; i < jobs; i++)
                pthread_join(thread[i], NULL);
            return true;
        }
    }
    return false;
}

static unsigned failed, checks;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++checks, what);
    failed += !right;
}

/* Forgets orphans that have ended: the first process has them. */
static void reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

static uint64_t settled_kb(void)
{
    walk_all(false);
    reap();
    printf("# what calls have made is removed\n");
    usleep(200000);
    uint64_t kb = free_kb();
    printf("# free_kb=%llu\n", (unsigned long long)kb);
    return kb;
}

/* The kernel's own caches may have grown by this much. */
#define SLACK_KB 512
#define WAIT_S   70 /* seconds after which the last connection has left TIME_WAIT */

static int supervise(const struct options *o, const char *path, const char *what, uint64_t calls,
                     uint64_t of_each)
{
    options = o;
    each = of_each;
    self = path;
    part = what;
    all.next_seed = o->seed;
    walk_all(true);
    each = 50; /* what is made once is made now, and what is kept of children that have ended */
    run_all(each * 40);
    each = of_each;
    bool ended = run_all(calls / PHASES);
    uint64_t before = settled_kb();
    long threads = threads_now();
    mkdir("/tmp/counts", 0700);
    beside = spawn("neighbour", 0, 0);
    for (unsigned i = 1; i < PHASES && ended; i++) {
        ended = run_all(calls / PHASES);
        printf("# free_kb=%llu\n", (unsigned long long)free_kb());
    }
    kill(beside, SIGTERM);
    int status = (int)syscall(SYS_WAIT, beside);
    printf("callfuzz: of=%s calls=%llu processes=%llu whole=%llu died=%llu stuck=%llu killed=%llu "
           "few=%llu few_whole=%llu seconds=%ld\n",
           what, (unsigned long long)all.done, (unsigned long long)all.processes,
           (unsigned long long)all.whole, (unsigned long long)all.died,
           (unsigned long long)all.stuck, (unsigned long long)all.killed,
           (unsigned long long)all.few, (unsigned long long)all.few_whole, (long)now());
    check(ended, "each process ends");
    if (status)
        printf("# neighbour: pid=%d status=%d\n", beside, status);
    check(beside > 0 && status == 0, "a process beside has kept its memory, pipe and file");
    check(all.few_whole > all.few / 2, "most processes that make few calls come to their end");
    uint64_t after = settled_kb();
    for (unsigned s = 0; s < WAIT_S && after + SLACK_KB < before; s++, after = free_kb())
        sleep(1), reap();
    long threads_after = threads_now();
    printf("# free_kb before=%llu after=%llu threads before=%ld after=%ld\n",
           (unsigned long long)before, (unsigned long long)after, threads, threads_after);
    check(!sockets_now(), "there are no sockets");
    check(threads == threads_after, "there are as many threads as before");
    check(after + SLACK_KB >= before, "there is as much free memory as before");
    printf("1..%u\n", checks);
    return failed != 0;
}

int calls_supervise(const struct options *o, const char *path)
{
    return supervise(o, path, "calls-child", o->calls, 20000);
}

int frames_supervise(const struct options *o, const char *path)
{
    return supervise(o, path, "frames-child", o->frames, 500);
}

static bool read_option(struct options *o, const char *word)
{
    static const struct {
        const char *name;
        size_t at;
    } names[] = {
        {"seed", offsetof(struct options, seed)},
        {"calls", offsetof(struct options, calls)},
        {"jobs", offsetof(struct options, jobs)},
        {"threads", offsetof(struct options, threads)},
        {"frames", offsetof(struct options, frames)},
        {"rounds", offsetof(struct options, rounds)},
        {"sockets", offsetof(struct options, sockets)},
        {"only", offsetof(struct options, only)},
    };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i].name);
        if (!strncmp(word, names[i].name, n) && word[n] == '=') {
            *(uint64_t *)((char *)o + names[i].at) = strtoull(word + n + 1, NULL, 0);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    struct options o = {.seed = 1,
                        .calls = 100000,
                        .jobs = 3,
                        .threads = 4,
                        .frames = 5000,
                        .rounds = 20,
                        .sockets = 4,
                        .only = UINT64_MAX};
    const char *what = argc > 1 ? argv[1] : "";

    for (int i = 2; i < argc; i++)
        if (!read_option(&o, argv[i])) {
            fprintf(stderr, "callfuzz: unknown option %s\n", argv[i]);
            return 2;
        }
    rows_start();
    if (strstr(what, "-child")) /* what it sends to its group is its own affair */
        setpgid(0, 0);
    if (!strcmp(what, "calls"))
        return calls_supervise(&o, argv[0]);
    if (!strcmp(what, "calls-child"))
        return calls_child(&o);
    if (!strcmp(what, "frames"))
        return frames_supervise(&o, argv[0]);
    if (!strcmp(what, "frames-child"))
        return frames_child(&o);
    if (!strcmp(what, "neighbour"))
        return neighbour(&o);
    if (!strcmp(what, "twins"))
        return twins(&o);
    if (!strcmp(what, "found"))
        return found();
    fprintf(stderr, "callfuzz: expected calls, frames or twins\n");
    return 2;
}
