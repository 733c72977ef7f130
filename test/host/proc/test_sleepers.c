/* Sleepers by name, compared with a plain list. Names chosen to collide make no path longer than
 * their bits. */
#include "test/host/double/expect_panic.h"
#include "kernel/proc/sleepers.h"

#define SLEEPERS 4096

static struct sleepers all;
static struct sleeper pool[SLEEPERS];
static uint64_t arrival[SLEEPERS], arrivals; /* the plain list */

static int no_sleepers(void **state)
{
    (void)state;
    all = (struct sleepers){0};
    memset(pool, 0, sizeof(pool));
    arrivals = 0;
    return 0;
}

static bool named(const struct sleeper *s, struct word_name name)
{
    return s->name.hash == name.hash && s->name.space == name.space;
}

static struct sleeper *first_of(struct word_name name)
{
    struct sleeper *first = NULL;

    for (unsigned i = 0; i < SLEEPERS; i++) {
        if (pool[i].asleep && named(&pool[i], name) &&
            (!first || arrival[i] < arrival[first - pool]))
            first = &pool[i];
    }
    return first;
}

static void add(unsigned i, struct word_name name)
{
    pool[i].name = name;
    arrival[i] = arrivals++;
    sleepers_add(&all, &pool[i]);
}

static void no_thread_sleeps_at_first(void **state)
{
    (void)state;
    assert_null(sleepers_first(&all, word_name(&all, 0x1000)));
    assert_int_equal(sleepers_check_for_test(&all), 0);
}

static void sleepers_of_a_word_are_found_in_order_of_arrival(void **state)
{
    struct word_name name = word_name(&all, 0x1000), other = word_name(&all, 0x1004);

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        add(2 * i, name);
        add(2 * i + 1, other);
    }
    for (unsigned i = 0; i < 100; i++) {
        assert_ptr_equal(sleepers_first(&all, name), &pool[2 * i]);
        sleepers_remove(&all, &pool[2 * i]);
        sleepers_check_for_test(&all);
    }
    assert_null(sleepers_first(&all, name));
    assert_ptr_equal(sleepers_first(&all, other), &pool[1]);
}

static void words_differ_by_address_and_by_space(void **state)
{
    char spaces[2];

    (void)state;
    add(0, word_name(&spaces[0], 0x1000));
    assert_null(sleepers_first(&all, word_name(&spaces[1], 0x1000)));
    assert_null(sleepers_first(&all, word_name(&spaces[0], 0x1004)));
    /* Names that differ in no bit of the hash. */
    add(1, (struct word_name){pool[0].name.hash, pool[0].name.space ^ (uint64_t)1 << 63});
    add(2, (struct word_name){pool[0].name.hash, pool[0].name.space ^ 1});
    sleepers_check_for_test(&all);
    for (unsigned i = 0; i < 3; i++)
        assert_ptr_equal(sleepers_first(&all, pool[i].name), &pool[i]);
}

/* Adds and removes at random, and not only the first of a name, as a deadline removes any. */
static void random_sleepers_agree_with_a_list(void **state)
{
    uint64_t seed = 3;

    for (unsigned words = 1; words <= 3000; words = words * 7 + 3) {
        no_sleepers(state);
        for (unsigned step = 0; step < 6000; step++) {
            unsigned i = test_random(&seed) % 700;
            struct word_name name =
                word_name((void *)(test_random(&seed) % 3 << 12), test_random(&seed) % words * 4);
            if (pool[i].asleep)
                sleepers_remove(&all, &pool[i]);
            else
                add(i, name);
            assert_ptr_equal(sleepers_first(&all, name), first_of(name));
            if (step % 64 == 0)
                sleepers_check_for_test(&all);
        }
        for (unsigned i = 0; i < SLEEPERS; i++) {
            if (pool[i].asleep)
                sleepers_remove(&all, &pool[i]);
        }
        assert_null(all.root);
    }
}

static void no_choice_of_names_makes_the_way_longer_than_a_name(void **state)
{
    static const struct {
        unsigned hash_bits, space_bits; /* shifts: low bits that are equal */
        unsigned most;
    } alike[] = {{0, 0, 14}, {8, 0, 22}, {40, 0, 54}, {52, 0, 66}, {64, 0, 78}, {64, 52, 128}};

    for (unsigned k = 0; k < ARRAY_SIZE(alike); k++) {
        no_sleepers(state);
        for (uint64_t i = 0; i < SLEEPERS; i++) {
            bool by_hash = alike[k].hash_bits < 64;
            add((unsigned)i, (struct word_name){by_hash ? i << alike[k].hash_bits : 0,
                                                by_hash ? 0 : i << alike[k].space_bits});
        }
        assert_true(sleepers_check_for_test(&all) <= alike[k].most);
        for (unsigned i = 0; i < SLEEPERS; i++) {
            unsigned at = i * 1237 % SLEEPERS;
            assert_ptr_equal(sleepers_first(&all, pool[at].name), &pool[at]);
            sleepers_remove(&all, &pool[at]);
            assert_null(sleepers_first(&all, pool[at].name));
            if (i % 256 == 0)
                sleepers_check_for_test(&all);
        }
        assert_null(all.root);
    }
    /* Each name leaves the path of all before it as late as possible. */
    no_sleepers(state);
    for (unsigned i = 0; i < 128; i++) {
        unsigned bit = 127 - i;
        add(i, (struct word_name){bit < 64 ? (uint64_t)1 << bit : 0,
                                  bit < 64 ? 0 : (uint64_t)1 << (bit - 64)});
    }
    assert_true(sleepers_check_for_test(&all) <= 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_thread_sleeps_at_first, no_sleepers),
        cmocka_unit_test_setup(sleepers_of_a_word_are_found_in_order_of_arrival, no_sleepers),
        cmocka_unit_test_setup(words_differ_by_address_and_by_space, no_sleepers),
        cmocka_unit_test_setup(random_sleepers_agree_with_a_list, no_sleepers),
        cmocka_unit_test_setup(no_choice_of_names_makes_the_way_longer_than_a_name, no_sleepers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
