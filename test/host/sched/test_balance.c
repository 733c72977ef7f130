/* Load balancing on a machine of 2 chips x 2 cores x 2 threads: placement of new and woken threads,
 * and pulling. */
#include "test/host/double/expect_panic.h"
#include "sched/policy/balance.h"

#define CPUS 8
static struct balance_cpu cpu[CPUS];
static uint64_t mask;
static const struct balance_view view = {cpu, &mask, CPUS};

static int machine(void **state)
{
    (void)state;
    mask = 0xff;
    for (unsigned i = 0; i < CPUS; i++)
        cpu[i] = (struct balance_cpu){.chip = i / 4, .core = i / 2};
    return 0;
}

static void load_cpus(const char *digits)
{
    for (unsigned i = 0; i < CPUS; i++)
        cpu[i].running = digits[i] - '0';
}

static void new_threads_fill_idle_cores_the_makers_first_then_hardware_threads(void **state)
{
    (void)state;
    static const unsigned expected[] = {0, 2, 4, 6, 1, 5, 3, 7};
    for (unsigned i = 0; i < CPUS; i++) {
        unsigned c = balance_place_new(&view, 0);
        assert_int_equal(c, expected[i]);
        cpu[c].running++;
    }
}

static void a_lone_new_thread_goes_to_an_idle_core_of_its_makers_chip(void **state)
{
    (void)state;
    for (unsigned from = 0; from < CPUS; from++) {
        load_cpus("00000000");
        cpu[from].running = 1;
        unsigned c = balance_place_new(&view, from);
        assert_int_equal(cpu[c].chip, cpu[from].chip);
        assert_int_not_equal(cpu[c].core, cpu[from].core);
    }
}

static void a_new_thread_leaves_a_chip_that_has_more_to_do_or_no_idle_core(void **state)
{
    (void)state;
    load_cpus("20000000"); /* two threads ahead */
    assert_int_equal(balance_place_new(&view, 0), 4);
    load_cpus("20001000"); /* one ahead */
    assert_int_equal(balance_place_new(&view, 0), 2);
    load_cpus("10101000"); /* one ahead, no core idle */
    assert_int_equal(balance_place_new(&view, 0), 6);
    load_cpus("10101010"); /* the same everywhere */
    assert_int_equal(balance_place_new(&view, 4), 5);
    mask = 0xf0; /* the maker is not among the CPUs allowed */
    load_cpus("10000000");
    assert_int_equal(balance_place_new(&view, 0), 4);
}

/* On a machine of 4 chips x 4 cores makers and their threads never put chips further apart than one
 * thread, but for the one that may be near. */
static void new_threads_keep_chips_even_from_any_maker(void **state)
{
    static struct balance_cpu many[16];
    uint64_t all = 0xffff;
    const struct balance_view wide = {many, &all, 16};

    (void)state;
    srand(3);
    for (int round = 0; round < 2000; round++) {
        for (unsigned i = 0; i < 16; i++)
            many[i] = (struct balance_cpu){.chip = i / 4, .core = i};
        for (int made = 0; made < 40; made++) {
            unsigned sum[4] = {0}, least = ~0u, most = 0;
            many[balance_place_new(&wide, rand() % 16)].running++;
            for (unsigned i = 0; i < 16; i++)
                sum[i / 4] += many[i].running;
            for (unsigned chip = 0; chip < 4; chip++) {
                least = MIN(least, sum[chip]);
                most = MAX(most, sum[chip]);
            }
            assert_true(most - least <= 1 + BALANCE_NEAR_THREADS);
        }
    }
}

static void sixteen_new_threads_fill_eight_cpus_evenly_from_anywhere(void **state)
{
    (void)state;
    for (unsigned from = 0; from < CPUS; from++) {
        load_cpus("00000000");
        for (unsigned i = 0; i < 2 * CPUS; i++)
            cpu[balance_place_new(&view, from)].running++;
        for (unsigned i = 0; i < CPUS; i++)
            assert_int_equal(cpu[i].running, 2);
    }
}

static void a_new_thread_keeps_to_its_mask(void **state)
{
    (void)state;
    load_cpus("00009900");
    mask = 0x30;
    assert_int_equal(balance_place_new(&view, 0), 4);
    mask = 0x81;
    load_cpus("30000002");
    assert_int_equal(balance_place_new(&view, 0), 7);
}

static void a_chip_with_fewer_allowed_cpus_counts_by_threads_per_cpu(void **state)
{
    (void)state;
    mask = 0x1f; /* chip 1 has one CPU */
    load_cpus("10101000");
    assert_int_equal(balance_place_new(&view, 7), 1);
}

