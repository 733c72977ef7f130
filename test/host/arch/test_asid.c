/*
 * Address-space identifiers against the rules of TLBs. A CPU's TLB is a list: for each identifier,
 * the space of the translations that it may hold. Random switches of random spaces, spaces that end
 * and begin, few identifiers; the same with switches of other CPUs in the middle of each; and with
 * threads that run at the same time.
 */
#include <pthread.h>
#include "test/host/double/expect_panic.h"

/* Called between a load and a store of asid_enter(), where another CPU may do anything. */
static void (*meanwhile)(void);
static inline void others_turn(void)
{
    if (meanwhile)
        meanwhile();
}
#define __atomic_load_n(p, order)                             \
    ({                                                        \
        __typeof__(*(p)) loaded_ = __atomic_load_n(p, order); \
        others_turn();                                        \
        loaded_;                                              \
    })
#include "kernel/arch/asid.h"

#define CPUS   ASID_CPUS_MAX
#define SPACES 200

struct space {
    uint64_t tag;
    uint64_t serial; /* changes each time the space ends */
};

static struct asids asids;
static struct space spaces[SPACES];
static uint64_t serials;

struct cpu {
    /* By identifier: serial of the space that the translations belong to. */
    uint64_t held[ASID_COUNT_MAX];
    struct space *space;
    uint64_t serial, tag;
};
static struct cpu cpus[CPUS];

static int fresh(void **state)
{
    (void)state;
    memset(cpus, 0, sizeof(cpus));
    for (unsigned i = 0; i < SPACES; i++)
        spaces[i] = (struct space){.serial = ++serials};
    return 0;
}

static void forget(struct cpu *c)
{
    memset(c->held, 0, asids.count * sizeof(*c->held));
}

/* Switches as arch_space_switch() does, without the lock. Returns false if translations of two
 * spaces would have one tag. */
static bool use(struct cpu *c, struct space *s, uint64_t tag, bool stale)
{
    uint64_t *held = &c->held[asid_of(tag)];

    if (stale)
        forget(c);
    c->space = s;
    c->serial = s->serial;
    c->tag = tag;
    if (*held && *held != s->serial)
        return false;
    *held = s->serial;
    return asid_of(tag) != 0;
}

/* Enters the space. Returns whether the TLB had to be flushed. */
static bool enter(unsigned cpu, struct space *s)
{
    uint64_t tag = asid_enter(&asids, cpu, &s->tag);
    void (*others)(void) = meanwhile;

    meanwhile = NULL; /* the lock excludes the other CPUs */
    bool stale = !tag && asid_assign(&asids, cpu, &s->tag);
    assert_true(use(&cpus[cpu], s, tag ? tag : s->tag, stale));
    meanwhile = others;
    return stale;
}

/* Checks that each CPU uses a space under the identifier that an invalidation of the space would
 * name. */
static void check(unsigned used)
{
    assert_null(asid_check(&asids));
    for (unsigned i = 0; i < used; i++) {
        const struct cpu *c = &cpus[i];
        if (c->space && c->space->serial == c->serial)
            assert_int_equal(asid_of(c->space->tag), asid_of(c->tag));
    }
    for (unsigned i = 0; i < SPACES; i++) {
        for (unsigned k = 0; k < i; k++)
            assert_true(!spaces[i].tag || spaces[i].tag != spaces[k].tag);
    }
}

static void nothing_is_forgotten_while_identifiers_last(void **state)
{
    (void)state;
    asid_init(&asids, SPACES + 1, 4);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < SPACES; i++)
            assert_false(enter(i % 4, &spaces[i]));
    }
    check(4);
}

static void one_space_more_begins_a_generation_and_each_cpu_forgets_once(void **state)
{
    (void)state;
    asid_init(&asids, ASID_COUNT_MIN, 3);
    for (unsigned i = 0; i < ASID_COUNT_MIN - 1; i++)
        assert_false(enter(i == 0 ? 1 : 0, &spaces[i]));
    assert_true(enter(0, &spaces[SPACES - 1]));
    assert_false(enter(0, &spaces[1]));
    assert_true(enter(1, &spaces[1]));
    assert_false(enter(1, &spaces[0]));
    assert_true(enter(2, &spaces[2]));
    check(3);
}

static void who_is_used_keeps_its_identifier_through_generations(void **state)
{
    (void)state;
    asid_init(&asids, ASID_COUNT_MIN, CPUS);
    for (unsigned cpu = 1; cpu < CPUS; cpu++)
        enter(cpu, &spaces[cpu]);
    for (unsigned i = 0; i < 20 * ASID_COUNT_MIN; i++) {
        enter(0, &spaces[CPUS + i % (SPACES - CPUS)]);
        check(CPUS);
    }
    for (unsigned cpu = 1; cpu < CPUS; cpu++) {
        uint32_t asid = asid_of(cpus[cpu].tag);
        enter(cpu % 4 ? cpu : 0, &spaces[cpu]);
        assert_int_equal(asid_of(spaces[cpu].tag), asid);
    }
    check(CPUS);
}

