/* Events that are written in place are, byte by byte, what the table of events describes. */
#include "test/host/double/expect_panic.h"
#include "kernel/trace/events.h"

#define SIZE 512

static uint8_t by_table[SIZE], in_place[SIZE];
static struct ctf_packet a, b;

/* Puts values that fill their fields by the table. Returns where the event's fields are to be
 * written in the other packet. */
static void *begin_event(enum trace_event id, const uint64_t *values, uint32_t bytes)
{
    ctf_begin(&a, by_table, SIZE, 0);
    ctf_begin(&b, in_place, SIZE, 0);
    memset(by_table, 0, SIZE);
    memset(in_place, 0, SIZE);
    assert_int_equal(ctf_fields_bytes(&trace_events[id]), bytes);
    assert_true(ctf_put(&a, trace_events, id, 77, values));
    void *to = ctf_place(&b, id, 77, bytes);
    assert_non_null(to);
    return to;
}

static void expect_same(void)
{
    assert_int_equal(a.used, b.used);
    assert_int_equal(a.events, b.events);
    assert_int_equal(a.end, b.end);
    assert_memory_equal(by_table, in_place, SIZE);
}

static void a_quantum(void **state)
{
    const uint64_t v[] = {0x11121314,
                          0x21222324,
                          0x31323334,
                          TRACE_SLEPT,
                          TRACE_BY_TIME,
                          0x4142434445464748,
                          0x51525354,
                          0x61626364,
                          1,
                          2,
                          3,
                          4,
                          5,
                          6,
                          0xffffffff};
    struct trace_quantum *q = begin_event(TRACE_QUANTUM, v, sizeof *q);
    (void)state;

    *q = (struct trace_quantum){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2],
                                (uint8_t)v[3],  (uint8_t)v[4],  v[5],
                                (uint32_t)v[6], (uint32_t)v[7], {1, 2, 3, 4, 5, 6, 0xffffffff}};
    expect_same();
}

static void a_sum_of_quanta(void **state)
{
    const uint64_t v[] = {0x11121314,
                          0x21222324,
                          0x31323334,
                          0x41424344,
                          0x5152,
                          TRACE_RUNNING,
                          TRACE_CREATED,
                          1ull << 40,
                          2ull << 41,
                          3ull << 42,
                          4ull << 43,
                          1,
                          2,
                          3,
                          4,
                          5,
                          6,
                          UINT64_MAX};
    struct trace_quantum_sum *q = begin_event(TRACE_QUANTUM_SUM, v, sizeof *q);
    (void)state;

    *q = (struct trace_quantum_sum){.tid = (uint32_t)v[0],
                                    .next_tid = (uint32_t)v[1],
                                    .waker = (uint32_t)v[2],
                                    .quanta = (uint32_t)v[3],
                                    .on_cpu = (uint16_t)v[4],
                                    .left = (uint8_t)v[5],
                                    .woken = (uint8_t)v[6],
                                    .start_ns = v[7],
                                    .end_ns = v[8],
                                    .ran_ns = v[9],
                                    .waited_ns = v[10],
                                    .count = {1, 2, 3, 4, 5, 6, UINT64_MAX}};
    expect_same();
}

static void a_wake_up(void **state)
{
    const uint64_t v[] = {0x11121314, 0x21222324, 0x3132, TRACE_BY_SIGNAL, 0x4142434445464748};
    struct trace_wake_up *w = begin_event(TRACE_WAKE, v, sizeof *w);
    (void)state;

    *w =
        (struct trace_wake_up){(uint32_t)v[0], (uint32_t)v[1], (uint16_t)v[2], (uint8_t)v[3], v[4]};
    expect_same();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantum),
        cmocka_unit_test(a_sum_of_quanta),
        cmocka_unit_test(a_wake_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
