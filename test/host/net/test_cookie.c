/* cookie.c: SYN cookies. */
#include "test/host/double/expect_panic.h"
#include "kernel/net/lwip/cookie.h"
#include "test/host/double/random.h"

#define UNIT_MS 65536u

static const struct siphash_key key = {{1, 2}};
static const struct demux_ends ends = {0x0100000a, 0x0200000a, 5000, 80};

static void a_cookie_is_good_for_one_to_two_units(UNUSED void **state)
{
    for (uint32_t made = 0xffff0000; made != 0x20000; made += 0x8000) {
        uint32_t cookie = cookie_make(&key, &ends, 77, 1460, made);
        assert_int_equal(cookie_check(&key, &ends, 77, cookie, made), 1460);
        assert_int_equal(cookie_check(&key, &ends, 77, cookie, made + UNIT_MS), 1460);
        assert_int_equal(cookie_check(&key, &ends, 77, cookie, made + 2 * UNIT_MS), 0);
        assert_int_equal(cookie_check(&key, &ends, 77, cookie, made + 32 * UNIT_MS), 0);
        assert_int_equal(cookie_check(&key, &ends, 77, cookie, made - UNIT_MS), 0);
    }
}

static void segments_are_at_most_as_long_as_the_syn_said(UNUSED void **state)
{
    for (uint32_t segment = 64; segment < 20000; segment++) {
        uint32_t cookie = cookie_make(&key, &ends, 77, segment, 5);
        unsigned got = cookie_check(&key, &ends, 77, cookie, 5);
        assert_true(got && got <= segment);
        assert_true(got * 9 >= MIN(segment, 8192u)); /* 64 for 535 is the worst */
    }
}

static void cookies_of_others_are_refused(UNUSED void **state)
{
    const struct siphash_key another = {{1, 3}};
    uint32_t cookie = cookie_make(&key, &ends, 77, 1460, 5);
    struct demux_ends e = ends;

    assert_int_equal(cookie_check(&another, &ends, 77, cookie, 5), 0);
    assert_int_equal(cookie_check(&key, &ends, 78, cookie, 5), 0);
    e.remote_ip++;
    assert_int_equal(cookie_check(&key, &e, 77, cookie, 5), 0);
    e = ends;
    e.own_ip++;
    assert_int_equal(cookie_check(&key, &e, 77, cookie, 5), 0);
    e = ends;
    e.remote_port++;
    assert_int_equal(cookie_check(&key, &e, 77, cookie, 5), 0);
    e = ends;
    e.own_port++;
    assert_int_equal(cookie_check(&key, &e, 77, cookie, 5), 0);
    for (unsigned bit = 0; bit < 32; bit++)
        assert_int_equal(cookie_check(&key, &ends, 77, cookie ^ 1u << bit, 5), 0);
}

/* Of a million guesses, two or fewer: the chance is one of 2^24 for a right time. */
static void guesses_are_refused(UNUSED void **state)
{
    uint64_t random = 99;
    unsigned good = 0;

    for (unsigned i = 0; i < 1000000; i++)
        good += cookie_check(&key, &ends, 77, (uint32_t)(test_random(&random) >> 32), 5) != 0;
    assert_true(good <= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cookie_is_good_for_one_to_two_units),
        cmocka_unit_test(segments_are_at_most_as_long_as_the_syn_said),
        cmocka_unit_test(cookies_of_others_are_refused),
        cmocka_unit_test(guesses_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