static void too_few_identifiers_are_refused(void **state)
{
    (void)state;
    EXPECT_PANIC(asid_init(&asids, ASID_COUNT_MIN - 1, 1));
    EXPECT_PANIC(asid_init(&asids, ASID_COUNT_MAX + 1, 1));
    EXPECT_PANIC(asid_init(&asids, ASID_COUNT_MAX, CPUS + 1));
}

static struct {
    uint64_t seed;
    unsigned cpus, spaces, now; /* now: the CPU in the middle of a switch */
} random_state;

static struct space *random_space(void)
{
    return &spaces[test_random(&random_state.seed) % random_state.spaces];
}

/* Makes a few switches on one other CPU. */
static void switch_elsewhere(void)
{
    unsigned cpu = test_random(&random_state.seed) % random_state.cpus;
    unsigned switches =
        test_random(&random_state.seed) % 8 ? 0 : test_random(&random_state.seed) % 100;

    meanwhile = NULL;
    while (cpu != random_state.now && switches--)
        enter(cpu, random_space());
    meanwhile = switch_elsewhere;
}

static void random_run(uint64_t seed, uint32_t count, unsigned used, void (*others)(void))
{
    fresh(NULL);
    random_state.seed = seed;
    random_state.cpus = used;
    random_state.spaces = 1 + (unsigned)(seed * 37 % SPACES);
    asid_init(&asids, count, used);
    for (unsigned step = 0; step < 4000; step++) {
        struct space *s = random_space();
        random_state.now = test_random(&random_state.seed) % used;
        meanwhile = others;
        if (test_random(&random_state.seed) % 64 == 0)
            *s = (struct space){.serial = ++serials};
        else
            enter(random_state.now, s);
        meanwhile = NULL;
        if (step % 16 == 0)
            check(used);
    }
}

static const uint32_t counts[] = {ASID_COUNT_MIN, 100, 256, ASID_COUNT_MAX};

static void random_switches_never_mix_spaces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        random_run(seed * 7919, counts[seed % ARRAY_SIZE(counts)], 1 + (unsigned)(seed * 11 % CPUS),
                   NULL);
}

static void switches_in_the_midst_of_others_never_mix_spaces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        random_run(seed * 7919, counts[seed % 3], 2 + (unsigned)(seed * 11 % 30), switch_elsewhere);
}

/* ---- At the same time ------------------------------------------------------------------------ */

#define THREADS 4
#define STEPS   20000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned mixed, moved;

static void *run(void *arg)
{
    unsigned cpu = (unsigned)(uintptr_t)arg;
    struct cpu *c = &cpus[cpu];
    uint64_t random = cpu + 1;

    for (unsigned step = 0; step < STEPS; step++) {
        struct space *s = &spaces[test_random(&random) % 90];
        uint64_t tag = asid_enter(&asids, cpu, &s->tag);
        bool stale = false;
        if (!tag) {
            pthread_mutex_lock(&lock);
            stale = asid_assign(&asids, cpu, &s->tag);
            tag = s->tag;
            pthread_mutex_unlock(&lock);
        }
        if (!use(c, s, tag, stale))
            __atomic_fetch_add(&mixed, 1, __ATOMIC_RELAXED);
        for (unsigned look = 0; look < test_random(&random) % 50; look++) {
            if (asid_of(__atomic_load_n(&s->tag, __ATOMIC_RELAXED)) != asid_of(tag))
                __atomic_fetch_add(&moved, 1, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

static void cpus_that_switch_at_once_never_mix_spaces(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    asid_init(&asids, ASID_COUNT_MIN, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(mixed, 0);
    assert_int_equal(moved, 0);
    assert_null(asid_check(&asids));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_forgotten_while_identifiers_last, fresh),
        cmocka_unit_test_setup(one_space_more_begins_a_generation_and_each_cpu_forgets_once, fresh),
        cmocka_unit_test_setup(who_is_used_keeps_its_identifier_through_generations, fresh),
        cmocka_unit_test(too_few_identifiers_are_refused),
        cmocka_unit_test(random_switches_never_mix_spaces),
        cmocka_unit_test(switches_in_the_midst_of_others_never_mix_spaces),
        cmocka_unit_test_setup(cpus_that_switch_at_once_never_mix_spaces, fresh),
    };

    return cmocka_run_group_tests_name("asid", tests, NULL, NULL);
}
