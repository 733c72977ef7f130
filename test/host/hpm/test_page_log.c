/* Page logs: all entries come out, each thread's accesses in order wherever it ran, and nothing is
 * overwritten. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "hpm/path/ring.h"

#define CPUS    4
#define THREADS 7
#define SIZE    256

NORETURN void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static struct page_ring *rings[CPUS];
static struct page_log logs[CPUS], *all[CPUS + 1];

static int make(void **state)
{
    (void)state;
    for (unsigned c = 0; c < CPUS; c++) {
        rings[c] = calloc(1, sizeof(struct page_ring) + SIZE * sizeof(uint64_t));
        page_log_init(&logs[c], (uint16_t)c, rings[c], SIZE);
        all[c] = &logs[c];
    }
    return 0;
}

static void what_hardware_has_lost_begins_at_none(void **state)
{
    struct page_ring ring;
    struct page_log l;

    (void)state;
    memset(&ring, 0xa5, sizeof(ring)); /* memory has any contents */
    page_log_init(&l, 0, &ring, SIZE);
    assert_int_equal(ring.lost, 0);
}

static int unmake(void **state)
{
    (void)state;
    for (unsigned c = 0; c < CPUS; c++)
        free(rings[c]);
    return 0;
}

static void append(struct page_log *l, uint64_t first, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        page_log_append(l, first + i);
}

static void a_batch_is_its_threads_entries_in_order(void **state)
{
    (void)state;
    struct page_run run;
    append(&logs[0], 100, 3);
    assert_null(page_log_earliest(all, CPUS, UINT64_MAX)); /* the batch is open */
    page_log_end_batch(&logs[0], 7, 3, 1000);
    page_log_end_batch(&logs[0], 8, 4, 1001); /* an empty batch is not kept */
    page_log_check(&logs[0]);
    assert_ptr_equal(page_log_earliest(all, CPUS, UINT64_MAX), &logs[0]);
    page_log_next(&logs[0], &run);
    assert_int_equal(run.count[0], 3);
    assert_int_equal(run.count[1], 0);
    assert_int_equal(run.entry[0][2], 102);
    assert_int_equal(run.tid, 7);
    assert_int_equal(run.space, 3);
    assert_int_equal(run.time, 1000);
    page_log_taken(&logs[0]);
    assert_null(page_log_earliest(all, CPUS, UINT64_MAX));
}

static void batches_that_end_later_wait(void **state)
{
    (void)state;
    append(&logs[0], 100, 3);
    page_log_end_batch(&logs[0], 7, 3, 1000);
    append(&logs[1], 200, 3);
    page_log_end_batch(&logs[1], 8, 3, 1001);
    assert_null(page_log_earliest(all, CPUS, 999));
    assert_ptr_equal(page_log_earliest(all, CPUS, 1000), &logs[0]);
    page_log_taken(&logs[0]);
    assert_null(page_log_earliest(all, CPUS, 1000));
    assert_ptr_equal(page_log_earliest(all, CPUS, 1001), &logs[1]);
}

static void a_batch_across_the_rings_end_comes_in_two_parts(void **state)
{
    (void)state;
    struct page_run run;
    append(&logs[0], 0, SIZE - 2);
    page_log_end_batch(&logs[0], 1, 1, 1);
    page_log_next(&logs[0], &run);
    page_log_taken(&logs[0]);
    append(&logs[0], 500, 5);
    page_log_end_batch(&logs[0], 1, 1, 2);
    page_log_next(&logs[0], &run);
    assert_int_equal(run.count[0], 2);
    assert_int_equal(run.count[1], 3);
    assert_int_equal(run.entry[0][1], 501);
    assert_int_equal(run.entry[1][0], 502);
}

