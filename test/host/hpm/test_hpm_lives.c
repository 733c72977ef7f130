/* Counts of a process with threads that live for a fraction of a round, and of a family of
 * processes, of events that take turns: the sum is scaled, not its parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_lives.h"

enum { RUNS = 9 }; /* of each cell: three of each program */

static struct tally {
    unsigned cases, intervals, held, unseen;
    double off, off_at_most; /* relative to the truth: the mean and the largest error */
} all;

static double absolute(double x)
{
    return x < 0 ? -x : x;
}

static void judge(const struct lives_count *c)
{
    const struct estimate *e = &c->estimate;
    double off = ((double)e->count - (double)c->truth) / (double)c->truth;

    all.unseen += e->sure == ESTIMATE_UNSEEN;
    if (e->sure == ESTIMATE_EXACT || e->sure == ESTIMATE_UNSEEN)
        return;
    all.cases++;
    all.off += off;
    all.off_at_most = absolute(off) > all.off_at_most ? absolute(off) : all.off_at_most;
    if (e->sure != ESTIMATE_INTERVAL)
        return;
    all.intervals++;
    all.held += e->low <= c->truth && c->truth <= e->high;
}

static void run_cell(unsigned processes, unsigned threads, uint64_t cycles, unsigned events,
                     uint64_t slice)
{
    static struct lives_count count[LIVES_EVENTS_MAX];

    all = (struct tally){0};
    for (unsigned i = 0; i < RUNS; i++) {
        const struct lives l = {.processes = processes,
                                .threads = threads,
                                .cycles = cycles,
                                .cpus = i % 2 ? 1 : DOUBLE_CPUS,
                                .events = events,
                                .slice = slice,
                                .program = i % LIVES_PROGRAMS,
                                .seed = 100 + i};
        lives_run(&l, count);
        for (unsigned e = 0; e < events; e++)
            judge(&count[e]);
    }
}

/* Lives of a fortieth of a slice to several slices, with two groups and with nine. */
static void what_short_threads_did_is_counted_in_full(void **state)
{
    static const struct {
        unsigned threads, cycles, events;
    } cells[] = {{1000, 7500, 2}, {1000, 7500, 17}, {500, 27000, 9}, {100, 150000, 13}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cells); i++) {
        run_cell(1, cells[i].threads, cells[i].cycles, cells[i].events, 50000);
        assert_int_equal(all.unseen, 0);
        assert_int_equal(all.cases, RUNS * cells[i].events);
        assert_true(absolute(all.off / all.cases) < 0.03);
        assert_true(all.off_at_most < 0.5);
    }
}

static void their_intervals_hold(void **state)
{
    (void)state;
    run_cell(1, 1000, 20000, 9, 50000);
    assert_int_equal(all.intervals, all.cases);
    assert_true(all.held * 100 >= all.intervals * 93);
}

/* Processes with hardly more than a unit each, some of them forgotten. Successive units are pairs
 * whichever process they belong to; what a process leaves open is not. */
static void families_have_intervals(void **state)
{
    (void)state;
    run_cell(60, 60, 3000000, 9, 100000);
    assert_int_equal(all.intervals, all.cases);
    assert_true(all.held * 100 >= all.intervals * 93);
    run_cell(100, 1000, 27000, 9, 50000);
    assert_int_equal(all.intervals, all.cases);
    assert_true(all.held * 100 >= all.intervals * 93);
}

/* 3,000,000 cycles are at most a slice of each of three groups: there is no interval, and an event
 * without a turn is unseen, not 0. */
static void what_is_too_short_for_its_turns_says_so(void **state)
{
    (void)state;
    run_cell(1, 100, 7500, 17, 1000000);
    assert_int_equal(all.intervals, 0);
    assert_true(all.unseen > 0 && all.cases > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_short_threads_did_is_counted_in_full),
        cmocka_unit_test(their_intervals_hold),
        cmocka_unit_test(families_have_intervals),
        cmocka_unit_test(what_is_too_short_for_its_turns_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