static void a_woken_thread_stays_near_an_idle_previous_cpu(void **state)
{
    (void)state;
    load_cpus("10000000");
    assert_int_equal(balance_wake_near(&view, 5, 0), 5);
    assert_int_equal(balance_wake_idle(&view, 5, 5), 5);
}

static void
a_woken_thread_follows_a_waker_on_another_chip_only_where_there_is_less_to_do(void **state)
{
    (void)state;
    load_cpus("10001000");
    assert_int_equal(balance_wake_near(&view, 4, 0), 4);
    load_cpus("10002000");
    assert_int_equal(balance_wake_near(&view, 4, 0), 0);
    load_cpus("20002000");
    assert_int_equal(balance_wake_near(&view, 4, 0), 4);
}

static void on_one_chip_only_an_idle_waker_attracts(void **state)
{
    (void)state;
    load_cpus("13000000");
    assert_int_equal(balance_wake_near(&view, 1, 0), 1);
    load_cpus("03000000");
    assert_int_equal(balance_wake_near(&view, 1, 0), 0);
}

static void idle_cpus_are_taken_from_idle_cores_first(void **state)
{
    (void)state;
    load_cpus("10000000");
    mask = 0x0f;
    assert_int_equal(balance_wake_idle(&view, 0, 0), 2);
    load_cpus("10100000");
    assert_int_equal(balance_wake_idle(&view, 2, 2), 3);
    load_cpus("11100000");
    assert_int_equal(balance_wake_idle(&view, 0, 0), 3);
    load_cpus("11110000");
    assert_int_equal(balance_wake_idle(&view, 0, 0), BALANCE_NONE);
}

static void the_previous_cpu_is_better_than_an_idle_core(void **state)
{
    (void)state;
    load_cpus("11100000");
    mask = 0x0f;
    assert_int_equal(balance_wake_idle(&view, 0, 3), 3);
}

static void where_no_cpu_is_idle_the_least_loaded_one_is_taken(void **state)
{
    (void)state;
    mask = 0x0f;
    load_cpus("22120000");
    assert_int_equal(balance_wake_least(&view, 0), 2);
    load_cpus("22220000");
    assert_int_equal(balance_wake_least(&view, 3), 3); /* no CPU has fewer */
    load_cpus("32110000");
    assert_int_equal(balance_wake_least(&view, 3), 3);
    load_cpus("11113333"); /* around a CPU that is not allowed */
    assert_int_equal(balance_wake_least(&view, 5), 0);
}

static void nothing_is_pulled_from_a_balanced_machine(void **state)
{
    (void)state;
    struct balance_move m;
    static const char *const even[] = {"00000000", "11111111", "22222222",
                                       "21222222", "10101010", "11111110"};
    for (size_t i = 0; i < ARRAY_SIZE(even); i++) {
        load_cpus(even[i]);
        for (unsigned self = 0; self < CPUS; self++)
            for (int l = BALANCE_CORE; l < BALANCE_LEVELS; l++)
                assert_false(balance_find(&view, self, l, 117, &m));
    }
}

static void an_idle_cpu_pulls_a_waiting_thread_from_its_own_core_first(void **state)
{
    (void)state;
    struct balance_move m;
    load_cpus("02111111");
    assert_true(balance_find(&view, 0, BALANCE_CORE, 117, &m));
    assert_int_equal(m.from, 1);
    assert_int_equal(m.count, 1);
    assert_false(m.running);
}

static void an_idle_core_takes_a_running_thread_off_a_full_one(void **state)
{
    (void)state;
    struct balance_move m;
    load_cpus("00110000");
    assert_true(balance_find(&view, 0, BALANCE_CHIP, 117, &m));
    assert_int_equal(m.from, 2);
    assert_true(m.running);
    load_cpus("10110000"); /* three threads on two cores: nothing to gain */
    assert_false(balance_find(&view, 1, BALANCE_CHIP, 117, &m));
}

static void chips_are_levelled_by_half_their_difference(void **state)
{
    (void)state;
    struct balance_move m;
    load_cpus("33330000");
    assert_true(balance_find(&view, 4, BALANCE_MACHINE, 117, &m));
    assert_int_equal(m.from, 0);
    assert_int_equal(m.count, 1); /* one CPU of three and one of none */
    load_cpus("80000000");
    assert_true(balance_find(&view, 4, BALANCE_MACHINE, 117, &m));
    assert_int_equal(m.count, 4);
}

static void a_busy_cpu_ignores_a_difference_within_the_margin(void **state)
{
    (void)state;
    struct balance_move m;
    load_cpus("88887777"); /* 32 against 28: 14 % */
    assert_false(balance_find(&view, 4, BALANCE_MACHINE, 117, &m));
    load_cpus("99997777"); /* 36 against 28: 29 % */
    assert_true(balance_find(&view, 4, BALANCE_MACHINE, 117, &m));
}

