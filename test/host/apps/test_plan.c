/* The groups of threads, and the order of their creation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "apps/common/team.h"

static const struct args_list unequal = {4, {2, 3, 5, 6}};

static void assert_is_permutation(const unsigned *order, unsigned count)
{
    bool seen[TEAM_MAX] = {false};

    for (unsigned i = 0; i < count; i++) {
        assert_in_range(order[i], 0, count - 1);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
}

static void groups_get_the_sizes_asked_for(void **state)
{
    static struct team_plan plan;
    unsigned size[4] = {0};

    (void)state;
    team_form_sized(&plan, &unequal);
    assert_int_equal(plan.count, 16);
    assert_int_equal(plan.groups, 4);
    for (unsigned i = 0; i < plan.count; i++)
        size[plan.group[i]]++;
    for (unsigned g = 0; g < 4; g++)
        assert_int_equal(size[g], unequal.item[g]);
}

static void every_order_creates_each_thread_once(void **state)
{
    static struct team_plan plan;
    unsigned order[TEAM_MAX];

    (void)state;
    team_form_sized(&plan, &unequal);
    for (plan.order = TEAM_SHUFFLED; plan.order <= TEAM_STRIPED; plan.order++) {
        for (plan.seed = 0; plan.seed < 50; plan.seed++) {
            team_creation_order(&plan, order);
            assert_is_permutation(order, plan.count);
        }
    }
}

static void the_shuffle_depends_on_the_seed_alone(void **state)
{
    static struct team_plan plan;
    unsigned first[TEAM_MAX] = {0}, again[TEAM_MAX] = {0}, other[TEAM_MAX] = {0};

    (void)state;
    team_form_equal(&plan, 4, 4);
    plan.seed = 1;
    team_creation_order(&plan, first);
    team_creation_order(&plan, again);
    plan.seed = 2;
    team_creation_order(&plan, other);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
}

static void stripes_take_the_groups_in_turn(void **state)
{
    static struct team_plan plan = {.order = TEAM_STRIPED};
    static const unsigned expected_groups[] = {0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 2, 3, 2, 3, 3};
    unsigned order[TEAM_MAX];

    (void)state;
    team_form_sized(&plan, &unequal);
    team_creation_order(&plan, order);
    for (unsigned i = 0; i < plan.count; i++)
        assert_int_equal(plan.group[order[i]], expected_groups[i]);
}

static void a_change_keeps_sizes_and_parts_old_partners(void **state)
{
    static struct team_plan plan;
    unsigned group[TEAM_MAX], together[4][4] = {{0}};

    (void)state;
    team_form_equal(&plan, 4, 4);
    team_changed_groups(&plan, group);
    for (unsigned i = 0; i < plan.count; i++)
        together[plan.group[i]][group[i]]++;
    for (unsigned old = 0; old < 4; old++) {
        for (unsigned new = 0; new < 4; new ++)
            assert_int_equal(together[old][new], 1);
    }
}

static void a_change_of_unequal_groups_keeps_their_sizes(void **state)
{
    static struct team_plan plan;
    unsigned group[TEAM_MAX], size[4] = {0};

    (void)state;
    team_form_sized(&plan, &unequal);
    team_changed_groups(&plan, group);
    for (unsigned i = 0; i < plan.count; i++)
        size[group[i]]++;
    for (unsigned g = 0; g < 4; g++)
        assert_int_equal(size[g], unequal.item[g]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_get_the_sizes_asked_for),
        cmocka_unit_test(every_order_creates_each_thread_once),
        cmocka_unit_test(the_shuffle_depends_on_the_seed_alone),
        cmocka_unit_test(stripes_take_the_groups_in_turn),
        cmocka_unit_test(a_change_keeps_sizes_and_parts_old_partners),
        cmocka_unit_test(a_change_of_unequal_groups_keeps_their_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
