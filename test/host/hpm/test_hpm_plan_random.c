/* Plans of requests at random: each is one, or is refused for a reason that is enough. */
#include "test/host/double/expect_panic.h"
#include "hpm/events/request.h"
#include "test/host/double/planned.h"

enum { KINDS = 24, TRIALS = 2000 };

static void draw_kinds(struct event kinds[KINDS], unsigned counters, uint64_t *seed)
{
    for (unsigned k = 0; k < KINDS; k++) {
        kinds[k] = event_on((uint32_t)(test_random(seed) % (1u << counters)) |
                                1u << test_random(seed) % counters,
                            100 + k);
        if (test_random(seed) % 6 == 0) {
            kinds[k].exclusion = EVENT_OFFCORE_0;
            kinds[k].extra = test_random(seed) % 3;
        }
    }
    kinds[0] = event_cycles;
    kinds[1] = event_instructions;
    kinds[2] = event_fixed(3);
    kinds[3].fixed = 17;
}

static uint64_t draw_some(uint64_t of, unsigned most, uint64_t *seed)
{
    uint64_t some = 0;

    for (unsigned n = (unsigned)(test_random(seed) % (most + 1)); n; n--)
        some |= 1ull << test_random(seed) % 64;
    return some & of;
}

static void draw_request(struct plan_request *r, uint64_t *seed)
{
    struct event kinds[KINDS];
    uint64_t tied = 0;
    unsigned counters = 1 + (unsigned)(test_random(seed) % HPM_COUNTERS_MAX);

    draw_kinds(kinds, counters, seed);
    *r = plan_on(counters);
    r->fixed = 1u << 3 | 1u << 17;
    for (unsigned i = 0; i < 64; i++) {
        r->event[i] = kinds[test_random(seed) % KINDS]; /* those that are not wanted, too */
        r->born[i] = (uint32_t)(test_random(seed) % 4);
    }
    r->wanted = test_random(seed) & (test_random(seed) | test_random(seed));
    for (unsigned i = 0; i < 64 && test_random(seed) % 2; i++)
        r->weight[i] = (uint8_t)(test_random(seed) % 4 ? 0 : test_random(seed) % (WEIGHT_MAX + 1));
    r->pinned = draw_some(UINT64_MAX, 1, seed);
    for (unsigned s = (unsigned)(test_random(seed) % 4); s; s--) {
        r->set[r->sets] = draw_some(r->wanted, 4, seed);
        bool all = !(r->set[r->sets] & ~r->pinned) || test_random(seed) % 8 == 0;
        bool apart = !(r->set[r->sets] & (tied | (all ? 0 : r->pinned)));
        if (r->set[r->sets] && apart && test_random(seed) % 2) {
            r->pinned |= all ? r->set[r->sets] : 0;
            tied |= r->set[r->sets];
            r->tied |= 1u << r->sets;
        }
        r->sets += r->set[r->sets] != 0;
    }
    /* Sets that are not tied have none of the tied counts. */
    for (unsigned s = 0; s < r->sets; s++)
        if (!(r->tied >> s & 1) && (r->set[s] & tied)) {
            r->set[s] = r->set[--r->sets];
            r->tied = (r->tied & ~(1u << s)) | (r->tied >> r->sets & 1) << s;
            r->tied &= (1u << r->sets) - 1;
            s--;
        }
}

/* The cause names wanted counts only, and is sufficient by itself. */
static void check_refusal(const struct plan_request *r)
{
    uint32_t there = (1u << r->counters) - 1, counters = 0;

    assert_int_equal(plan_cause.crowd & ~r->wanted, 0);
    if (plan_cause.why == GROUP_EXCLUDED) {
        assert_true(r->wanted >> plan_cause.event & r->wanted >> plan_cause.other & 1);
        assert_true(plan_excludes(&r->event[plan_cause.event], &r->event[plan_cause.other]));
        return;
    }
    assert_int_equal(plan_cause.why, GROUP_CROWDED);
    for (uint64_t left = plan_cause.crowd; left; left &= left - 1)
        counters |= r->event[__builtin_ctzll(left)].counters & there;
    assert_true(__builtin_popcountll(plan_cause.crowd) > __builtin_popcount(counters));
}

static void random_requests_are_planned_or_refused_for_a_reason(void **state)
{
    struct plan_request r;
    uint64_t seed = 77;
    unsigned made = 0, excluded = 0, crowded = 0;

    (void)state;
    for (unsigned t = 0; t < TRIALS; t++) {
        draw_request(&r, &seed);
        if (!plan_make(&planned, &r, &plan_work, &plan_cause)) {
            plan_check(&r);
            made++;
            continue;
        }
        check_refusal(&r);
        excluded += plan_cause.why == GROUP_EXCLUDED;
        crowded += plan_cause.why == GROUP_CROWDED;
    }
    assert_true(made > TRIALS / 3);
    assert_true(excluded > 5 && crowded > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_requests_are_planned_or_refused_for_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
