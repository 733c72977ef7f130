/*
 * What a program says of how it reads is heeded: of memory that is swapped, and of a disk that is
 * mapped.
 *   advice swap          memory of several times what the process may have; prefetching is spatial
 *   advice disk [NAME]   word i of the disk is i
 */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "apps/libc/memory.h"
#include "test/qemu/apps/tap.h"

enum {
    PAGE = 4096,
    WORDS = PAGE / 4,
    LARGE = 1024,
    KEPT = 64,
    REGIONS = 64,
    MOST = LARGE - LARGE / 8
};

static struct sys_memory_region of(const void *at)
{
    static struct sys_memory_region region[REGIONS];
    int n = memory_regions(0, region, REGIONS);

    for (int i = 0; i < n && i < REGIONS; i++)
        if (region[i].start <= (uintptr_t)at && (uintptr_t)at < region[i].start + region[i].bytes)
            return region[i];
    return (struct sys_memory_region){0};
}

static uint64_t waits(const void *at)
{
    return of(at).major_faults;
}

static uint64_t prefetched(void)
{
    struct sys_memory m;

    return memory_read(0, &m) ? 0 : m.prefetched;
}

/* One pass over pages, every step-th; wrong words. */
static uint64_t pass(const uint32_t *at, unsigned pages, unsigned step)
{
    uint64_t wrong = 0;

    for (unsigned p = 0; p < pages; p += step)
        for (unsigned w = 0; w < WORDS; w += 64)
            wrong += at[p * WORDS + w] != p * WORDS + w;
    return wrong;
}

/* Waits of a pass, under that advice. */
static uint64_t read_as(uint32_t *at, int advice, const char *what)
{
    tap_check(!memory_advise(at, LARGE * PAGE, advice), "%s: the advice is taken", what);
    uint64_t before = waits(at);
    tap_check(!pass(at, LARGE, 1), "%s: every page is right", what);
    uint64_t n = waits(at) - before;
    printf("# %s: %" PRIu64 " waits of %u pages\n", what, n, LARGE);
    return n;
}

/* How many of the pages used before the others are read had to be read again behind them. */
static uint64_t lost(uint32_t *kept, uint32_t *large, int advice)
{
    memory_advise(large, LARGE * PAGE, advice);
    pass(kept, KEPT, 1);
    pass(kept, KEPT, 1);
    pass(large, LARGE, 1);
    uint64_t before = of(kept).faults;
    if (pass(kept, KEPT, 1))
        tap_check(false, "what is kept is right");
    return of(kept).faults - before;
}

static void swapped(void)
{
    uint32_t *large = memory_map("large", LARGE * PAGE), *kept = memory_map("kept", KEPT * PAGE);

    if (!tap_check(large && kept, "there is memory"))
        return;
    for (uint32_t i = 0; i < LARGE * WORDS; i++)
        large[i] = i;
    for (uint32_t i = 0; i < KEPT * WORDS; i++)
        kept[i] = i;
    memory_advise(kept, KEPT * PAGE, MADV_RANDOM);
    uint64_t ahead = prefetched();
    uint64_t n = read_as(large, MADV_RANDOM, "random");
    tap_check(prefetched() - ahead < LARGE / 8,
              "random: but for code and the like nothing is read ahead");
    tap_check(n >= LARGE - LARGE / 4, "random: each page is waited for");
    n = read_as(large, MADV_SEQUENTIAL, "sequential");
    tap_check(n < LARGE / 4, "sequential: few are");
    uint64_t without = lost(kept, large, MADV_NORMAL), with = lost(kept, large, MADV_SEQUENTIAL);
    printf("# of %d pages used before a long reading, %" PRIu64 " left by it, %" PRIu64
           " by one said to be sequential\n",
           KEPT, without, with);
    tap_check(without > KEPT / 2, "a long reading drives out what was used before");
    tap_check(with < KEPT / 4,
              "... one that is said to be sequential does not: pages behind it leave first");
}

/* Maps the disk anew and reads it in a row, under that advice. Returns the pages read ahead. */
static uint64_t read_in_a_row(const char *name, uint32_t **at, int advice, const char *what,
                              uint64_t *waited)
{
    uint64_t before = prefetched();
    size_t bytes;

    memory_unmap(*at, of(*at).bytes);
    *at = (uint32_t *)memory_map_disk(name, &bytes);
    *waited = read_as(*at, advice, what);
    printf("# %s: %" PRIu64 " pages read ahead\n", what, prefetched() - before);
    return prefetched() - before;
}

/* Returns whether most of what was read in a row came before it was used. Where the process has a
 * limit it is counted, and may be waited for; else all that was read ahead stays. */
static bool came_before(uint64_t ahead, uint64_t waited)
{
    return ahead ? ahead > MOST : waited < LARGE / 5;
}

static void mapped(const char *name)
{
    size_t bytes;
    uint32_t *at = (uint32_t *)memory_map_disk(name, &bytes);

    if (!tap_check(at && bytes >= LARGE * PAGE, "a disk is mapped"))
        return;
    uint64_t n, ahead = read_in_a_row(name, &at, MADV_NORMAL, "normal", &n);
    tap_check(n > 1 && came_before(ahead, n), "normal: what is read in a row is read ahead");
    memory_unmap(at, bytes);
    at = (uint32_t *)memory_map_disk(name, &bytes);
    n = read_as(at, MADV_RANDOM, "random");
    tap_check(n == LARGE, "random: each page is waited for");
    memory_unmap(at, bytes);
    at = (uint32_t *)memory_map_disk(name, &bytes);
    ahead = read_in_a_row(name, &at, MADV_SEQUENTIAL, "sequential", &n);
    tap_check(came_before(ahead, n), "sequential: many at once from the start");
    memory_unmap(at, bytes);
    at = (uint32_t *)memory_map_disk(name, &bytes);
    tap_check(!pass(at, LARGE, 5) && waits(at) == (LARGE + 4) / 5,
              "what is read here and there is not read ahead");
    uint64_t resident = of(at).resident_bytes + of(at).swapped_bytes;
    tap_check(resident / PAGE <= (LARGE + 4) / 5 + 1, "... and no more than that has come");
    memory_unmap(at, bytes);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "disk") == 0)
        mapped(argc > 2 ? argv[2] : "vda");
    else
        swapped();
    return tap_done();
}
