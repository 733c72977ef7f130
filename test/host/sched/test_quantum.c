/* Quanta of a thread: told alone or together, late or never; each time and count is told once. */
#include "test/host/double/expect_panic.h"
#include "sched/policy/quantum.h"

static const struct quantum_rule all = {1, 0};

static void one_quantum(void **state)
{
    uint64_t count[QUANTUM_COUNTS_MAX] = {500, 40};
    struct quantum q = {0};
    (void)state;

    quantum_woken(&q, 7, 2);
    quantum_begin(&q, 1000, 1300);
    assert_int_equal(q.waker, 7);
    assert_int_equal(q.woken, 2);
    assert_true(quantum_end(&q, &all, 2000, count, false));
    assert_int_equal(q.start_ns, 1300);
    assert_int_equal(q.end_ns, 2000);
    assert_int_equal(q.ran_ns, 700);
    assert_int_equal(q.waited_ns, 300);
    assert_int_equal(q.quanta, 1);
    quantum_told(&q, count);
    assert_int_equal(q.told[0], 500);
    quantum_begin(&q, 2000, 2100); /* it had not slept */
    assert_int_equal(q.waker, 0);
    assert_int_equal(q.woken, 0);
}

static void clocks_that_differ(void **state)
{
    uint64_t count[QUANTUM_COUNTS_MAX] = {0};
    struct quantum q = {0};
    (void)state;

    quantum_begin(&q, 1005, 1000);
    assert_int_equal(q.waited_ns, 0);
    assert_true(quantum_end(&q, &all, 990, count, false));
    assert_int_equal(q.ran_ns, 0);
    assert_int_equal(q.end_ns, 1000);
}

/* A thread that runs at random, under random rules, with tellings that fail; beside it, sums of all
 * that happened and of all that was told. */
static void random_lives(void **state)
{
    (void)state;
    for (uint32_t life = 1; life <= 2000; life++) {
        uint64_t seed = life;
        struct quantum_rule rule = {1 + test_random(&seed) % 5,
                                    test_random(&seed) % 2 ? test_random(&seed) % 3000 : 0};
        struct quantum q = {0};
        uint64_t now = 1000, count[QUANTUM_COUNTS_MAX] = {0}, before[QUANTUM_COUNTS_MAX] = {0};
        uint64_t ran = 0, waited = 0, quanta = 0, told_ran = 0, told_waited = 0, told_quanta = 0;
        uint64_t waker = 0, first = 0, pending = 0, late = 0;
        unsigned n = 1 + test_random(&seed) % 60;

        for (unsigned i = 0; i < n; i++) {
            uint64_t ready = now += test_random(&seed) % 50;
            uint32_t by = test_random(&seed) % 3;
            if (by)
                quantum_woken(&q, by, 2);
            now += test_random(&seed) % 50;
            quantum_begin(&q, ready, now);
            if (!pending)
                first = now, waker = by;
            uint64_t length = test_random(&seed) % 1000;
            now += length;
            for (unsigned c = 0; c < QUANTUM_COUNTS_MAX; c++)
                count[c] += test_random(&seed) % 1000;
            ran += length;
            waited += now - length - ready;
            quanta++;
            pending++;
            bool last = i + 1 == n, due = last || (rule.cycles ? count[0] - before[0] >= rule.cycles
                                                               : pending >= rule.every);
            assert_int_equal(quantum_end(&q, &rule, now, count, last), due);
            assert_int_equal(q.quanta, pending);
            assert_int_equal(q.start_ns, first);
            assert_int_equal(q.end_ns, now);
            assert_int_equal(q.waker, waker);
            if (!due)
                continue;
            if (!last && test_random(&seed) % 4 == 0) {
                quantum_late(&q);
                late++;
                continue;
            }
            assert_memory_equal(q.told, before, sizeof before);
            told_ran += q.ran_ns;
            told_waited += q.waited_ns;
            told_quanta += q.quanta;
            quantum_told(&q, count);
            memcpy(before, count, sizeof before);
            pending = 0;
        }
        assert_int_equal(told_ran, ran);
        assert_int_equal(told_waited, waited);
        assert_int_equal(told_quanta, quanta);
        assert_int_equal(q.told_quanta, quanta);
        assert_int_equal(q.late, late);
        assert_memory_equal(q.told, count, sizeof count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_quantum),
        cmocka_unit_test(clocks_that_differ),
        cmocka_unit_test(random_lives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
