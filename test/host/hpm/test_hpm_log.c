/* Logs of totals: rings against a list of all that was told, with random threads, CPUs and
 * readers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "hpm/policy/log.h"
#include "test/host/double/expect_panic.h"

enum { CPUS = 3, THREADS = 40, FIGURES = 5, BYTES = 1500, STEPS = 20000 };

static uint32_t seed;
static struct log_ring ring[CPUS];
static uint64_t memory[CPUS][BYTES / 8];

/* Totals of threads, and what the reader knows of them. */
static struct thread {
    uint64_t length, counted[FIGURES], seen[FIGURES];
    bool ended, told; /* told: its last record was read */
    uint64_t known;   /* length in its latest record */
} threads[THREADS];
static uint64_t told, taken, lost, rests;
static struct mux_raw rest[FIGURES];
static uint64_t rest_length;

static uint32_t next_random(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static void begin(uint32_t with)
{
    seed = with;
    memset(threads, 0, sizeof threads);
    memset(rest, 0, sizeof rest);
    memset(memory, 0, sizeof memory);
    told = taken = lost = rests = rest_length = 0;
    for (unsigned c = 0; c < CPUS; c++)
        assert_int_equal(log_init(&ring[c], memory[c], BYTES, FIGURES, c),
                         BYTES / log_record_bytes(FIGURES) - 2);
}

static void run(struct thread *t)
{
    t->length += 1 + next_random(1000);
    for (unsigned f = 0; f < FIGURES; f++) {
        uint64_t part = next_random(500);
        t->seen[f] += part;
        t->counted[f] += part ? next_random(90) : 0;
    }
}

static void tell(unsigned cpu, unsigned number, enum log_why why)
{
    struct thread *t = &threads[number];
    struct log_record *r = log_place(&ring[cpu], told);

    r->tid = number + 1;
    r->pid = 7;
    r->why = (uint8_t)why;
    r->length = t->length;
    for (unsigned f = 0; f < FIGURES; f++)
        r->figure[f] = (struct mux_raw){t->counted[f], t->seen[f]};
    log_commit(&ring[cpu], r);
    t->ended = why == LOG_ENDED;
    told++;
}

static void note(unsigned cpu, const struct log_record *r)
{
    assert_int_equal(r->cpu, cpu);
    assert_int_equal(r->figures, FIGURES);
    lost += r->lost;
    if (r->why == LOG_REST) {
        rests += r->tid;
        rest_length += r->length;
        for (unsigned f = 0; f < FIGURES; f++) {
            rest[f].counted += r->figure[f].counted;
            rest[f].seen += r->figure[f].seen;
        }
        return;
    }
    struct thread *t = &threads[r->tid - 1];
    taken++;
    t->known = MAX(t->known, r->length);
    if (r->why != LOG_ENDED)
        return;
    assert_false(t->told);
    t->told = true;
    assert_int_equal(r->length, t->length);
    for (unsigned f = 0; f < FIGURES; f++) {
        assert_int_equal(r->figure[f].counted, t->counted[f]);
        assert_int_equal(r->figure[f].seen, t->seen[f]);
    }
}

static void take(unsigned cpu, uint64_t most)
{
    uint64_t n = MIN(log_waiting(&ring[cpu]), most);

    assert_true(log_waiting(&ring[cpu]) <= ring[cpu].size);
    for (uint64_t i = 0; i < n; i++)
        note(cpu, log_at(&ring[cpu], i));
    log_taken(&ring[cpu], n);
}

/* What was told of threads that have ended is all that they have counted, in each figure. */
static void adds_up(void)
{
    uint64_t length = rest_length;
    struct mux_raw sum[FIGURES];
    unsigned ended = 0;

    memcpy(sum, rest, sizeof sum);
    for (unsigned i = 0; i < THREADS; i++) {
        const struct thread *t = &threads[i];
        ended += t->ended;
        length += t->told ? t->length : 0;
        length -= t->ended ? t->length : 0;
        for (unsigned f = 0; f < FIGURES; f++) {
            sum[f].counted += t->told ? t->counted[f] : 0;
            sum[f].counted -= t->ended ? t->counted[f] : 0;
            sum[f].seen += t->told ? t->seen[f] : 0;
            sum[f].seen -= t->ended ? t->seen[f] : 0;
        }
        rests += t->told;
    }
    assert_int_equal(rests, ended);
    assert_int_equal(length, 0);
    for (unsigned f = 0; f < FIGURES; f++)
        assert_true(!sum[f].counted && !sum[f].seen);
    assert_int_equal(taken + lost, told);
}

static void finish(void)
{
    for (unsigned c = 0; c < CPUS; c++) {
        take(c, UINT64_MAX);
        log_tell_rest(&ring[c], told);
        take(c, UINT64_MAX);
        log_tell_rest(&ring[c], told);
        assert_int_equal(log_waiting(&ring[c]), 0); /* a rest is told once */
    }
    adds_up();
}

/* most: how many records the reader takes at a time; one in `seldom` steps it does. */
static void random_life(uint32_t with, uint32_t most, uint32_t seldom)
{
    begin(with);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned number = next_random(THREADS), cpu = next_random(CPUS);
        if (threads[number].ended)
            continue;
        run(&threads[number]);
        tell(cpu, number, next_random(300) ? next_random(2) : LOG_ENDED);
        if (!next_random(seldom))
            take(next_random(CPUS), most);
        if (!next_random(50))
            log_tell_rest(&ring[cpu], told);
    }
    finish();
}

