/* A process that minds its own business and looks whether all of it is as it should be. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define WORDS (1u << 18)

static uint64_t expected(uint64_t round, uint64_t i)
{
    return (round + 1) * 0x9e3779b97f4a7c15ull ^ i * 0xbf58476d1ce4e5b9ull;
}

static unsigned wrong;
static volatile sig_atomic_t ends; /* SIGTERM has come */

static void note_end(int number)
{
    (void)number;
    ends = 1;
}

static void expect(bool right, const char *what, uint64_t round)
{
    if (!right && wrong++ < 10)
        printf("not ok - neighbour: %s, in round %llu\n", what, (unsigned long long)round);
}

static void use_pipe(const int pair[2], uint64_t round)
{
    uint64_t sent = expected(round, 7), got = 0;

    expect(write(pair[1], &sent, sizeof sent) == sizeof sent, "writing to its pipe", round);
    expect(read(pair[0], &got, sizeof got) == sizeof got && got == sent, "reading its pipe", round);
}

static void use_file(int fd, uint64_t round)
{
    uint64_t got = 0, sent = expected(round, 9);

    expect(pwrite(fd, &sent, sizeof sent, 100) == sizeof sent, "writing its file", round);
    expect(pread(fd, &got, sizeof got, 100) == sizeof got && got == sent, "reading its file",
           round);
}

int neighbour(const struct options *o)
{
    uint64_t *words = malloc(WORDS * sizeof *words);
    double sum = 0.5;
    /* Without a name: others rename what has one, /tmp as well. */
    int pair[2], fd = memfd_create("neighbour", 0);
    int no_file = fd < 0 ? errno : 0, no_pipe = pipe(pair) ? errno : 0;

    (void)o;
    if (!words || no_pipe || no_file) {
        printf("not ok - neighbour: begins: memory=%d pipe=%d file=%d: errors\n",
               words ? 0 : ENOMEM, no_pipe, no_file);
        return 3;
    }
    signal(SIGTERM, note_end);
    for (uint64_t round = 0; !ends; round++) {
        for (uint64_t i = 0; i < WORDS; i++)
            words[i] = expected(round, i);
        for (uint64_t i = 0; i < 1000; i++)
            sum = sum * 1.0000001 + 0.25;
        use_pipe(pair, round);
        use_file(fd, round);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        uint64_t bad = 0;
        for (uint64_t i = 0; i < WORDS; i++)
            bad += words[i] != expected(round, i);
        expect(!bad, "its memory has changed", round);
        expect(sum > 0, "its sums have changed", round);
    }
    return wrong ? 1 : 0;
}
