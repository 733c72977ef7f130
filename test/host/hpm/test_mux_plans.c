/* Counts that go on while plans change: events are born, units are cut, and another event is
 * counted as an alias. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/mux_work.h"

static struct mux_plan first_plan(void)
{
    struct mux_plan p = plan_of(1, NULL);

    p.generation = 1;
    for (unsigned e = 0; e < EVENTS; e++)
        p.born[e] = 1;
    return p;
}

/* Returns the next plan. Events that do not stay are born in it. */
static struct mux_plan plan_after(const struct mux_plan *before, uint64_t stay)
{
    struct mux_plan p = plan_of(1, NULL);

    p.generation = before->generation + 1;
    for (unsigned e = 0; e < EVENTS; e++)
        p.born[e] = stay >> e & 1 ? before->born[e] : p.generation;
    return p;
}

static void add_pass(struct mux_counts *c, const struct mux_plan *p, uint64_t n)
{
    for (unsigned g = 0; g < GROUPS; g++)
        add_slice(c, p, g, p->rounds.slice, n);
    assert_true(mux_close(c, p));
}

static void an_event_that_is_born_starts_from_nothing_and_the_others_go_on(void **state)
{
    struct mux_plan first = first_plan(), second = plan_after(&first, 1 | 1 << PINNED);
    struct mux_counts c = {0};
    struct mux_sum sum;

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        add_pass(&c, &first, 100);
    mux_read(&c, &second, 1, &sum); /* not born yet */
    assert_int_equal(sum.length | sum.count | sum.seen, 0);
    mux_read(&c, &second, 0, &sum);
    assert_int_equal(sum.count, 4000);
    for (unsigned i = 0; i < 5; i++)
        add_pass(&c, &second, 10);
    mux_read(&c, &second, 0, &sum);
    assert_int_equal(sum.count, 4000 + 200);
    assert_int_equal(sum.length, 15 * ROUND);
    assert_int_equal(sum.units, 15);
    mux_read(&c, &second, 1, &sum);
    assert_int_equal(sum.count, 200);
    assert_int_equal(sum.length, 5 * ROUND);
    assert_int_equal(sum.units, 5);
    mux_read(&c, &second, PINNED, &sum);
    assert_int_equal(sum.count, 4000 + 200);
    assert_sound(&c, &second);
}

/* In half of a pass events 0 and 4 and the pinned one were seen; the others go by the mean so
 * far. */
static void a_unit_that_a_new_plan_cuts_is_counted_by_what_is_known(void **state)
{
    struct mux_plan first = first_plan(), second = plan_after(&first, 0x3f);
    struct mux_counts c = {0};
    struct mux_sum sum;

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        add_pass(&c, &first, 100);
    add_slice(&c, &first, 0, ROUND / 4, 300);
    add_slice(&c, &second, 1, ROUND / 4, 20);
    assert_sound(&c, &second);
    mux_read(&c, &second, 0, &sum);
    assert_int_equal(sum.count, 4000 + 300 + 100); /* and the new unit by the latest rate */
    assert_int_equal(sum.closed, 10 * ROUND + ROUND / 4);
    mux_read(&c, &second, 2, &sum);
    assert_int_equal(sum.counted, 1000);
    assert_int_equal(sum.count, 4000 + 100 + 100);
    mux_read(&c, &second, PINNED, &sum);
    assert_int_equal(sum.count, 4000 + 300 + 20);
    assert_int_equal(sum.seen, sum.length);
}

/* A thread without a closed unit keeps what was cut in its pool, however many plans follow each
 * other; the first unit is the rest of the sum. */
static void what_is_cut_before_the_first_unit_stays_in_the_pool(void **state)
{
    struct mux_plan plan[41] = {first_plan()};
    struct mux_counts c = {0};
    struct mux_sum sum;

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        add_slice(&c, &plan[i], i % GROUPS, ROUND / 10, 30);
        plan[i + 1] = plan_after(&plan[i], 0x3f);
    }
    mux_part(&c, &plan[40], 1, &sum);
    assert_int_equal(sum.count, 0);
    assert_int_equal(sum.pool.length, 4 * ROUND);
    assert_int_equal(sum.pool.seen, ROUND);
    mux_read(&c, &plan[40], 1, &sum);
    assert_int_equal(sum.count, 1200);
    mux_read(&c, &plan[40], PINNED, &sum);
    assert_int_equal(sum.count, 1200);
    add_pass(&c, &plan[40], 500);
    assert_sound(&c, &plan[40]);
    mux_read(&c, &plan[40], 1, &sum);
    assert_int_equal(sum.count, 1200 + 2000);
    assert_int_equal(sum.units, 1);
    mux_read(&c, &plan[40], PINNED, &sum);
    assert_int_equal(sum.count, 1200 + 2000);
    assert_int_equal(sum.seen, sum.length);
}

static void counts_of_a_later_plan_are_never_added_to_by_an_earlier_one(void **state)
{
    struct mux_plan first = first_plan(), second = plan_after(&first, 0);
    struct mux_counts c = {0};
    uint64_t count[GROUP_COUNTERS_ALL] = {0};

    (void)state;
    add_pass(&c, &second, 1);
    EXPECT_PANIC(mux_add(&c, &first, 0, 1, count));
}

static void an_alias_counts_what_its_event_counts(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_sum event, alias;
    struct mux_counts c = {0};

    (void)state;
    mux_plan_alias(&p, 4, 40);
    mux_plan_alias(&p, PINNED, 63);
    for (unsigned i = 0; i < 10; i++)
        add_pass(&c, &p, 10 + i);
    add_slice(&c, &p, 2, 1000, 7);
    assert_sound(&c, &p);
    mux_read(&c, &p, 4, &event);
    mux_read(&c, &p, 40, &alias);
    assert_memory_equal(&event, &alias, sizeof event);
    mux_read(&c, &p, PINNED, &event);
    mux_read(&c, &p, 63, &alias);
    assert_memory_equal(&event, &alias, sizeof event);
    EXPECT_PANIC(mux_plan_alias(&p, 4, 40));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_event_that_is_born_starts_from_nothing_and_the_others_go_on,
                               mux_set_up),
        cmocka_unit_test_setup(a_unit_that_a_new_plan_cuts_is_counted_by_what_is_known, mux_set_up),
        cmocka_unit_test_setup(what_is_cut_before_the_first_unit_stays_in_the_pool, mux_set_up),
        cmocka_unit_test_setup(counts_of_a_later_plan_are_never_added_to_by_an_earlier_one,
                               mux_set_up),
        cmocka_unit_test_setup(an_alias_counts_what_its_event_counts, mux_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
