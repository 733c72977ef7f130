/*
 * The log of allocations of a program of Linux (apps/sdk/allocations.c), for
 * test/tools/allocations.t: writes the log's file, starts itself with the library in front, whose
 * path is its argument, and compares what it allocated, by many threads, with what was noted.
 * Prints TAP lines.
 */
#include "apps/libc/allocation_log.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <map>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 16, SMALL = 960, ROUNDS = 200, KINDS = 12 };

struct Given {
    uint64_t start, bytes;
    uint32_t pid, kind;
};
/* What the program was given, in memory that it shares with the one that started it. */
struct Report {
    uint64_t code, code_end; /* of the program */
    uint32_t pid, child;
    bool threw, was_null, was_null_aligned;
    Given given[THREADS + 1][ROUNDS][KINDS];
};
enum { REPORT = 100 }; /* its descriptor */
static Report *report;

struct alignas(64) Padded {
    char bytes[192];
};

/* Allocates in each way. */
static void allocate(unsigned thread, unsigned round)
{
    size_t n = 16 + 8 * ((thread + round) % 50);
    void *p[KINDS], *aligned = nullptr;

    p[0] = std::malloc(n);
    p[1] = std::calloc(n / 8, 8);
    p[2] = std::realloc(std::malloc(8), n);
    posix_memalign(&aligned, 128, n);
    p[3] = aligned;
    p[4] = ::operator new(n);
    p[5] = new char[n];
    p[6] = new (std::nothrow) char[n];
    p[7] = new Padded;
    p[8] = new (std::nothrow) Padded;
    p[9] = reallocarray(std::malloc(8), n / 8, 8);
    p[10] = valloc(n);
    p[11] = pvalloc(n);
    for (unsigned kind = 0; kind < KINDS; kind++)
        report->given[thread][round][kind] = {
            (uint64_t)p[kind],
            kind == 7 || kind == 8 ? sizeof(Padded) : kind == 11 ? (n + 4095) / 4096 * 4096 : n,
            (uint32_t)getpid(), kind};
}

static void *run(void *thread)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        allocate((unsigned)(size_t)thread, round);
    return nullptr;
}

extern char __executable_start, etext;

/* Nothing is freed, so that each place is given once. */
static int allocate_all()
{
    volatile size_t much = (size_t)1 << 46;
    pthread_t t[THREADS];

    report->code = (uint64_t)&__executable_start;
    report->code_end = (uint64_t)&etext;
    report->pid = (uint32_t)getpid();
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], nullptr, run, (void *)i);
    for (auto thread : t)
        pthread_join(thread, nullptr);
    try {
        delete[] new char[much];
    } catch (const std::bad_alloc &) {
        report->threw = true;
    }
    report->was_null = !new (std::nothrow) char[much];
    report->was_null_aligned = !::operator new(much, std::align_val_t(64), std::nothrow);
    pid_t child = fork();
    if (!child) {
        run((void *)(size_t)THREADS);
        _exit(0);
    }
    report->child = (uint32_t)child;
    return waitpid(child, nullptr, 0) != child;
}

/* ---- The one that starts it ------------------------------------------------------------------ */

static unsigned number;

static void check(bool good, const char *what)
{
    std::printf("%sok %u - %s\n", good ? "" : "not ", ++number, what);
}

static allocations_head *make_log(uint64_t capacity)
{
    size_t bytes = sizeof(allocations_head) + capacity * sizeof(allocations_record);
    int file = open(ALLOCATIONS_PATH, O_RDWR | O_CREAT | O_TRUNC, 0666);

    if (file < 0 || ftruncate(file, (off_t)bytes))
        return nullptr;
    auto *h = (allocations_head *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    h->capacity = capacity;
    h->magic = ALLOCATIONS_MAGIC;
    return h;
}

static uint64_t left_out(const allocations_head *h)
{
    uint64_t n = 0;

    for (auto &group : h->left_out)
        n += group[0];
    return n;
}

static int start(const char *self, const char *library)
{
    int status = 1;
    pid_t pid = fork();

    if (!pid) {
        setenv("LD_PRELOAD", library, 1);
        execl(self, self, (char *)nullptr);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    return status;
}

/* Each allocation has one record, whose site is in the program. */
static void compare(const allocations_head *h)
{
    static const char *const kinds[KINDS] = {"malloc",
                                             "calloc",
                                             "realloc",
                                             "posix_memalign",
                                             "new",
                                             "new[]",
                                             "new[] that does not throw",
                                             "aligned new",
                                             "aligned new that does not throw",
                                             "reallocarray",
                                             "valloc",
                                             "pvalloc"};
    auto *r = (const allocations_record *)(h + 1);
    std::multimap<uint64_t, const allocations_record *> at;
    unsigned good[KINDS] = {0};
    char what[128];

    for (uint64_t i = 0; i < h->given && i < h->capacity; i++)
        at.emplace(r[i].start, &r[i]);
    for (auto &thread : report->given)
        for (auto &round : thread)
            for (auto &given : round) {
                unsigned found = 0;
                /* The child has addresses of its parent again. */
                for (auto [it, end] = at.equal_range(given.start); it != end; ++it)
                    found += it->second->pid == given.pid && it->second->whole == 1 &&
                             it->second->bytes == given.bytes && it->second->site >= report->code &&
                             it->second->site < report->code_end;
                good[given.kind] += found == 1;
            }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        std::snprintf(what, sizeof what, "each %s of %d threads is noted once, with its site",
                      kinds[kind], THREADS);
        check(good[kind] == (THREADS + 1) * ROUNDS, what);
        if (good[kind] != (THREADS + 1) * ROUNDS)
            std::printf("# %u of %d\n", good[kind], (THREADS + 1) * ROUNDS);
    }
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        report =
            (Report *)mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED, REPORT, 0);
        return report == MAP_FAILED || allocate_all();
    }
    int file = memfd_create("report", 0);
    if (file < 0 || ftruncate(file, sizeof(Report)) || dup2(file, REPORT) < 0)
        return 1;
    report = (Report *)mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    allocations_head *h = make_log(1 << 18);
    check(h && !start(argv[0], argv[1]), "a program with its log ends");
    check(h->given <= h->capacity && !left_out(h), "... in which all has room");
    compare(h);
    check(report->pid != report->child && report->given[THREADS][0][0].pid == report->child,
          "its child's are its own");
    check(report->threw, "new without memory throws");
    check(report->was_null, "... and returns NULL where it does not throw");
    check(report->was_null_aligned, "... aligned, too");

    h = make_log(SMALL);
    auto *r = (const allocations_record *)(h + 1);
    bool ended = !start(argv[0], argv[1]);
    unsigned whole = 0;
    for (unsigned i = 0; i < SMALL; i++)
        whole += r[i].whole == 1;
    /* realloc and reallocarray are preceded by malloc; the program and libraries allocate, too. */
    check(ended && whole + left_out(h) >= (THREADS + 1) * ROUNDS * (KINDS + 2),
          "a log that is too small: all count");
    /* The first threads of parent and child need less than a block. */
    check(whole > SMALL - 2 * ALLOCATIONS_BLOCK, "... and it is full, but for two blocks");

    h = make_log(SMALL);
    h->magic++;
    check(!start(argv[0], argv[1]) && !h->given, "another file is left alone");
    unlink(ALLOCATIONS_PATH);
    check(!start(argv[0], argv[1]), "without a file nothing is noted");
    std::printf("1..%u\n", number);
}
