/*
 * Pages read in turn, over and over: if they are more than memory, LRU lets go of each just before
 * it is read again.
 *   loop [pages=N] [rounds=N] [window=N] [step=N]
 * With a window a round reads the pages of that alone, and it moves on by as many as `step` says.
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
    static uint64_t pages = 512, rounds = 16, window, step;
    static const struct args_entry entries[] = {
        {"pages", ARGS_NUMBER, &pages, 1, 65536, NULL, "pages read in a round"},
        {"rounds", ARGS_NUMBER, &rounds, 1, 1000, NULL, "how often all are read"},
        {"window", ARGS_NUMBER, &window, 0, 65536, NULL, "pages read in a round; 0: all"},
        {"step", ARGS_NUMBER, &step, 0, 65536, NULL, "pages to move on for the next round"},
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
    uint64_t sum = 0, wanted = 0;
    for (uint64_t r = 0; r < rounds; r++)
        for (uint64_t i = 0; i < (window ? window : pages); i++) {
            uint64_t p = (r * step + i) % pages;
            sum += ((volatile uint64_t *)at)[p * WORDS];
            wanted += p;
        }
    bool right = sum == wanted;
    printf("RESULT app=loop pages=%" PRIu64 " rounds=%" PRIu64 " check=%s\n", pages, rounds,
           right ? "ok" : "FAILED");
    return !right;
}
