/*
 * Times what a kernel does for a program: one Linux program, the same file for any kernel.
 *
 *   kernel_costs [WHAT [ROUNDS]]     WHAT: one of the rows of `costs`, or all  (all, 11)
 *
 * Prints for each cost the median, the least and the most of the rounds, in picoseconds for one
 * operation by CLOCK_MONOTONIC. The simulated machine runs at 1 GHz: 1,000 is a cycle.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 101, ROUNDS = 11, PAGE = 4096 };

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "kernel_costs: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Binds the calling thread to a CPU. */
static void bind_to(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        fail("sched_setaffinity");
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* ---- Alone ---------------------------------------------------------------------------------- */

static void null_call(unsigned n)
{
    while (n--)
        syscall(SYS_getppid);
}

static void read_clock(unsigned n)
{
    struct timespec t;

    while (n--)
        clock_gettime(CLOCK_MONOTONIC, &t);
}

static void wake_none(unsigned n)
{
    static _Atomic uint32_t word;

    while (n--)
        futex(&word, FUTEX_WAKE, 1);
}

/* First touches of pages of memory that was never touched; without mapping and unmapping it. */
static char *fresh;

static void fault_prepare(unsigned n)
{
    fresh =
        mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
        fail("mmap");
    madvise(fresh, (size_t)n * PAGE, MADV_NOHUGEPAGE);
}

static void fault(unsigned n)
{
    for (size_t i = 0; i < n; i++)
        *(volatile char *)(fresh + i * PAGE) = 1;
}

static void fault_finish(unsigned n)
{
    munmap(fresh, (size_t)n * PAGE);
}

static void map_unmap(unsigned n)
{
    while (n--) {
        void *p = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED)
            fail("mmap");
        munmap(p, 16 * PAGE);
    }
}

static void *nothing(void *unused)
{
    return unused;
}

static void create_join(unsigned n)
{
    pthread_t thread;

    while (n--)
        if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
            fail("pthread_create");
}

static void bind_prepare(unsigned n)
{
    (void)n;
    bind_to(0); /* and so are its threads */
}

/* ---- Files and processes -------------------------------------------------------------------- */

static char *shown;
static int file;

/* Makes a file of n pages in memory. */
static void file_prepare(unsigned n)
{
    char page[PAGE];

    file = memfd_create("pages", 0);
    memset(page, 1, sizeof page);
    for (unsigned i = 0; i < n; i++)
        if (write(file, page, PAGE) != PAGE)
            fail("write");
}

static void read_file(unsigned n)
{
    char page[PAGE];

    for (unsigned i = 0; i < n; i++)
        if (pread(file, page, PAGE, (off_t)i * PAGE) != PAGE)
            fail("pread");
}

static void file_finish(unsigned n)
{
    (void)n;
    close(file);
}

static void map_prepare(unsigned n)
{
    file_prepare(n);
    shown = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (shown == MAP_FAILED)
        fail("mmap");
}

static void read_pages(unsigned n)
{
    for (size_t i = 0; i < n; i++)
        (void)*(volatile char *)(shown + i * PAGE);
}

static void copy_prepare(unsigned n)
{
    map_prepare(n);
    read_pages(n);
}

static void write_pages(unsigned n)
{
    for (size_t i = 0; i < n; i++)
        *(volatile char *)(shown + i * PAGE) = 2;
}

static void map_finish(unsigned n)
{
    munmap(shown, (size_t)n * PAGE);
    file_finish(n);
}

static void wait_for(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, 0) != child || status)
        fail("a child process");
}

enum { FORKED_PAGES = 180 };

static void fork_prepare(unsigned n)
{
    (void)n;
    fault_prepare(FORKED_PAGES);
    fault(FORKED_PAGES);
}

static void fork_wait(unsigned n)
{
    while (n--) {
        pid_t child = fork();
        if (!child)
            _exit(0);
        wait_for(child);
    }
}

static void fork_finish(unsigned n)
{
    (void)n;
    fault_finish(FORKED_PAGES);
}

static void spawn(const char *path, unsigned n)
{
    char *const argv[] = {(char[]){"kernel_costs"}, (char[]){"nothing"}, NULL};
    pid_t child;

    while (n--) {
        if (posix_spawn(&child, path, NULL, NULL, argv, environ))
            fail("posix_spawn");
        wait_for(child);
    }
}

/* Starts this program, whose C library begins, to do nothing. */
static void spawn_wait(unsigned n)
{
    spawn("/proc/self/exe", n);
}

/* A program of exit_group(0) alone. */
static const struct {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint32_t code[4];
} bare = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_EXEC,
               .e_version = EV_CURRENT,
               .e_entry = 0x400000 + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
               .e_phoff = sizeof(Elf64_Ehdr),
               .e_ehsize = sizeof(Elf64_Ehdr),
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 1,
#ifdef __x86_64__
               .e_machine = EM_X86_64},
    .code = {0x0000e7b8, 0xff319000, 0x9090050f}, /* mov $231, %eax; nop; xor %edi, %edi; syscall */
#else
               .e_machine = EM_AARCH64},
    .code = {0xd2800bc8, 0xd2800000, 0xd4000001}, /* mov x8, #94; mov x0, #0; svc #0 */
#endif
    .segment = {.p_type = PT_LOAD,
                .p_flags = PF_R | PF_X,
                .p_vaddr = 0x400000,
                .p_filesz = sizeof bare,
                .p_memsz = sizeof bare,
                .p_align = 0x10000},
};

