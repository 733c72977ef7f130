/*
 * Many threads that live for a short while each, some at a time: none is there long enough for
 * every event's turn to come.
 *   brief [threads=N] [work=N] [at_once=N] [kinds=N]
 * Each does `work` steps of one kind: adds to an array of its own, follows a chain through 1 MB, or
 * takes branches that cannot be foreseen.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include "apps/common/args.h"
#include "apps/common/prng.h"

enum { ARRAY = 4096, CHAIN = 1 << 17, AT_ONCE_MAX = 64, KINDS = 3 };

static uint64_t threads = 1000, work = 3000, at_once = 4, kinds = KINDS;
static uint64_t chain[CHAIN];

/* What a thread is to do, and what came of it. */
struct life {
    uint64_t number, result;
};

static uint64_t add(uint64_t number)
{
    static _Thread_local volatile uint32_t array[ARRAY];
    uint64_t sum = 0;

    for (uint64_t i = 0; i < work; i++)
        array[i % ARRAY] += (uint32_t)i;
    for (uint64_t i = 0; i < work && i < ARRAY; i++)
        sum += array[i];
    return sum + number;
}

static uint64_t follow(uint64_t number)
{
    uint64_t at = number % CHAIN;

    for (uint64_t i = 0; i < work / 4 + 1; i++)
        at = *(volatile uint64_t *)&chain[at];
    return at;
}

static uint64_t choose(uint64_t number)
{
    uint64_t bits = number * 2 + 1;
    volatile uint64_t odd = 0;

    for (uint64_t i = 0; i < work / 2 + 1; i++) {
        bits = bits * 6364136223846793005 + 1442695040888963407;
        if (bits >> 63)
            odd++;
    }
    return odd;
}

static uint64_t (*const kind[KINDS])(uint64_t number) = {add, follow, choose};

static void *live(void *arg)
{
    struct life *life = arg;

    life->result = kind[prng_at(1, 0, life->number) % kinds](life->number);
    return NULL;
}

/* One after the other, so that a chain through all of it is what a cache knows nothing of. */
static void make_chain(void)
{
    for (uint64_t i = 0; i < CHAIN; i++)
        chain[i] = (5 * i + 17 * 8) % CHAIN;
}

int main(int argc, char **argv)
{
    static const struct args_entry entries[] = {
        {"threads", ARGS_NUMBER, &threads, 1, 1000000, NULL, "how many, in all"},
        {"work", ARGS_NUMBER, &work, 1, 100000000, NULL, "steps that each takes"},
        {"at_once", ARGS_NUMBER, &at_once, 1, AT_ONCE_MAX, NULL,
         "threads that live at the same time"},
        {"kinds", ARGS_NUMBER, &kinds, 1, KINDS, NULL, "kinds of work; 1: all threads do the same"},
    };
    static const struct args_table table = {"brief",
                                            "many threads, each of which lives for a short while",
                                            entries, sizeof entries / sizeof entries[0]};
    static struct life life[AT_ONCE_MAX];
    uint64_t sum = 0;

    args_parse_or_exit(&table, argc, argv);
    make_chain();
    for (uint64_t begun = 0; begun < threads;) {
        pthread_t thread[AT_ONCE_MAX];
        uint64_t n = 0;
        for (; n < at_once && begun < threads; n++, begun++) {
            life[n].number = begun;
            int err = pthread_create(&thread[n], NULL, live, &life[n]);
            if (err) {
                printf("brief: thread %" PRIu64 " cannot be started: error %d\n", begun, err);
                return 1;
            }
        }
        for (uint64_t i = 0; i < n; i++) {
            pthread_join(thread[i], NULL);
            sum += life[i].result;
        }
    }
    printf("RESULT app=brief threads=%" PRIu64 " work=%" PRIu64 " sum=%" PRIu64 " check=ok\n",
           threads, work, sum);
    return 0;
}
