/*
 * Visits pages repeatedly, in order or at random, and reads or writes some lines of each: what
 * swapping costs, and readahead saves. A random order is drawn anew for every access, so it cannot
 * be learned.
 *
 * The pages are filled first. Marks: "start" behind that, "steady" after the first round, "end".
 *
 * Laws:
 * - a page holds its number wherever it has been;
 * - the counts of its lines add up to the accesses that wrote.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include "apps/common/args.h"
#include "apps/common/prng.h"
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"

enum { PAGE = 4096, LINE = 128, LINES_MAX = PAGE / LINE, LOOP = 0, READ = 0, WRITE = 1 };

static const char *const orders[] = {"loop", "random", NULL}, *const accesses[] = {"read", "write",
                                                                                   NULL};
static uint64_t pages = 1024, rounds = 4, lines = 4, seed = 1;
static unsigned order = LOOP, access = READ;
static const struct args_entry entries[] = {
    {"pages", ARGS_NUMBER, &pages, 1, 1 << 24, NULL, "of 4 KB"},
    {"order", ARGS_CHOICE, &order, 0, 0, orders, "how a round goes through the pages"},
    {"access", ARGS_CHOICE, &access, 0, 0, accesses, "what is done to them"},
    {"rounds", ARGS_NUMBER, &rounds, 2, 1000000, NULL,
     "accesses to each page, on the average; the first warms up"},
    {"lines", ARGS_NUMBER, &lines, 1, LINES_MAX, NULL, "of a page that an access reads or writes"},
    {"seed", ARGS_NUMBER, &seed, 1, UINT32_MAX, NULL, "of the random order"},
};
static const struct args_table table = {"sweep", "pages in order or at random, read or written",
                                        entries, sizeof entries / sizeof entries[0]};

struct line {
    uint64_t page, writes, rest[LINE / sizeof(uint64_t) - 2];
};
struct page {
    struct line line[LINES_MAX];
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the lines that hold another page's number. */
static uint64_t use(struct page *all, uint64_t number)
{
    volatile struct line *line = all[number].line;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < lines; i++) {
        wrong += line[i].page != number;
        if (access == WRITE)
            line[i].writes++;
    }
    return wrong;
}

static uint64_t round_of(struct page *all, struct prng *prng)
{
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < pages; i++)
        wrong += use(all, order == LOOP ? i : prng_below(prng, (uint32_t)pages));
    return wrong;
}

static void fill(struct page *all)
{
    for (uint64_t p = 0; p < pages; p++)
        for (uint64_t i = 0; i < lines; i++)
            all[p].line[i].page = p;
}

static uint64_t writes_of(const struct page *all)
{
    uint64_t sum = 0;

    for (uint64_t p = 0; p < pages; p++)
        for (uint64_t i = 0; i < lines; i++)
            sum += all[p].line[i].writes;
    return sum;
}

int main(int argc, char **argv)
{
    args_parse_or_exit(&table, argc, argv);
    struct page *all = memory_map("sweep", pages * PAGE);
    if (!all)
        args_refuse(&table, "pages", "memory", "%" PRIu64 ": more than there is memory for", pages);
    struct prng prng = prng_seeded(seed, 0);

    fill(all);
    hpm_mark("start");
    uint64_t start = now_ns(), wrong = round_of(all, &prng), steady = now_ns();
    hpm_mark("steady");
    for (uint64_t r = 1; r < rounds; r++)
        wrong += round_of(all, &prng);
    uint64_t end = now_ns();
    hpm_mark("end");
    wrong += writes_of(all) != (access == WRITE ? rounds * pages * lines : 0);
    printf("RESULT app=sweep order=%s access=%s pages=%" PRIu64 " rounds=%" PRIu64 " seed=%" PRIu64
           " ns=%" PRIu64 " ns_steady=%" PRIu64 " ns_per_access=%" PRIu64 " wrong=%" PRIu64
           " check=%s\n",
           orders[order], accesses[access], pages, rounds, seed, end - start, end - steady,
           (end - steady) / ((rounds - 1) * pages), wrong, wrong ? "failed" : "ok");
    return wrong ? 1 : 0;
}
