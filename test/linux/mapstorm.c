/*
 * Processes that share a file, more of it than fits into memory:
 *
 *   mapstorm FILE PAGES STEPS PROCESSES [KILLS]
 *
 * Each page belongs to one process, which stores a new stamp to it by its mapping or by a write,
 * and finds its last one by its mapping, by a read, by a private mapping or in a child. Of pages of
 * others it finds some stamp of that page. Behind them lies a part that is cut off and grows again,
 * all zeros, while others use it. Meanwhile processes map the file anew, elsewhere, and some,
 * KILLS, which own no page, are killed amid all that. The last line says how many pages were wrong.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = PAGE / sizeof(uint64_t), TAIL = 32, COPIED = 40, MAX_PROCESSES = 32 };

struct shared {
    uint64_t wrong, steps, faults;
};

static struct shared *shared;
static int file;
static unsigned pages, me, processes;
static uint64_t (*map)[WORDS], (*copy)[WORDS], *stamp, *copied, drawn;
static sigjmp_buf behind_the_end;

static unsigned below(unsigned n)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((drawn >> 33) % n);
}

static void wrong(const char *what, unsigned page, uint64_t is)
{
    if (__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED) < 10)
        printf("mapstorm: process %u, page %u, %s: %#llx instead of %#llx\n", me, page, what,
               (unsigned long long)is, (unsigned long long)stamp[page]);
}

static void fill(uint64_t *words, uint64_t with)
{
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = with + i;
}

/* Checks a page of this process. */
static void check_own(const volatile uint64_t *words, unsigned page, const char *what)
{
    for (unsigned i = 0; i < WORDS; i += 37)
        if (words[i] != stamp[page] + i) {
            wrong(what, page, words[i]);
            return;
        }
}

static void map_anew(void)
{
    if (map)
        munmap(map, (pages + TAIL) * PAGE);
    map = mmap(NULL, (pages + TAIL) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        perror("mapstorm: mmap"), exit(2);
}

/* A private mapping of all, of which the first pages are used: a page shows the file's until it is
 * stored to. */
static void use_copy(unsigned page)
{
    volatile uint64_t *words = copy[page];

    if (copied[page] ? words[0] != copied[page] || words[WORDS - 1] != copied[page] + WORDS - 1
                     : words[0] >> 40 != page || words[0] & 0xfff)
        wrong("a page of a private mapping", page, words[0]);
    if (below(4))
        return;
    copied[page] = (uint64_t)page << 40 | (drawn & 0xffffff) << 12;
    fill(copy[page], copied[page]);
}

static void write_own(unsigned page)
{
    stamp[page] = (uint64_t)page << 40 | (drawn & 0xffffff) << 12;
    if (below(2)) {
        fill(map[page], stamp[page]);
        return;
    }
    uint64_t words[WORDS];
    fill(words, stamp[page]);
    if (pwrite(file, words, PAGE, (off_t)page * PAGE) != PAGE)
        wrong("a write", page, 0);
}

static void read_own(unsigned page)
{
    uint64_t words[WORDS];

    switch (below(8)) {
    case 0: {
        uint64_t *own =
            mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, (off_t)page * PAGE);
        check_own(own, page, "a private mapping");
        own[0] = 1;
        check_own(map[page], page, "the file, when a private mapping is stored to");
        munmap(own, PAGE);
        break;
    }
    case 1:
    case 2:
    case 3:
        if (pread(file, words, PAGE, (off_t)page * PAGE) != PAGE)
            wrong("a read", page, 0);
        else
            check_own(words, page, "what a read gets");
        break;
    default:
        check_own(map[page], page, "what is mapped");
    }
}

static void check_other(unsigned page)
{
    uint64_t is = ((volatile uint64_t *)map[page])[0];

    if (is >> 40 != page || is & 0xfff)
        wrong("another process's page", page, is);
}

static void in_a_child(unsigned page)
{
    pid_t child = fork();

    if (!child) {
        check_own(map[page], page, "a child");
        write_own(page);
        _exit(0);
    }
    /* the child draws as its parent does */
    waitpid(child, NULL, 0);
    stamp[page] = map[page][0];
    check_own(map[page], page, "what a child stored");
}

