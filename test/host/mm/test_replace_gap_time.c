/* Replacement by gaps over more uses than its 32-bit times count. The source is part of this test,
 * so that time can be moved on. */
#include "test/host/double/expect_panic.h"
#include "mm/policy/replace/gap.c"

enum { NODES = 64, FRAMES = 32, RESIDENT = 24, BUSY = RESIDENT - 1 };

static struct gap *start(void)
{
    struct replace_config config = {.nodes = NODES, .frames = FRAMES};
    struct gap *s = calloc(1, gap_bytes(NODES));

    assert_int_equal(gap_init(s, &config), 0);
    for (uint32_t n = 0; n < RESIDENT; n++)
        gap_enter(s, n, 0);
    return s;
}

/* Moves time on as if the busy page had been used `uses` times; nothing waits in the wheel. */
static void pass(struct gap *s, uint32_t uses)
{
    assert_int_equal(s->waiting, 0);
    s->now += uses;
    s->wheel += uses;
    s->ages += (uint64_t)uses * s->base.list[ONCE].size;
    for (uint32_t i = 0; i < NODES; i++)
        gap_touch(s, BUSY);
    assert_null(gap_check(s));
}

static void pages_may_wait_for_longer_than_time_is(void **state)
{
    struct gap *s = start();

    (void)state;
    for (unsigned i = 0; i < 20; i++) { /* 10 * 2^30 uses */
        pass(s, 1u << 29);
        assert_int_equal(first_gap(s), s->firsts ? (uint32_t)GAP_MAX : 0);
    }
    for (uint32_t n = 0; n < BUSY; n++)
        gap_leave(s, n);
    assert_int_equal(s->ages, 0);
    assert_null(gap_check(s));
    free(s);
}

/* Their last use, 2^32 uses ago, is no use just now. */
static void a_page_not_used_for_longer_than_time_is_is_not_a_recent_one(void **state)
{
    struct gap *s = start();
    uint32_t page = 3;

    (void)state;
    gap_touch(s, page); /* it has a gap, and is used no more */
    gap_touch(s, BUSY - 1);
    gap_touch(s, BUSY);
    gap_leave(s, page);
    for (unsigned i = 0; i < 8; i++) { /* 2^32 uses in all, but for 3 gaps */
        gap_forget(s, BUSY - 1);
        pass(s, (1u << 29) - NODES);
    }
    gap_enter(s, page, 0);
    assert_int_equal(page_of(s, page)->gap, GAP_MAX); /* the longest there is */
    free(s);
}

/* Times wrap as soon as there are 4,096. */
static void time_wraps_early(void **state)
{
    struct gap *s = start();

    (void)state;
    assert_true(s->now > UINT32_MAX - 4096);
    for (uint32_t i = 0; i < 8192; i++) {
        gap_touch(s, i % RESIDENT);
        assert_null(gap_check(s));
    }
    assert_true(s->now < 8192);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_may_wait_for_longer_than_time_is),
        cmocka_unit_test(a_page_not_used_for_longer_than_time_is_is_not_a_recent_one),
        cmocka_unit_test(time_wraps_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
