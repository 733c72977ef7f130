/* When the chooser changes to another expert, by the misses that this expert would have saved: its
 * lead. */
#include "mm/policy/replace/weigh.h"
#include "test/host/double/expect_panic.h"

/* Counts misses of one of two experts. Returns the expert decided for. */
static uint32_t after_misses(struct weigh *w, uint32_t current, uint32_t missing, unsigned misses,
                             uint32_t far, uint32_t frames)
{
    const uint32_t to_fetch[] = {current == 0 ? 0 : far, current == 1 ? 0 : far};

    for (unsigned i = 0; i < misses; i++)
        weigh_count(w, 1u << missing);
    return weigh_decide(w, current, to_fetch, frames);
}

static void the_same_expert_needs_twice_the_lead_next_time(void **state)
{
    enum { N = 1000, FAR = 500, LEAST = FAR + N / 16 };
    struct weigh w;

    (void)state;
    weigh_init(&w, 2);
    assert_int_equal(after_misses(&w, 0, 0, LEAST, FAR, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, 1, FAR, N), 1);
    assert_int_equal(after_misses(&w, 1, 1, 2 * LEAST + 1, FAR, N), 1);
    assert_int_equal(after_misses(&w, 1, 1, 1, FAR, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, 3 * LEAST + 1, FAR, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, 1, FAR, N), 1);
}

static void a_lead_like_one_that_was_lost_is_not_followed(void **state)
{
    enum { N = 1000, FAR = 2000, SWING = 400 };
    struct weigh w;

    (void)state;
    weigh_init(&w, 2);
    assert_int_equal(after_misses(&w, 0, 0, SWING, FAR, N), 0);
    assert_int_equal(after_misses(&w, 0, 1, SWING, FAR, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, SWING, 0, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, 1, 0, N), 1);
}

/* The phase of the program that made the lead is over. */
static void a_lead_that_grows_no_more_is_not_followed(void **state)
{
    enum { N = 1000, FAR = 500, LEAST = FAR + N / 16 };
    struct weigh w;

    (void)state;
    weigh_init(&w, 2);
    assert_int_equal(after_misses(&w, 0, 0, LEAST, FAR, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, 0, 0, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, 1, 0, N), 1);
}

/* Otherwise a large lead that was lost long ago would prevent any change. */
static void a_lead_of_all_frames_is_always_followed(void **state)
{
    enum { N = 1000 };
    struct weigh w;

    (void)state;
    weigh_init(&w, 2);
    assert_int_equal(after_misses(&w, 0, 0, 10 * N, 100 * N, N), 0);
    assert_int_equal(after_misses(&w, 0, 1, 10 * N, 100 * N, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, N, 0, N), 0);
    assert_int_equal(after_misses(&w, 0, 0, 1, 0, N), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_expert_needs_twice_the_lead_next_time),
        cmocka_unit_test(a_lead_like_one_that_was_lost_is_not_followed),
        cmocka_unit_test(a_lead_that_grows_no_more_is_not_followed),
        cmocka_unit_test(a_lead_of_all_frames_is_always_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