/* The part that is cut off and grows: zeros, or what a process stores: its page's number. */
static void use_tail(void)
{
    unsigned page = pages + below(TAIL);

    if (sigsetjmp(behind_the_end, 1)) {
        __atomic_fetch_add(&shared->faults, 1, __ATOMIC_RELAXED);
        return;
    }
    uint64_t is = ((volatile uint64_t *)map[page])[below(WORDS)];
    if (is && is != page)
        wrong("behind the end", page, is);
    if (below(2))
        ((volatile uint64_t *)map[page])[below(WORDS)] = page;
}

static void move_end(void)
{
    off_t to = (off_t)(pages + below(TAIL + 1)) * PAGE + below(2) * 800;

    if (ftruncate(file, to))
        perror("mapstorm: ftruncate");
}

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(behind_the_end, 1);
}

static void step(void)
{
    unsigned what = below(100), page = below(pages);

    if (!below(5))
        use_copy(below(COPIED));
    if (me < processes) /* owns pages */
        page = page / processes * processes + me;
    if (page >= pages)
        page = me;
    if (me >= processes || what < 25)
        check_other(below(pages));
    else if (what < 55)
        read_own(page);
    else if (what < 85)
        write_own(page);
    else if (what < 86)
        in_a_child(page);
    if (what >= 86 && what < 94)
        use_tail();
    else if (what >= 94 && what < 96)
        move_end();
    else if (what == 96)
        map_anew();
    else if (what == 97)
        madvise(map[below(pages / 2)], pages / 2 * PAGE, MADV_DONTNEED);
    else if (what == 98)
        msync(map, pages * PAGE, MS_SYNC);
    else if (what == 99)
        map = mremap(map, (pages + TAIL) * PAGE, (pages + TAIL) * PAGE, MREMAP_MAYMOVE);
}

static void live(unsigned steps)
{
    signal(SIGBUS, on_fault);
    drawn = me * 7919 + 1;
    map_anew();
    copy = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    copied = calloc(pages, sizeof(*copied));
    for (unsigned i = 0; i < steps; i++)
        step();
    for (unsigned page = me; me < processes && page < pages; page += processes)
        check_own(map[page], page, "at the end");
    __atomic_fetch_add(&shared->steps, steps, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: mapstorm FILE PAGES STEPS PROCESSES [KILLS]\n");
        return 2;
    }
    pages = (unsigned)atoi(argv[2]);
    processes = (unsigned)atoi(argv[4]);
    unsigned kills = argc > 5 ? (unsigned)atoi(argv[5]) : 0, bad = 0;
    shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    stamp = calloc(pages + TAIL, sizeof(*stamp));
    for (unsigned page = 0; page < pages; page++) {
        uint64_t words[WORDS];
        stamp[page] = (uint64_t)page << 40;
        fill(words, stamp[page]);
        if (write(file, words, PAGE) != PAGE)
            return perror("mapstorm: write"), 2;
    }
    pid_t child[MAX_PROCESSES];
    for (me = 0; me < processes; me++)
        if (!(child[me] = fork())) {
            live((unsigned)atoi(argv[3]));
            _exit(0);
        }
    me = processes;
    for (unsigned i = 0; i < kills; i++) {
        pid_t doomed = fork();
        if (!doomed) {
            live(1u << 30);
            _exit(0);
        }
        usleep(5000);
        kill(doomed, SIGKILL);
        waitpid(doomed, NULL, 0);
    }
    for (unsigned i = 0; i < processes; i++) {
        int status;
        waitpid(child[i], &status, 0);
        bad += status != 0;
    }
    printf("RESULT app=mapstorm wrong=%llu bad=%u steps=%llu behind_end=%d\n",
           (unsigned long long)shared->wrong, bad, (unsigned long long)shared->steps,
           shared->faults > 0);
    unlink(argv[1]);
    return shared->wrong || bad;
}
