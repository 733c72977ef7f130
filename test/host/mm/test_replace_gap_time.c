/* Replacement by gaps after more uses than its 32-bit time counts. The source is part of this test,
 * so that it can move time on. */
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

/* Moves time on as if the busy page had been used `uses` times. No page may wait in the wheel. */
static void pass_time(struct gap *s, uint32_t uses)
{
    assert_int_equal(s->waiting, 0);
    s->now += uses;
    s->wheel += uses;
    s->ages += (uint64_t)uses * s->base.list[ONCE].size;
    for (uint32_t i = 0; i < NODES; i++)
        gap_touch(s, BUSY);
    assert_null(gap_check(s));
}

static void pages_may_wait_for_more_than_2_32_uses(void **state)
{
    struct gap *s = start();

    (void)state;
    for (unsigned i = 0; i < 20; i++) { /* 10 * 2^30 uses */
        pass_time(s, 1u << 29);
        assert_int_equal(first_gap(s), s->firsts ? (uint32_t)GAP_MAX : 0);
    }
    for (uint32_t n = 0; n < BUSY; n++)
        gap_leave(s, n);
    assert_int_equal(s->ages, 0);
    assert_null(gap_check(s));
    free(s);
}

/* A last use 2^32 uses ago must not look like a use just now. */
static void a_page_unused_for_2_32_uses_is_not_recent(void **state)
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
        pass_time(s, (1u << 29) - NODES);
    }
    gap_enter(s, page, 0);
    assert_int_equal(page_of(s, page)->gap, GAP_MAX); /* the longest there is */
    free(s);
}

/* Times start so that they wrap after 4,096 uses. */
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
        cmocka_unit_test(pages_may_wait_for_more_than_2_32_uses),
        cmocka_unit_test(a_page_unused_for_2_32_uses_is_not_recent),
        cmocka_unit_test(time_wraps_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
