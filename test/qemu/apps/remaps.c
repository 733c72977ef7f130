/*
 * Linux's calls of memory while other threads use it: mappings that are replaced at one stroke,
 * that move with their contents, grow and shrink; more of them, and larger ones, than fit into any
 * table.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include "apps/libc/syscall.h"
#include "test/qemu/apps/tap.h"

#define PAGE 4096ul
#define GIB  (1ul << 30)

enum {
#define CALL(number, name, handler) LINUX_##name = number,
#define REFUSED(number, name)
#include "linux_calls.h"
    /* values of Linux's interface */
    NONE = 0,
    READ = 1,
    RW = 3,
    PRIVATE = 2,
    FIXED = 0x10,
    ANON = 0x20,
    NORESERVE = 0x4000,
    FREE = 8,
    MAYMOVE = 1,
    MOVE_FIXED = 2,
    PRIVATE_EXPEDITED = 8,
    ROUNDS = 200,
    PAGES = 16,
};

static int64_t map(uint64_t at, uint64_t len, unsigned prot, unsigned flags)
{
    return syscall_raw(LINUX_mmap, at, len, prot, PRIVATE | ANON | flags, (uint64_t)-1, 0);
}

static int64_t call(unsigned number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    return syscall_raw(number, a, b, c, d, e, 0);
}

static volatile uint64_t *word(int64_t at, unsigned page)
{
    return (volatile uint64_t *)(at + page * PAGE);
}

/* ---- At one stroke --------------------------------------------------------------------------- */

static int64_t shared;
static volatile int stop;
static unsigned wrong;

/* Uses all pages. A page that were not mapped for a moment would end the program. */
static void *use(void *arg)
{
    unsigned mine = (unsigned)(uintptr_t)arg;

    while (!stop)
        for (unsigned page = 0; page < PAGES; page++) {
            uint64_t is = word(shared, page)[mine];
            if (is != 0 && is != mine + 1)
                __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
            word(shared, page)[mine] = mine + 1;
        }
    return NULL;
}

static void replaced_while_used(void)
{
    pthread_t thread[3];
    unsigned failed = 0;

    shared = map(0, PAGES * PAGE, RW, 0);
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, use, (void *)i);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned from = i % (PAGES - 4), n = 1 + i % 4;
        failed += map(shared + from * PAGE, n * PAGE, RW, FIXED) != shared + (int64_t)(from * PAGE);
        failed += call(LINUX_madvise, shared + from * PAGE, n * PAGE, FREE, 0, 0) != 0;
        failed += call(LINUX_membarrier, PRIVATE_EXPEDITED, 0, 0, 0, 0) != 0;
    }
    stop = 1;
    for (unsigned i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    tap_check(!failed && !wrong, "mappings are replaced at one stroke (%u, %u)", failed, wrong);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

static void moved(void)
{
    int64_t at = map(0, 64 * PAGE, RW, 0), to;
    unsigned bad = 0;

    for (unsigned i = 0; i < 64; i++)
        *word(at, i) = 1000 + i;
    for (unsigned round = 0; round < 20; round++) {
        to = call(LINUX_mremap, (uint64_t)at, 64 * PAGE, (64 + round % 2) * PAGE, MAYMOVE, 0);
        bad += to <= 0;
        if (to <= 0)
            break;
        at = to;
        if (round % 2) /* in the way of growing where it is */
            at = call(LINUX_mremap, (uint64_t)at, 65 * PAGE, 64 * PAGE, 0, 0);
        int64_t place = map(0, 64 * PAGE, NONE, 0);
        to = call(LINUX_mremap, (uint64_t)at, 64 * PAGE, 64 * PAGE, MAYMOVE | MOVE_FIXED,
                  (uint64_t)place);
        bad += to != place;
        for (unsigned i = 0; i < 64 && to == place; i++)
            bad += *word(to, i) != 1000 + i;
        at = to;
    }
    tap_check(!bad, "mappings move with their contents (%u)", bad);
    tap_check(call(LINUX_mremap, (uint64_t)at, 65 * PAGE, 64 * PAGE, 0, 0) == -EFAULT,
              "an unmapped range cannot be moved");
    call(LINUX_munmap, (uint64_t)at, 64 * PAGE, 0, 0, 0);
}

/* ---- Large and many -------------------------------------------------------------------------- */

static void large_and_many(void)
{
    int64_t at = map(0, 4096 * GIB, NONE, NORESERVE);

    tap_check(at > 0, "four terabytes are reserved");
    tap_check(call(LINUX_mprotect, (uint64_t)at + 2048 * GIB, 16 * PAGE, RW, 0, 0) == 0,
              "pages amid them become accessible");
    *word(at + (int64_t)(2048 * GIB), 3) = 5;
    tap_check(*word(at + (int64_t)(2048 * GIB), 3) == 5, "... and hold what is stored");
    tap_check(call(LINUX_munmap, (uint64_t)at, 4096 * GIB, 0, 0, 0) == 0, "... and go");

    /* every other page has other rights */
    enum { MANY = 20000 };
    unsigned refused = 0;
    at = map(0, 2 * MANY * PAGE, RW, 0);
    for (unsigned i = 0; i < MANY; i++)
        refused += call(LINUX_mprotect, (uint64_t)at + 2 * i * PAGE, PAGE, READ, 0, 0) != 0;
    tap_check(!refused, "a mapping has %u parts (%u)", 2 * MANY, refused);
    refused = 0;
    for (unsigned i = 0; i < MANY; i++)
        refused += call(LINUX_mprotect, (uint64_t)at + 2 * i * PAGE, PAGE, RW, 0, 0) != 0;
    tap_check(!refused, "... and becomes one again (%u)", refused);
    tap_check(call(LINUX_munmap, (uint64_t)at, 2 * MANY * PAGE, 0, 0, 0) == 0, "... and goes");
}

/* ---- What is there --------------------------------------------------------------------------- */

static void looked_at(void)
{
    int64_t at = map(0, 4 * PAGE, RW, 0);
    unsigned char is[4] = {0};

    *word(at, 1) = 1;
    tap_check(!call(LINUX_mincore, (uint64_t)at, 4 * PAGE, (uintptr_t)is, 0, 0) && !is[0] &&
                  is[1] && !is[2],
              "mincore tells which pages are there");
    tap_check(!call(LINUX_mlock, (uint64_t)at, 4 * PAGE, 0, 0, 0) &&
                  !call(LINUX_mincore, (uint64_t)at, 4 * PAGE, (uintptr_t)is, 0, 0) && is[0] &&
                  is[3],
              "mlock brings them");
    tap_check(!call(LINUX_munlock, (uint64_t)at, 4 * PAGE, 0, 0, 0), "munlock");
    tap_check(!call(LINUX_msync, (uint64_t)at, 4 * PAGE, 4, 0, 0), "msync");
    call(LINUX_munmap, (uint64_t)at, 4 * PAGE, 0, 0, 0);
    tap_check(call(LINUX_msync, (uint64_t)at, 4 * PAGE, 4, 0, 0) == -ENOMEM,
              "msync of what is gone");
}

int main(void)
{
    replaced_while_used();
    moved();
    large_and_many();
    looked_at();
    return tap_done();
}