static void bare_prepare(unsigned n)
{
    (void)n;
    file = memfd_create("bare", 0);
    if (write(file, &bare, sizeof bare) != sizeof bare)
        fail("memfd_create");
}

static void spawn_bare(unsigned n)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    spawn(path, n);
}

/* ---- Two threads ---------------------------------------------------------------------------- */

static _Atomic uint32_t turn;
static pthread_t partner;
static int partner_cpu;
static void *(*partner_does)(void *);
static unsigned partner_times;

/* Waits by the futex until it is `mine`'s turn, without spinning. */
static void await_turn(uint32_t mine)
{
    uint32_t seen;

    while ((seen = atomic_load(&turn)) % 2 != mine)
        futex(&turn, FUTEX_WAIT, seen);
}

static void pass_turn(void)
{
    atomic_fetch_add(&turn, 1);
    futex(&turn, FUTEX_WAKE, 1);
}

static void *answer(void *unused)
{
    bind_to(partner_cpu);
    for (unsigned n = partner_times; n; n--) {
        await_turn(1);
        pass_turn();
    }
    return unused;
}

/* Passes the turn on as `mine` often enough, giving the CPU away until it is there. */
static void yield_turns(uint32_t mine, unsigned n)
{
    for (; n; n--) {
        while (atomic_load(&turn) % 2 != mine)
            sched_yield();
        atomic_fetch_add(&turn, 1);
    }
}

static void *yield_too(void *unused)
{
    bind_to(partner_cpu);
    yield_turns(1, partner_times);
    return unused;
}

static void start_partner(unsigned n)
{
    bind_to(0);
    partner_times = n / 2 + 1;
    atomic_store(&turn, 0);
    if (pthread_create(&partner, NULL, partner_does, NULL))
        fail("pthread_create");
}

static void pass(void)
{
    pass_turn();
    await_turn(0);
}

static void same_prepare(unsigned n)
{
    partner_cpu = 0, partner_does = answer;
    start_partner(n);
    pass(); /* it is there */
}

static void other_prepare(unsigned n)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    partner_cpu = cpus > 2 ? 2 : (int)cpus - 1, partner_does = answer; /* another core's */
    start_partner(n);
    pass();
}

/* Each way is one wake and one switch: an operation is one way. */
static void pass_turns(unsigned n)
{
    for (n /= 2; n; n--)
        pass();
}

static void join_partner(unsigned n)
{
    (void)n;
    pthread_join(partner, NULL);
}

/* Beforehand the turn is passed as often as it is later: a scheduler first makes up for what one
 * of the two has had less. */
static void yield_prepare(unsigned n)
{
    partner_cpu = 0, partner_does = yield_too;
    start_partner(2 * n);
    yield_turns(0, n / 2 + 1);
}

static void yield(unsigned n)
{
    yield_turns(0, n / 2);
}

static const struct cost {
    const char *name;
    unsigned times;
    void (*run)(unsigned n);
    void (*prepare)(unsigned n), (*finish)(unsigned n);
} costs[] = {
    {"null_call", 2000, null_call, NULL, NULL},
    {"clock", 5000, read_clock, NULL, NULL},
    {"futex_wake", 2000, wake_none, NULL, NULL},
    {"fault", 64, fault, fault_prepare, fault_finish},
    {"fault_cold", 2048, fault, fault_prepare, fault_finish},
    {"map_unmap", 300, map_unmap, NULL, NULL},
    {"create_join", 100, create_join, NULL, NULL},
    {"switch_yield", 1000, yield, yield_prepare, join_partner},
    {"switch_futex", 1000, pass_turns, same_prepare, join_partner},
    {"wake_other_cpu", 500, pass_turns, other_prepare, join_partner},
    {"create_join_1cpu", 100, create_join, bind_prepare, NULL},
    {"file_read", 256, read_file, file_prepare, file_finish},
    {"file_fault", 256, read_pages, map_prepare, map_finish},
    {"file_copy", 256, write_pages, copy_prepare, map_finish},
    {"fork_wait", 10, fork_wait, fork_prepare, fork_finish},
    {"spawn_wait", 10, spawn_wait, NULL, NULL},
    {"spawn_bare", 10, spawn_bare, bare_prepare, file_finish},
};

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* A first round is not counted: it fills caches. */
static void measure(const struct cost *c, unsigned rounds)
{
    uint64_t took[ROUNDS_MAX + 1];

    for (unsigned i = 0; i <= rounds; i++) {
        if (c->prepare)
            c->prepare(c->times);
        uint64_t begin = now();

        c->run(c->times);
        took[i] = (now() - begin) * 1000 / c->times;
        if (c->finish)
            c->finish(c->times);
    }
    qsort(took + 1, rounds, sizeof took[0], compare);
    printf("COST what=%s median=%llu min=%llu max=%llu rounds=%u\n", c->name,
           (unsigned long long)took[1 + rounds / 2], (unsigned long long)took[1],
           (unsigned long long)took[rounds], rounds);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : ROUNDS, done = 0;
    size_t count = sizeof costs / sizeof costs[0];

    if (!strcmp(what, "nothing"))
        return 0;
    if (!rounds || rounds > ROUNDS_MAX)
        rounds = ROUNDS;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(what, "all") || !strcmp(what, costs[i].name)) {
            measure(&costs[i], rounds);
            done++;
        }
    if (!done) {
        fprintf(stderr, "kernel_costs: '%s' is no cost\n", what);
        return 2;
    }
    return 0;
}
