/*
 * Descriptions of frames (.eh_frame) while samples have chains of calls: of a child, whose code its
 * parent had mapped; of files larger than the kernel keeps, and more of them; of one that begins
 * anew. Prints TAP.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, RING_PAGES = 64, CODE = 0, DESCRIBED = PAGE };

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

/* Samples a process by time, with chains. Returns the event. */
static int sample(pid_t pid)
{
    struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
                                .size = sizeof a,
                                .config = PERF_COUNT_SW_CPU_CLOCK,
                                .sample_period = 1000000,
                                .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
                                .exclude_kernel = 1};

    return (int)syscall(SYS_perf_event_open, &a, pid, -1, -1, 0);
}

/* ---- A child --------------------------------------------------------------------------------- */

static volatile uint64_t sink;

__attribute__((noinline, noclone)) static uint64_t inner(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        sink += i;
    return sink;
}

__attribute__((noinline, noclone)) static uint64_t middle(uint64_t n)
{
    return inner(n) + n;
}

__attribute__((noinline, noclone)) static uint64_t outer(uint64_t n)
{
    return middle(n) * 3;
}

/* Of a few instructions. */
static bool is_in(uint64_t at, uint64_t (*function)(uint64_t))
{
    return at - (uintptr_t)function < 64;
}

struct sampled {
    struct perf_event_header head;
    uint64_t ip, length, chain[];
};

/* Counts samples in inner(), and those with its callers behind. */
static void count_chains(const uint8_t *ring, unsigned *all, unsigned *good)
{
    const struct perf_event_mmap_page *page = (const void *)ring;
    uint64_t at = 0, head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    static uint8_t record[PAGE];

    while (at < head) {
        struct sampled *s = (void *)record;
        for (unsigned i = 0; i < sizeof s->head; i++)
            record[i] = ring[PAGE + (at + i) % (RING_PAGES * PAGE)];
        for (unsigned i = 0; i < s->head.size && i < sizeof record; i++)
            record[i] = ring[PAGE + (at + i) % (RING_PAGES * PAGE)];
        at += s->head.size;
        if (s->head.type != PERF_RECORD_SAMPLE || !is_in(s->ip, inner))
            continue;
        unsigned found = 0;
        for (uint64_t i = 0; i < s->length; i++)
            found += is_in(s->chain[i], found ? outer : middle);
        ++*all;
        *good += found >= 2;
    }
}

/* Chains are wanted before the child is there, so it has the descriptions from its parent. */
static void test_child(void)
{
    int own = sample(0), status, go[2];
    unsigned all = 0, good = 0;
    char byte = 0;

    check(own >= 0 && !pipe(go), "chains are wanted");
    pid_t child = fork();
    if (!child) {
        if (read(go[0], &byte, 1) == 1)
            for (;;)
                sink += outer(100000);
        _exit(0);
    }
    int of_child = sample(child);
    const uint8_t *ring =
        mmap(NULL, (1 + RING_PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, of_child, 0);
    check(ring != MAP_FAILED && write(go[1], &byte, 1) == 1, "a child is sampled");
    sleep(1);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    usleep(50000);
    count_chains(ring, &all, &good);
    printf("# %u samples, %u with their callers\n", all, good);
    check(all >= 20 && good >= all - all / 10, "... and its chains go through its parent's code");
    close(of_child);
    close(own);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Maps code of a new file whose description has `bytes`. Returns where, or MAP_FAILED. */
static uint8_t *map_described(uint64_t bytes)
{
    static const uint8_t table[] = {1, 0x1b, 0x03, 0x3b};
    int file = memfd_create("described", 0);
#ifdef __x86_64__
    enum { MACHINE = EM_X86_64 };
#else
    enum { MACHINE = EM_AARCH64 };
#endif
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                    .e_machine = MACHINE,
                    .e_phoff = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 3};
    Elf64_Phdr p[] = {
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = PAGE, .p_memsz = PAGE},
        {.p_type = PT_LOAD, .p_flags = PF_R, .p_offset = DESCRIBED, .p_filesz = bytes},
        {.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_offset = DESCRIBED, .p_vaddr = DESCRIBED}};

    if (file < 0 || ftruncate(file, (off_t)(DESCRIBED + bytes)) ||
        pwrite(file, &h, sizeof h, 0) != sizeof h ||
        pwrite(file, p, sizeof p, sizeof h) != sizeof p ||
        pwrite(file, table, sizeof table, DESCRIBED) != sizeof table)
        return MAP_FAILED;
    uint8_t *at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, CODE);
    close(file);
    return at;
}

static bool map_many(unsigned n, uint64_t bytes)
{
    bool all = true;

    for (unsigned i = 0; i < n; i++)
        all &= map_described(bytes) != MAP_FAILED;
    return all;
}

/* In a child each, whose descriptions are gone with it. */
static void test_files(unsigned n, uint64_t bytes, const char *what)
{
    int status, event = sample(0);
    pid_t child = fork();

    if (!child)
        _exit(!map_many(n, bytes));
    check(event >= 0 && waitpid(child, &status, 0) == child && !status, what);
    close(event);
}

static void test_after(void)
{
    int event = sample(0), status;
    pid_t child = fork();

    if (!child) {
        map_many(2, 1 << 20);
        execl("/proc/self/exe", "frames", "again", (char *)NULL);
        _exit(1);
    }
    check(event >= 0 && waitpid(child, &status, 0) == child && !status,
          "a program begins in place of one with descriptions");
    close(event);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return !map_many(1, 1 << 20);
    test_child();
    test_files(1, 6 << 20, "a file has a description of 6 MB");
    test_files(6, 8 << 20, "files have more than 32 MB of them");
    test_files(1, 200 << 20, "one has 200 MB, which is not read");
    test_files(60, 100, "a process has 60 files");
    test_after();
    test_child();
    printf("1..%u\n", count);
    return failed != 0;
}
