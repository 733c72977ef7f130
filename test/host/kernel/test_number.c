/* Numbers of processes and threads: in ascending order, around the end, never 0, never one in
 * use. */
#include "test/host/double/expect_panic.h"
#include "kernel/core/cpu.h"
#include "kernel/core/number.h"

enum { MAX = 50, THINGS = 40, STEPS = 20000 };

struct cpu cpus[CPU_MAX], *host_cpu = cpus;
bool host_irqs_on = true;
uint64_t host_ticks = 1;

uint64_t arch_clock_ns(void)
{
    return host_ticks;
}
void host_interrupt(void)
{
}

static struct number thing[THINGS];

static void numbers_follow_one_another_and_begin_anew_behind_the_last(void **state)
{
    struct numbers kind = NUMBERS("test", NUMBER_MAX);
    struct number n[6] = {{0}};

    (void)state;
    numbers_first = NUMBER_MAX - 2;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(number_take(&kind, &n[i]), NUMBER_MAX - 2 + i);
    assert_int_equal(number_take(&kind, &n[3]), 1);
    assert_int_equal(number_take(&kind, &n[4]), 2);
    assert_true((int)number_of(&kind, &n[2]) > 0);
}

static void a_thing_has_one_number_however_often_it_asks(void **state)
{
    struct numbers kind = NUMBERS("test", NUMBER_MAX);
    struct number child = {0}, next = {0}, other = {0};

    (void)state;
    numbers_first = 1;
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(number_take(&kind, &next), 1);
    assert_int_equal(number_take(&kind, &other), 2);
    assert_true(number_move(&kind, &child, &next));
    assert_int_equal(number_of(&kind, &child), 1);
    assert_int_equal(number_of(&kind, &next), 0);
    assert_false(number_move(&kind, &(struct number){0}, &next));
    assert_int_equal(number_take(&kind, &next), 3);
    number_give(&kind, &next);
    number_give(&kind, &next);
    assert_int_equal(number_of(&kind, &next), 0);
}

static void check_that_all_differ(struct numbers *kind)
{
    bool seen[MAX + 1] = {true};

    for (unsigned i = 0; i < THINGS; i++) {
        uint32_t value = number_of(kind, &thing[i]);
        assert_in_range(value, 0, MAX);
        assert_true(!value || !seen[value]);
        seen[value] = true;
    }
}

static void none_in_use_is_given_out(void **state)
{
    struct numbers kind = NUMBERS("test", MAX);
    uint64_t seed = 7;

    (void)state;
    numbers_first = 1;
    for (unsigned step = 0; step < STEPS; step++) {
        struct number *n = &thing[test_random(&seed) % THINGS],
                      *to = &thing[test_random(&seed) % THINGS];
        switch (test_random(&seed) % 4) {
        case 0:
            number_give(&kind, n);
            break;
        case 1:
            if (!to->value && to != n)
                number_move(&kind, to, n);
            break;
        default:
            assert_in_range(number_take(&kind, n), 1, MAX);
        }
        check_that_all_differ(&kind);
    }
    for (unsigned i = 0; i < THINGS; i++)
        number_give(&kind, &thing[i]);
    for (unsigned b = 0; b < NUMBER_BUCKETS; b++)
        assert_null(kind.bucket[b]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_one_another_and_begin_anew_behind_the_last),
        cmocka_unit_test(a_thing_has_one_number_however_often_it_asks),
        cmocka_unit_test(none_in_use_is_given_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
