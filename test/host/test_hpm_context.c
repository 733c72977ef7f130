/* Counts that take turns: what is exact stays exact, what is scaled comes out right where the rate is steady.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "hpm/context.h"

enum { GROUPS = 3, COUNTERS = 2, PINNED = EVENT_DCACHE(SOURCE_REMOTE_L2), ROUND = 30000 };

/* Event PINNED on counter 0 of every group; events 0, 1, 2 on counter 1 of groups 0, 1, 2. */
static struct context_plan plan_of_three(void)
{
    struct context_plan p = {.groups = GROUPS, .counters = COUNTERS, .round_cycles = ROUND};

    memset(p.event, CONTEXT_NO_EVENT, sizeof p.event);
    for (unsigned g = 0; g < GROUPS; g++) {
        p.event[g][0] = PINNED;
        p.event[g][1] = (uint8_t)g;
        p.groups_with[g] = (uint16_t)(1u << g);
    }
    p.groups_with[PINNED] = (1u << GROUPS) - 1;
    return p;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void cycles_instructions_and_pinned_events_are_exact(void **state)
{
    struct context_plan plan = plan_of_three();
    struct hpm_context c = {0};
    struct hpm_breakdown b;
    uint64_t cycles = 0, instructions = 0, pinned = 0;
    uint32_t seed = 7;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        struct context_delta d = {.cycles = next_random(&seed) % 9000,
                                  .instructions = next_random(&seed) % 20000,
                                  .count = {next_random(&seed) % 500, next_random(&seed) % 500}};
        context_add(&c, &plan, next_random(&seed) % GROUPS, &d);
        cycles += d.cycles;
        instructions += d.instructions;
        pinned += d.count[0];
        context_read(&c, &plan, &b);
        assert_int_equal(b.cycles, cycles);
        assert_int_equal(b.instructions, instructions);
        assert_int_equal(b.dcache[SOURCE_REMOTE_L2], pinned);
    }
}

static void a_steady_rate_is_scaled_to_all_cycles(void **state)
{
    struct context_plan plan = plan_of_three();
    struct hpm_context c = {0};
    struct hpm_breakdown b;
    uint32_t seed = 3;

    (void)state;
    /* One event 0 in 10 cycles, one event 1 in 4; event 2 never. */
    for (int i = 0; i < 3000; i++) {
        unsigned g = next_random(&seed) % GROUPS;
        uint64_t cycles = 20 * (1 + next_random(&seed) % 1000);
        context_add(&c, &plan, g,
                    &(struct context_delta){.cycles = cycles,
                                            .count = {0, g == 0   ? cycles / 10
                                                         : g == 1 ? cycles / 4
                                                                  : 0}});
    }
    context_read(&c, &plan, &b);
    assert_in_range(b.stall[0], b.cycles / 10 - b.cycles / 10000, b.cycles / 10);
    assert_in_range(b.stall[1], b.cycles / 4 - b.cycles / 10000, b.cycles / 4);
    assert_int_equal(b.stall[2], 0);
    assert_in_range(b.seen_permille, 150, 334);
}

/* A first phase full of event 0, a second without: the second must not take over the first one's rate. */
static void a_phase_is_scaled_by_its_own_cycles(void **state)
{
    struct context_plan plan = plan_of_three();
    struct hpm_context c = {0};
    struct hpm_breakdown first, second;

    (void)state;
    for (int i = 0; i < 300; i++)
        context_add(&c, &plan, i % GROUPS,
                    &(struct context_delta){.cycles = 10000, .count = {0, i % GROUPS ? 0 : 5000}});
    context_read(&c, &plan, &first);
    assert_int_equal(first.stall[0], 1500000);
    for (int i = 0; i < 300; i++)
        context_add(&c, &plan, i % GROUPS, &(struct context_delta){.cycles = 10000});
    context_read(&c, &plan, &second);
    hpm_breakdown_sub(&second, &first);
    assert_int_equal(second.cycles, 3000000);
    assert_int_equal(second.stall[0], 0);
}

static void a_round_stays_open_until_each_group_had_a_fair_part(void **state)
{
    struct context_plan plan = plan_of_three();
    struct hpm_context c = {0};

    (void)state;
    for (int i = 0; i < 100; i++)
        context_add(&c, &plan, i % 2, &(struct context_delta){.cycles = 10000});
    assert_int_equal(c.closed_cycles, 0);
    context_add(&c, &plan, 2, &(struct context_delta){.cycles = 10000});
    assert_int_equal(c.closed_cycles, 0);
    for (int i = 0; i < 10; i++)
        context_add(&c, &plan, 2, &(struct context_delta){.cycles = 10000});
    assert_true(c.closed_cycles > 0);
    assert_int_equal(c.closed_cycles + c.open_cycles, c.cycles);
}

