/*
 * Pages read in turn, over and over: if they are more than memory, LRU lets go of each just before it is read again.
 *   loop [pages=N] [rounds=N]
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "apps/common/args.h"

enum { PAGE = 4096, WORDS = PAGE / sizeof(uint64_t) };

int main(int argc, char **argv)
{
    static uint64_t pages = 512, rounds = 16;
    static const struct args_entry entries[] = {
        {"pages", ARGS_NUMBER, &pages, 1, 65536, NULL, "pages read in a round"},
        {"rounds", ARGS_NUMBER, &rounds, 1, 1000, NULL, "how often all are read"},
    };
    static const struct args_table table = {"loop", "reads pages in turn, over and over", entries,
                                            sizeof entries / sizeof entries[0]};

    args_parse_or_exit(&table, argc, argv);
    uint64_t *at = aligned_alloc(PAGE, pages * PAGE);
    if (!at) {
        printf("loop: no memory for %" PRIu64 " pages\n", pages);
        return 1;
    }
    for (uint64_t p = 0; p < pages; p++)
        at[p * WORDS] = p;
    uint64_t sum = 0;
    for (uint64_t r = 0; r < rounds; r++)
        for (uint64_t p = 0; p < pages; p++)
            sum += ((volatile uint64_t *)at)[p * WORDS];
    bool right = sum == rounds * (pages * (pages - 1) / 2);
    printf("RESULT app=loop pages=%" PRIu64 " rounds=%" PRIu64 " check=%s\n", pages, rounds,
           right ? "ok" : "FAILED");
    return !right;
}
