/*
 * Forked processes and their memory:
 *
 *   forks PAGES ROUNDS
 *
 * Each round the program forks children; a child finds every page as its parent had it, writes to
 * half of them, moves some, forks one more that finds them so, and finds its own unchanged at the
 * end, while parent and siblings do the same. A child begins when its parent posts a semaphore in
 * memory that all share, and each process counts there, in every page. The last line says how many
 * processes there were and how many pages were wrong.
 */
#define _GNU_SOURCE
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 3, WORDS = 4096 / sizeof(uint64_t), MOVED = 8, SHARED = 20 };

static uint64_t (*shared)[WORDS]; /* a count in each page, the semaphore in the first */
static sem_t *turn;

static uint64_t (*page)[WORDS];
static uint64_t *stamp; /* of each page, in memory that is forked, too */
static unsigned pages, forked;
static uint64_t drawn;

static unsigned below(unsigned n)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((drawn >> 33) % n);
}

static void write_page(unsigned i)
{
    stamp[i] = drawn << 20 | i;
    for (unsigned w = 0; w < WORDS; w += 64)
        page[i][w] = stamp[i] + w;
}

static unsigned wrong_pages(void)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < pages; i++)
        for (unsigned w = 0; w < WORDS; w += 64)
            if (page[i][w] != stamp[i] + w) {
                wrong++;
                break;
            }
    return wrong;
}

static void write_some(unsigned seed)
{
    drawn = drawn * 31 + seed;
    for (unsigned i = 0; i < pages / 2; i++)
        write_page(below(pages));
}

/* Moves pages away and back. Returns how often that failed. */
static unsigned move_some(void)
{
    unsigned at = below(pages - MOVED);
    void *here = page[at],
         *there = mmap(NULL, MOVED * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int how = MREMAP_MAYMOVE | MREMAP_FIXED;

    if (there == MAP_FAILED || mremap(here, MOVED * 4096, MOVED * 4096, how, there) != there ||
        mremap(there, MOVED * 4096, MOVED * 4096, how, here) != here)
        return 1;
    return 0;
}

/* Forks a process that ends with what f returns. Returns its pid. */
static pid_t begin(unsigned (*f)(unsigned), unsigned seed)
{
    pid_t pid = fork();

    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (!pid) {
        unsigned wrong = f(seed);
        _exit(wrong < 100 ? (int)wrong : 100);
    }
    forked++;
    return pid;
}

static unsigned end(pid_t pid)
{
    int status;

    return waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ? 100
                                                                 : (unsigned)WEXITSTATUS(status);
}

/* Counts this process in memory that all share. */
static void count(void)
{
    for (unsigned i = 0; i < SHARED; i++)
        __atomic_fetch_add(&shared[i][WORDS - 1], 1, __ATOMIC_RELAXED);
}

static unsigned grandchild(unsigned seed)
{
    unsigned wrong = wrong_pages();

    count();
    write_some(seed);
    return wrong + wrong_pages();
}

static unsigned child(unsigned seed)
{
    while (sem_wait(turn))
        ;
    count();
    unsigned wrong = wrong_pages();

    write_some(seed);
    wrong += move_some();
    pid_t pid = begin(grandchild, seed + 1000);
    write_some(seed + 1);
    wrong += wrong_pages();
    return wrong + end(pid) + wrong_pages();
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 3, wrong = 0;

    pages = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    page = mmap(NULL, pages * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, SHARED * 4096ul, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    turn = (sem_t *)shared;
    stamp = calloc(pages, sizeof(*stamp));
    if (page == MAP_FAILED || shared == MAP_FAILED || !stamp || pages <= MOVED ||
        sem_init(turn, 1, 0))
        return 2;
    for (unsigned i = 0; i < pages; i++)
        write_page(i);
    for (unsigned r = 0; r < rounds; r++) {
        pid_t pid[CHILDREN];
        for (unsigned c = 0; c < CHILDREN; c++)
            pid[c] = begin(child, r * 10 + c);
        write_some(r);
        for (unsigned c = 0; c < CHILDREN; c++)
            sem_post(turn);
        wrong += wrong_pages();
        for (unsigned c = 0; c < CHILDREN; c++)
            wrong += end(pid[c]);
        wrong += wrong_pages();
    }
    for (unsigned i = 0; i < SHARED; i++)
        wrong += shared[i][WORDS - 1] != forked * 2;
    printf("RESULT app=forks forked=%u wrong=%u\n", forked * 2, wrong);
    return wrong != 0;
}