static void a_young_round_goes_by_the_rate_of_the_one_before(void **state)
{
    struct context_plan plan = plan_of_three();
    struct hpm_context c = {0};
    struct hpm_breakdown b;

    (void)state;
    static const uint64_t counts[] = {9000, 1000};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3; i++)
            context_add(&c, &plan, i,
                        &(struct context_delta){.cycles = 10000, .count = {0, i ? 0 : counts[round]}});
    context_add(&c, &plan, 1, &(struct context_delta){.cycles = 6000});
    context_read(&c, &plan, &b);
    assert_int_equal(b.stall[0], 27000 + 3000 + 600);
}

/* Remote stalls pinned, the accesses themselves in the rotation's last group. */
static void the_few_figures_of_remote_accesses_are_those_of_the_breakdown(void **state)
{
    struct context_plan plan = plan_of_three();
    struct hpm_context c = {0};
    struct hpm_breakdown b;
    struct hpm_remote r;
    uint32_t seed = 5;

    (void)state;
    plan.event[2][1] = EVENT_SERVED(SOURCE_REMOTE_L2);
    plan.groups_with[EVENT_SERVED(SOURCE_REMOTE_L2)] = 1u << 2;
    plan.groups_with[2] = 0;
    for (int i = 0; i < 200; i++) {
        context_add(&c, &plan, next_random(&seed) % GROUPS,
                    &(struct context_delta){.cycles = 500 + next_random(&seed) % 20000,
                                            .count = {next_random(&seed) % 300, next_random(&seed) % 300}});
        context_read(&c, &plan, &b);
        context_read_remote(&c, &plan, &r);
        assert_int_equal(r.cycles, b.cycles);
        assert_int_equal(r.stall, b.dcache[SOURCE_REMOTE_L2]);
        assert_int_equal(r.served, b.served[SOURCE_REMOTE_L2]);
    }
    assert_true(r.stall && r.served);
}

static void without_a_pmu_nothing_is_counted(void **state)
{
    struct context_plan plan = {0};
    struct hpm_context c = {0};
    struct hpm_breakdown b;

    (void)state;
    context_read(&c, &plan, &b);
    assert_int_equal(b.cycles, 0);
    assert_int_equal(b.seen_permille, 0);
}

static void scaling_is_exact_where_it_divides_and_never_overflows(void **state)
{
    (void)state;
    assert_int_equal(context_scale(0, 1000, 7), 0);
    assert_int_equal(context_scale(7, 1000, 7), 1000);
    assert_int_equal(context_scale(10, 30, 20), 15);
    assert_int_equal(context_scale(500000000000, 1000, 1000000000000), 500);
    assert_int_equal(context_scale(1ull << 40, 1ull << 41, 1ull << 40), 1ull << 41);
    for (unsigned c = 0; c < 50; c++)
        for (unsigned a = 0; a < 50; a++)
            for (unsigned s = 0; s < 50; s++) {
                uint64_t count = (1ull << c) + c, all = (1ull << a) + a, seen = (1ull << s) + s;
                unsigned __int128 exact = (unsigned __int128)count * all / seen;
                if (exact >> 62)
                    continue;
                uint64_t got = context_scale(count, all, seen), slack = (uint64_t)(exact >> 12) + 1;
                assert_in_range(got, exact > slack ? (uint64_t)exact - slack : 0, (uint64_t)exact + slack);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_instructions_and_pinned_events_are_exact),
        cmocka_unit_test(a_steady_rate_is_scaled_to_all_cycles),
        cmocka_unit_test(a_phase_is_scaled_by_its_own_cycles),
        cmocka_unit_test(a_round_stays_open_until_each_group_had_a_fair_part),
        cmocka_unit_test(a_young_round_goes_by_the_rate_of_the_one_before),
        cmocka_unit_test(the_few_figures_of_remote_accesses_are_those_of_the_breakdown),
        cmocka_unit_test(without_a_pmu_nothing_is_counted),
        cmocka_unit_test(scaling_is_exact_where_it_divides_and_never_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