static void totals_add_up_whatever_is_lost(void **state)
{
    (void)state;
    for (uint32_t s = 1; s <= 40; s++)
        random_life(s, 1 + s % 7, 1 + s % 9);
    for (uint32_t s = 1; s <= 10; s++)
        random_life(s, 1, 1000);
}

static void nothing_is_lost_that_there_is_room_for(void **state)
{
    (void)state;
    random_life(5, UINT32_MAX, 1);
    begin(9);
    for (unsigned i = 0; i < ring[0].size; i++)
        tell(0, i, LOG_LEFT);
    assert_int_equal(log_waiting(&ring[0]), ring[0].size);
    finish();
    assert_int_equal(lost, 0);
}

static void records_come_in_order_and_a_full_ring_keeps_them(void **state)
{
    (void)state;
    begin(3);
    for (unsigned i = 0; i < 3 * ring[1].size; i++)
        tell(1, i % THREADS, LOG_TIME);
    for (uint64_t i = 0; i < ring[1].size; i++) {
        assert_int_equal(log_at(&ring[1], i)->time_ns, i);
        assert_int_equal(log_at(&ring[1], i)->lost, 0);
    }
    take(1, 1);
    tell(1, 0, LOG_TIME);
    assert_int_equal(log_at(&ring[1], ring[1].size - 1)->lost, 2 * ring[1].size);
    take(1, UINT64_MAX);
    assert_int_equal(taken + lost, told);
}

static void an_end_without_room_is_told_before_the_next_record(void **state)
{
    (void)state;
    begin(4);
    for (unsigned i = 0; i < ring[0].size; i++)
        tell(0, 0, LOG_TIME);
    run(&threads[1]);
    run(&threads[2]);
    tell(0, 1, LOG_ENDED);
    tell(0, 2, LOG_ENDED);
    take(0, UINT64_MAX);
    tell(0, 3, LOG_TIME);
    const struct log_record *r = log_at(&ring[0], 0);
    assert_int_equal(r->why, LOG_REST);
    assert_int_equal(r->tid, 2);
    assert_int_equal(r->length, threads[1].length + threads[2].length);
    assert_int_equal(r->figure[4].counted, threads[1].counted[4] + threads[2].counted[4]);
    assert_int_equal(r->lost, 2);
    assert_int_equal(log_at(&ring[0], 1)->tid, 4);
    finish();
}

static void memory_is_for_three_records_at_least(void **state)
{
    static uint64_t some[1 << 13];
    struct log_ring r;

    (void)state;
    for (unsigned figures = 1; figures <= GROUP_EVENTS_MAX; figures++) {
        size_t record = log_record_bytes(figures);
        assert_int_equal(log_init(&r, some, 3 * record - 1, figures, 0), 0);
        assert_int_equal(log_init(&r, some, 3 * record, figures, 0), 1);
        assert_int_equal(log_init(&r, some, 4096, figures, 0), 4096 / record - 2);
    }
    EXPECT_PANIC(log_init(&r, some, 4096, 0, 0));
    EXPECT_PANIC(log_init(&r, some, sizeof some, GROUP_EVENTS_MAX + 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_add_up_whatever_is_lost),
        cmocka_unit_test(nothing_is_lost_that_there_is_room_for),
        cmocka_unit_test(records_come_in_order_and_a_full_ring_keeps_them),
        cmocka_unit_test(an_end_without_room_is_told_before_the_next_record),
        cmocka_unit_test(memory_is_for_three_records_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