static void there_is_room_until_it_is_full_of_entries_or_batches(void **state)
{
    (void)state;
    assert_true(page_log_has_room(&logs[0], SIZE));
    assert_false(page_log_has_room(&logs[0], SIZE + 1));
    append(&logs[0], 0, 1);
    assert_false(page_log_has_room(&logs[0], SIZE));
    page_log_end_batch(&logs[0], 1, 1, 1);
    page_log_taken(&logs[0]);
    assert_true(page_log_has_room(&logs[0], SIZE));

    struct page_ring *large =
        calloc(1, sizeof(struct page_ring) + 2 * PAGE_BATCHES * sizeof(uint64_t));
    struct page_log l;
    page_log_init(&l, 0, large, 2 * PAGE_BATCHES);
    for (unsigned i = 0; i < PAGE_BATCHES; i++) {
        assert_true(page_log_has_room(&l, 1));
        append(&l, i, 1);
        page_log_end_batch(&l, 1, 1, i);
    }
    page_log_check(&l);
    assert_false(page_log_has_room(&l, 1));
    page_log_taken(&l);
    assert_true(page_log_has_room(&l, 1));
    free(large);
}

/* Hardware appends entries whether or not there is room for a batch. */
static void a_batch_for_which_there_is_no_room_is_lost(void **state)
{
    struct page_ring *large =
        calloc(1, sizeof(struct page_ring) + 2 * PAGE_BATCHES * sizeof(uint64_t));
    struct page_log l;
    struct page_run run;

    (void)state;
    page_log_init(&l, 0, large, 2 * PAGE_BATCHES);
    for (unsigned i = 0; i < PAGE_BATCHES + 5; i++) {
        append(&l, 2 * i, 2 - i % 2);
        page_log_end_batch(&l, 1, 1, i);
        page_log_check(&l);
    }
    assert_int_equal(l.lost, 8);
    for (unsigned i = 0; i < PAGE_BATCHES; i++) {
        page_log_next(&l, &run);
        assert_int_equal(run.entry[0][0], 2 * i);
        page_log_taken(&l);
    }
    append(&l, 7, 1);
    page_log_end_batch(&l, 1, 1, 9999);
    page_log_next(&l, &run);
    assert_int_equal(run.entry[0][0], 7);
    free(large);
}

/* Threads migrate and log the numbers from 0 on; the consumer finds each thread's in order. */
static void threads_that_move_stay_in_order(void **state)
{
    (void)state;
    uint64_t logged[THREADS] = {0}, taken[THREADS] = {0}, time = 0, seed = 1;
    int running[CPUS] = {-1, -1, -1, -1};
    struct page_log *l;
    struct page_run run;

    for (unsigned step = 0; step < 200000; step++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        unsigned c = seed >> 33 & 3, action = seed >> 40 & 15;
        int t = running[c];
        if (action < 2) { /* switches to a thread that runs nowhere */
            if (t >= 0)
                page_log_end_batch(&logs[c], (uint32_t)t, 1, ++time);
            running[c] = -1;
            int next = (int)((seed >> 45) % THREADS);
            for (unsigned i = 0; i < CPUS; i++)
                next = running[i] == next ? -1 : next;
            running[c] = next;
        } else if (action == 2 && t >= 0) { /* the unit's log is full */
            page_log_end_batch(&logs[c], (uint32_t)t, 1, ++time);
        } else if (action > 3 && t >= 0 && page_log_has_room(&logs[c], 8)) {
            append(&logs[c], logged[t], 8);
            logged[t] += 8;
        } else if (action == 3) {
            for (unsigned n = seed >> 50 & 7; n && (l = page_log_earliest(all, CPUS, UINT64_MAX));
                 n--) {
                page_log_next(l, &run);
                for (unsigned part = 0; part < 2; part++)
                    for (size_t i = 0; i < run.count[part]; i++)
                        assert_int_equal(run.entry[part][i], taken[run.tid]++);
                page_log_taken(l);
            }
        }
        page_log_check(&logs[c]);
    }
    for (unsigned t = 0; t < THREADS; t++)
        assert_true(taken[t] > 1000 && taken[t] <= logged[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_batch_is_its_threads_entries_in_order, make, unmake),
        cmocka_unit_test_setup_teardown(batches_that_end_later_wait, make, unmake),
        cmocka_unit_test_setup_teardown(a_batch_across_the_rings_end_comes_in_two_parts, make,
                                        unmake),
        cmocka_unit_test_setup_teardown(there_is_room_until_it_is_full_of_entries_or_batches, make,
                                        unmake),
        cmocka_unit_test(what_hardware_has_lost_begins_at_none),
        cmocka_unit_test(a_batch_for_which_there_is_no_room_is_lost),
        cmocka_unit_test_setup_teardown(threads_that_move_stay_in_order, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
