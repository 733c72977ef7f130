/*
 * More memory than the process may have: threads write patterns by seed into pages and look whether
 * they are still there.
 *   paging [pages=N] [threads=N] [ops=N] [seed=N] [end=MS]
 * One half of the pages never changes: all threads read them at once, without a lock. The other
 * half lies in chunks, each under a lock: its pages are rewritten, and whole chunks are unmapped
 * and mapped anew, protected, given up and asked for.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/libc/syscall.h"
#include "apps/libc/libc.h"
#include "apps/libc/memory.h"
#include "test/qemu/apps/tap.h"

#define PAGE        4096u
#define WORDS       (PAGE / sizeof(uint64_t))
#define CHUNK_PAGES 24
#define THREADS_MAX 64
#define CHUNKS_MAX  65536

struct chunk {
    uint32_t lock;                 /* atomic */
    uint32_t version[CHUNK_PAGES]; /* under lock; 0: all zeros */
    uint64_t *at;                  /* under lock */
};

static uint64_t pages = 4096, threads = 8, ops = 4000, seed = 1, end_ms;
static uint64_t *constant;
static uint64_t constants, chunks;
static struct chunk *chunk;
static uint64_t wrong, verified; /* atomic */
static pthread_barrier_t barrier;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- What is in a page ----------------------------------------------------------------------- */

static uint64_t word_of(uint64_t page, uint64_t version, unsigned i)
{
    uint64_t x = (page * 0x9e3779b97f4a7c15 + version) ^ seed << 32;

    return version ? (x + i) * 0xbf58476d1ce4e5b9 : 0;
}

static void write_page(uint64_t *at, uint64_t page, uint64_t version)
{
    for (unsigned i = 0; i < WORDS; i++)
        at[i] = word_of(page, version, i);
}

static void verify(const uint64_t *at, uint64_t page, uint64_t version)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t is = at[i];
        if (is == word_of(page, version, i))
            continue;
        if (!__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED))
            printf("# page %llu at %p, version %llu, word %u: %#llx, not %#llx\n",
                   (unsigned long long)page, (const void *)at, (unsigned long long)version, i,
                   (unsigned long long)is, (unsigned long long)word_of(page, version, i));
        return;
    }
    __atomic_fetch_add(&verified, 1, __ATOMIC_RELAXED);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static uint64_t *map(uint64_t n, const char *name)
{
    int64_t at = (int64_t)memory_map(name, n * PAGE);

    if (!at) {
        printf("Bail out!  no memory\n");
        exit(1);
    }
    return (uint64_t *)at;
}

static uint64_t page_of(uint64_t c, unsigned i)
{
    return constants + c * CHUNK_PAGES + i;
}

static uint64_t *at_page(const struct chunk *c, unsigned i)
{
    return c->at + i * WORDS;
}

