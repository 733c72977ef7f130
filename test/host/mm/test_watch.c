/* What is watched, and what trackers do to a space then: several threads that report at the same
 * time, and large spaces. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/in_child.h"
#include "test/host/double/mm_double.h"
#include "test/host/double/path_double.h"
#include "mm/mm.h"
#include "mm/space.h"
#include "mm/track/internal.h"

enum { SOFT = 2, THREADS = 6, TIMES = 3, ROUNDS = 100 };

static struct space *space;
static uint64_t seed;

static void begin(uint64_t from, uint64_t active_pages)
{
    path_double_boot();
    mm_argument("mem.tracker", SOFT);
    mm_argument("mem.track", 0);
    mm_argument("mem.active_pages", active_pages);
    mm_double_boot(from);
    seed = from;
    track_init(false);
    INSIST(!space_create(NULL, NULL, &space));
    space_set_pid(space, 1);
}

static void end(void *arg)
{
    (void)arg;
    space_destroy(space);
}

/* ---- Told by several at once ----------------------------------------------------------------- */

static bool told;

static void tell_some_times(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < TIMES; i++) {
        told = test_random(&seed) % 2;
        track_short(space, told);
    }
    thread_leave_space();
}

static void play_telling(uint64_t from)
{
    begin(from, 16);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < THREADS; i++)
            fiber_start(tell_some_times, NULL, space_number(space));
        fibers_run();
        INSIST(space->watched == told);
    }
    fiber_start(end, NULL, 0);
    fibers_run();
    INSIST(!mm_frames_used);
}

/* ---- Large ----------------------------------------------------------------------------------- */

enum { LARGE_PAGES = 1 << 20 };

static bool watched;
static unsigned turns;

static void watch_large(void *arg)
{
    vaddr_t at;

    (void)arg;
    thread_leave_space();
    INSIST(
        !space_map(space, 0, LARGE_PAGES * PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "test", &at));
    /* as if its first and its last page were touched */
    space->regions.root->touched_hi = space->regions.root->end;
    track_short(space, true);
    watched = true;
    INSIST(space->active);
    end(NULL);
}

static void count_turns(void *arg)
{
    (void)arg;
    for (; !watched; turns++)
        sched_yield();
    thread_leave_space();
}

static void play_large(uint64_t active_pages)
{
    begin(1, active_pages);
    fiber_start(watch_large, NULL, 0);
    fiber_start(count_turns, NULL, 0);
    fibers_run();
    INSIST(turns > LARGE_PAGES / 2048 / 10);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void the_last_report_of_shortage_holds(void **state)
{
    (void)state;
    for (uint64_t from = 1; from <= 4; from++)
        assert_int_equal(in_child(play_telling, from, 60), 0);
}

static void others_run_while_a_large_space_begins_to_be_watched(void **state)
{
    (void)state;
    assert_int_equal(in_child(play_large, 16, 60), 0);
}

static void an_active_set_is_as_large_as_the_argument_allows(void **state)
{
    (void)state;
    assert_int_equal(in_child(play_large, 1 << 20, 60), 0);
}

static void no_tracker_leaves_a_call_out(void **state)
{
    (void)state;
    const struct tracker_ops *const trackers[] = {&track_path, &track_soft, &track_scan,
                                                  &track_sampled};

    for (unsigned i = 0; i < ARRAY_SIZE(trackers); i++) {
        const struct tracker_ops *ops = trackers[i];
        assert_true(ops->name && ops->lacks);
        assert_true(ops->probe && ops->start && ops->stop && ops->watch && ops->hot && ops->forget);
    }
}

int main(void)
{
    in_child_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_tracker_leaves_a_call_out),
        cmocka_unit_test(the_last_report_of_shortage_holds),
        cmocka_unit_test(others_run_while_a_large_space_begins_to_be_watched),
        cmocka_unit_test(an_active_set_is_as_large_as_the_argument_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
