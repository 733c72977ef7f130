/* The slots of a swap area, against an array of the slots taken. */
#include "test/host/double/expect_panic.h"
#include "mm/policy/slots.h"

#define PAGES (40 * SLOT_CLUSTER + 7) /* the last seven are no cluster */
#define SLOTS (40 * SLOT_CLUSTER - 1)

static uint64_t random_below(uint64_t *state, uint64_t n)
{
    return test_random(state) % n;
}

static struct slots *make(void)
{
    struct slots *s = malloc(slots_bytes(PAGES)); /* ASan sees writes behind it */

    slots_init(s, PAGES);
    assert_null(slots_check(s));
    assert_int_equal(s->free, SLOTS);
    return s;
}

static void pages_beside_each_other_get_slots_beside_each_other(void **state)
{
    struct slots *s = make();
    uint32_t a = slots_take(s, SLOT_NONE, 5), b = slots_take(s, a + 1, 6),
             c = slots_take(s, a - 1, 4);

    (void)state;
    assert_int_equal(a % SLOT_CLUSTER, 5);
    assert_int_equal(b, a + 1);
    assert_int_equal(c, a - 1);
    free(s);
}

static void a_slot_that_is_taken_begins_another_cluster(void **state)
{
    struct slots *s = make();
    uint32_t a = slots_take(s, SLOT_NONE, 5);
    const uint32_t wishes[] = {a, SLOTS + 1, UINT32_MAX, SLOT_NONE};

    (void)state;
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        uint32_t whole = s->whole, slot = slots_take(s, wishes[i], 9);
        assert_int_equal(slot % SLOT_CLUSTER, 9);
        assert_int_equal(s->whole, whole - 1);
    }
    assert_null(slots_check(s));
    free(s);
}

static void every_slot_is_given_out_and_taken_back_once(void **state)
{
    struct slots *s = make();
    static bool taken[SLOTS + 1];

    (void)state;
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t slot = slots_take(s, SLOT_NONE, i % SLOT_CLUSTER);
        assert_in_range(slot, 1, SLOTS);
        assert_false(taken[slot]);
        taken[slot] = true;
    }
    assert_null(slots_check(s));
    assert_int_equal(slots_take(s, SLOT_NONE, 0), SLOT_NONE);
    assert_int_equal(slots_take(s, 77, 0), SLOT_NONE);
    slots_give(s, 77);
    assert_int_equal(slots_take(s, SLOT_NONE, 3), 77);
    EXPECT_PANIC(slots_give(s, SLOT_NONE));
    EXPECT_PANIC(slots_give(s, SLOTS + 1));
    slots_give(s, 78);
    EXPECT_PANIC(slots_give(s, 78));
    assert_null(slots_check(s));
    free(s);
}

static void the_smallest_area_has_all_but_one_of_a_cluster(void **state)
{
    struct slots *s = malloc(slots_bytes(SLOT_CLUSTER));

    (void)state;
    slots_init(s, SLOT_CLUSTER);
    for (unsigned i = 1; i < SLOT_CLUSTER; i++)
        assert_int_not_equal(slots_take(s, SLOT_NONE, 0), SLOT_NONE);
    assert_int_equal(slots_take(s, SLOT_NONE, 0), SLOT_NONE);
    free(s);
}

/* ---- The oracle ------------------------------------------------------------------------------ */

static bool cluster_is_whole(const bool *taken, uint32_t cluster)
{
    for (uint32_t i = 0; i < SLOT_CLUSTER; i++)
        if (taken[cluster * SLOT_CLUSTER + i])
            return false;
    return true;
}

static uint32_t whole_clusters(const bool *taken)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c <= SLOTS / SLOT_CLUSTER; c++)
        n += cluster_is_whole(taken, c);
    return n;
}

/* Takes a slot, and checks it against the comment of slots_take(). */
static void take_and_compare(struct slots *s, bool *taken, uint32_t held, uint64_t *random)
{
    uint32_t want =
        random_below(random, 3) ? (uint32_t)random_below(random, SLOTS + 40) : SLOT_NONE;
    unsigned index = (unsigned)random_below(random, SLOT_CLUSTER);
    bool possible = want != SLOT_NONE && want <= SLOTS && !taken[want];
    uint32_t slot = slots_take(s, want, index);

    if (held == SLOTS) {
        assert_int_equal(slot, SLOT_NONE);
        return;
    }
    assert_in_range(slot, 1, SLOTS);
    assert_false(taken[slot]);
    if (possible)
        assert_int_equal(slot, want);
    else if (whole_clusters(taken))
        assert_true(slot % SLOT_CLUSTER == index && cluster_is_whole(taken, slot / SLOT_CLUSTER));
    taken[slot] = true;
}

static void give_some_slot(struct slots *s, bool *taken, uint64_t *random)
{
    uint32_t slot = 1 + (uint32_t)random_below(random, SLOTS);

    while (!taken[slot])
        slot = slot % SLOTS + 1;
    slots_give(s, slot);
    taken[slot] = false;
}

/* The area is filled, half emptied and filled again several times, so that whole clusters run out
 * and come back. */
static void random_operations_agree_with_the_oracle(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (unsigned round = 0; round < 8; round++) {
        struct slots *s = make();
        bool taken[SLOTS + 1] = {true};
        for (unsigned i = 0; i < 12000; i++) {
            bool filling = i / 2000 % 2 == 0;
            if (random_below(&random, 10) < (filling ? 8u : 2u) || s->free == SLOTS)
                take_and_compare(s, taken, SLOTS - s->free, &random);
            else
                give_some_slot(s, taken, &random);
            uint32_t held = 0;
            for (uint32_t slot = 1; slot <= SLOTS; slot++)
                held += taken[slot];
            assert_int_equal(s->free, SLOTS - held);
            assert_null(slots_check(s));
        }
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_beside_each_other_get_slots_beside_each_other),
        cmocka_unit_test(a_slot_that_is_taken_begins_another_cluster),
        cmocka_unit_test(every_slot_is_given_out_and_taken_back_once),
        cmocka_unit_test(the_smallest_area_has_all_but_one_of_a_cluster),
        cmocka_unit_test(random_operations_agree_with_the_oracle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