static void expect(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void remap(struct chunk *c)
{
    expect(syscall2(SYS_munmap, c->at, CHUNK_PAGES * PAGE) == 0);
    c->at = map(CHUNK_PAGES, "chunk");
    memset(c->version, 0, sizeof(c->version));
}

static void unmap_part(struct chunk *c, uint64_t *state)
{
    /* The hole must not be a place for anything else: at an end, beside a chunk that is unmapped
     * meanwhile, it would be one for a chunk. */
    unsigned from = 1 + next_random(state) % (CHUNK_PAGES - 2);

    /* What is left keeps its contents; then all of it goes. */
    expect(syscall2(SYS_munmap, at_page(c, from), PAGE) == 0);
    for (unsigned i = 0; i < CHUNK_PAGES; i++)
        if (i != from)
            verify(at_page(c, i), page_of((uint64_t)(c - chunk), i), c->version[i]);
    remap(c);
}

static void protect(struct chunk *c)
{
    expect(syscall3(SYS_mprotect, c->at, CHUNK_PAGES * PAGE, LINUX_PROT_READ) == 0);
    for (unsigned i = 0; i < CHUNK_PAGES; i += 5)
        verify(at_page(c, i), page_of((uint64_t)(c - chunk), i), c->version[i]);
    expect(syscall3(SYS_mprotect, c->at, CHUNK_PAGES * PAGE, LINUX_PROT_READ | LINUX_PROT_WRITE) ==
           0);
}

/* Some pages are asked for, and at once forgotten, read or left alone. */
static void advise(struct chunk *c, unsigned i, uint64_t *state)
{
    unsigned n = 1 + next_random(state) % (CHUNK_PAGES - i);
    bool forget = next_random(state) % 2;

    expect(syscall3(SYS_madvise, c->at, CHUNK_PAGES * PAGE, LINUX_MADV_WILLNEED) == 0);
    if (forget) {
        expect(syscall3(SYS_madvise, at_page(c, i), n * PAGE, LINUX_MADV_DONTNEED) == 0);
        memset(&c->version[i], 0, n * sizeof(c->version[0]));
    }
    for (unsigned k = 0; k < CHUNK_PAGES; k += 2)
        verify(at_page(c, k), page_of((uint64_t)(c - chunk), k), c->version[k]);
}

/* The kernel reads and writes the page. */
static void copy_by_kernel(struct chunk *c, unsigned i)
{
    struct sys_thread_info info;

    expect(syscall3(SYS_THREADS, 0, at_page(c, i), sizeof(info)) >= 0);
    write_page(at_page(c, i), page_of((uint64_t)(c - chunk), i), ++c->version[i]);
}

static void change(struct chunk *c, uint64_t *state)
{
    unsigned i = next_random(state) % CHUNK_PAGES, what = next_random(state) % 256;
    uint64_t page = page_of((uint64_t)(c - chunk), i);

    verify(at_page(c, i), page, c->version[i]);
    if (what < 120)
        write_page(at_page(c, i), page, ++c->version[i]);
    else if (what < 122)
        remap(c);
    else if (what < 124)
        unmap_part(c, state);
    else if (what < 128)
        protect(c);
    else if (what < 136)
        copy_by_kernel(c, i);
    else if (what < 142)
        advise(c, i, state);
}

static void change_some_chunk(uint64_t *state)
{
    struct chunk *c = &chunk[next_random(state) % chunks];

    if (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE))
        return; /* another one next time */
    change(c, state);
    __atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *work(void *arg)
{
    uint64_t index = (uint64_t)(uintptr_t)arg,
             state = (seed * THREADS_MAX + index) * 0x9e3779b97f4a7c15 + 1;

    for (uint64_t p = index; p < constants; p += threads)
        write_page(constant + p * WORDS, p, 1);
    pthread_barrier_wait(&barrier);
    for (uint64_t i = 0; i < ops; i++) {
        uint64_t page = next_random(&state) % constants;
        for (unsigned n = next_random(&state) % 8; n && page < constants; n--, page++)
            verify(constant + page * WORDS, page, 1);
        change_some_chunk(&state);
    }
    return NULL;
}

static void run(void)
{
    static pthread_t thread[THREADS_MAX];

    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (uint64_t i = 0; i < threads; i++)
        expect(pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i) == 0);
    for (uint64_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (uint64_t c = 0; c < chunks; c++)
        for (unsigned i = 0; i < CHUNK_PAGES; i++)
            verify(at_page(&chunk[c], i), page_of(c, i), chunk[c].version[i]);
}

static void *end_amid_all(void *arg)
{
    sleep_ns(end_ms * 1000000);
    printf("paging: event=ends verified=%llu wrong=%llu\n", (unsigned long long)verified,
           (unsigned long long)wrong);
    exit(wrong != 0);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t ender;
    const struct args_entry entries[] = {
        {"pages", ARGS_NUMBER, &pages, 2 * CHUNK_PAGES, CHUNKS_MAX * CHUNK_PAGES, NULL,
         "of memory, half of them constant"},
        {"threads", ARGS_NUMBER, &threads, 1, THREADS_MAX, NULL, "that work on them"},
        {"ops", ARGS_NUMBER, &ops, 1, UINT32_MAX, NULL, "of each thread"},
        {"seed", ARGS_NUMBER, &seed, 0, UINT32_MAX, NULL, "of contents and choices"},
        {"end", ARGS_NUMBER, &end_ms, 0, 3600000, NULL,
         "milliseconds after which it ends amid all; 0: when it is done"},
    };
    const struct args_table table = {"paging",
                                     "writes pages and looks whether they stay what they are",
                                     entries, sizeof entries / sizeof entries[0]};

    static char text[256]; /* else a buffer would be mapped, maybe in a hole of unmap_part() */

    args_parse_or_exit(&table, argc, argv);
    setvbuf(stdout, text, _IOLBF, sizeof text);
    chunks = pages / 2 / CHUNK_PAGES;
    constants = pages - chunks * CHUNK_PAGES;
    constant = map(constants, "constant");
    chunk = (struct chunk *)map(chunks * sizeof(*chunk) / PAGE + 1, "table");
    for (uint64_t c = 0; c < chunks; c++)
        chunk[c].at = map(CHUNK_PAGES, "chunk");
    if (end_ms)
        expect(pthread_create(&ender, NULL, end_amid_all, NULL) == 0);
    run();
    printf("paging: event=done verified=%llu\n", (unsigned long long)verified);
    tap_check(wrong == 0, "every page holds what was written to it");
    return tap_done();
}
