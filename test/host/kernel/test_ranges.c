/* Locks on ranges, compared with an array that has each byte's locks by owner. */
#include "test/host/double/expect_panic.h"
#include "kernel/file/ranges.h"

#define BYTES  24
#define OWNERS 4
#define STEPS  60000

static uint8_t model[OWNERS][BYTES]; /* 0: none, 1: shared, 2: exclusive */
static struct range_lock *list, *spare;
static const char owners[OWNERS];

static void give_spares(void)
{
    unsigned n = 0;

    for (struct range_lock *l = spare; l; l = l->next)
        n++;
    for (; n < RANGE_NODES; n++) {
        struct range_lock *l = calloc(1, sizeof(*l));
        l->next = spare;
        spare = l;
    }
}

static void free_all(struct range_lock **l)
{
    while (*l) {
        struct range_lock *next = (*l)->next;
        free(*l);
        *l = next;
    }
}

/* The list says of each byte what the model does, in the fewest pieces. */
static void compare(void)
{
    uint8_t is[OWNERS][BYTES] = {0};

    for (const struct range_lock *l = list; l; l = l->next) {
        size_t owner = (size_t)((const char *)l->owner - owners);
        for (uint64_t at = l->first; at <= l->last; at++) {
            assert_true(at < BYTES);
            assert_int_equal(is[owner][at], 0);
            is[owner][at] = l->exclusive ? 2 : 1;
        }
        if (l->next && l->next->owner == l->owner) {
            assert_true(l->next->first > l->last);
            assert_false(l->next->first == l->last + 1 && l->next->exclusive == l->exclusive);
        }
    }
    assert_memory_equal(is, model, sizeof(is));
}

static int first_conflict(unsigned owner, const struct range_lock *want)
{
    for (uint64_t at = want->first; at <= want->last; at++)
        for (unsigned o = 0; o < OWNERS; o++)
            if (o != owner && model[o][at] && (want->exclusive || model[o][at] == 2))
                return (int)at;
    return -1;
}

static void step(uint64_t *seed)
{
    unsigned owner = (unsigned)(test_random(seed) % OWNERS);
    uint64_t a = test_random(seed) % BYTES, b = test_random(seed) % BYTES;
    struct range_lock want = {.owner = &owners[owner],
                              .first = MIN(a, b),
                              .last = MAX(a, b),
                              .exclusive = test_random(seed) % 2};
    bool locks = test_random(seed) % 3;

    if (test_random(seed) % 50 == 0) {
        ranges_drop(&list, want.owner, &spare);
        memset(model[owner], 0, BYTES);
        return;
    }
    const struct range_lock *other = ranges_conflict(list, &want);
    int at = first_conflict(owner, &want);
    assert_int_equal(other != NULL, at >= 0);
    if (other)
        assert_true(other->first <= (uint64_t)at && other->last >= (uint64_t)at);
    if (locks && other)
        return;
    give_spares();
    ranges_set(&list, &want, locks, &spare);
    for (uint64_t i = want.first; i <= want.last; i++)
        model[owner][i] = !locks ? 0 : want.exclusive ? 2 : 1;
}

static void ranges_are_as_bytes_say(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (unsigned i = 0; i < STEPS; i++) {
        step(&seed);
        compare();
    }
    free_all(&list);
    free_all(&spare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_are_as_bytes_say)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