static void placing_without_any_cpu_is_a_broken_invariant(void **state)
{
    (void)state;
    mask = 0;
    EXPECT_PANIC(balance_place_new(&view, 0));
}

/* Whatever the load, repeated pulls end, keep every thread, and leave no CPU idle while another has
 * two threads. */
static void pulling_ends_and_levels_any_load(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 20000; round++) {
        unsigned total = 0, sum = 0;
        for (unsigned i = 0; i < CPUS; i++)
            total += cpu[i].running = rand() % (1 + rand() % 6);
        bool moved = true;
        for (int steps = 0; moved; steps++) {
            assert_true(steps < 200);
            moved = false;
            for (unsigned self = 0; self < CPUS; self++) {
                for (int l = BALANCE_CORE; l < BALANCE_LEVELS; l++) {
                    struct balance_move m;
                    if (!balance_find(&view, self, l, 117, &m))
                        continue;
                    assert_true(m.count >= 1 && m.from != self && cpu[m.from].running >= m.count);
                    cpu[m.from].running -= m.count;
                    cpu[self].running += m.count;
                    moved = true;
                }
            }
        }
        bool idle = false, two = false;
        for (unsigned i = 0; i < CPUS; i++) {
            sum += cpu[i].running;
            idle |= !cpu[i].running;
            two |= cpu[i].running > 1;
        }
        assert_int_equal(sum, total);
        assert_false(idle && two);
    }
}

/* Asks every idle CPU whether it would pull from CPU `from`, as balance_taker does. */
static unsigned ask_all_cpus(unsigned from, enum balance_level level)
{
    for (unsigned i = 0; i < CPUS; i++) {
        struct balance_move m;
        bool near = level == BALANCE_MACHINE ||
                    (level == BALANCE_CHIP && cpu[i].chip == cpu[from].chip) ||
                    (level == BALANCE_CORE && cpu[i].core == cpu[from].core);
        if (near && mask >> i & 1 && !cpu[i].running && balance_find(&view, i, level, 117, &m) &&
            m.from == from)
            return i;
    }
    return BALANCE_NONE;
}

static void the_taker_is_found_without_asking_all_cpus(void **state)
{
    unsigned found = 0;

    (void)state;
    srand(11);
    for (int round = 0; round < 20000; round++) {
        mask = round % 4 ? 0xff : (uint64_t)rand() & 0xff;
        for (unsigned i = 0; i < CPUS; i++)
            cpu[i].running = rand() % 3 * (rand() % (1 + rand() % 4));
        for (unsigned from = 0; from < CPUS; from++) {
            for (int l = BALANCE_CORE; mask >> from & 1 && l < BALANCE_LEVELS; l++) {
                unsigned taker = balance_taker(&view, from, l, 117);
                assert_int_equal(taker, ask_all_cpus(from, l));
                found += taker != BALANCE_NONE;
            }
        }
    }
    assert_true(found > 10000);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, machine)
    const struct CMUnitTest tests[] = {
        TEST(new_threads_fill_idle_cores_the_makers_first_then_hardware_threads),
        TEST(a_lone_new_thread_goes_to_an_idle_core_of_its_makers_chip),
        TEST(a_new_thread_leaves_a_chip_that_has_more_to_do_or_no_idle_core),
        TEST(new_threads_keep_chips_even_from_any_maker),
        TEST(sixteen_new_threads_fill_eight_cpus_evenly_from_anywhere),
        TEST(a_new_thread_keeps_to_its_mask),
        TEST(a_chip_with_fewer_allowed_cpus_counts_by_threads_per_cpu),
        TEST(a_woken_thread_stays_near_an_idle_previous_cpu),
        TEST(a_woken_thread_follows_a_waker_on_another_chip_only_where_there_is_less_to_do),
        TEST(on_one_chip_only_an_idle_waker_attracts),
        TEST(idle_cpus_are_taken_from_idle_cores_first),
        TEST(where_no_cpu_is_idle_the_least_loaded_one_is_taken),
        TEST(the_previous_cpu_is_better_than_an_idle_core),
        TEST(nothing_is_pulled_from_a_balanced_machine),
        TEST(an_idle_cpu_pulls_a_waiting_thread_from_its_own_core_first),
        TEST(an_idle_core_takes_a_running_thread_off_a_full_one),
        TEST(chips_are_levelled_by_half_their_difference),
        TEST(a_busy_cpu_ignores_a_difference_within_the_margin),
        TEST(placing_without_any_cpu_is_a_broken_invariant),
        TEST(the_taker_is_found_without_asking_all_cpus),
        TEST(pulling_ends_and_levels_any_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
