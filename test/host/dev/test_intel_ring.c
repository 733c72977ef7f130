/* Descriptors of Intel's controllers: what the driver says in them, and anything that the device
 * may write there. */
#include "test/host/double/expect_panic.h"
#include "kernel/dev/net/intel_ring.h"

#define ROOM 1982

static void a_received_frame_is_read_as_it_was_written(void **state)
{
    volatile struct intel_descriptor d = {{0}};
    struct net_frame f;

    (void)state;
    intel_fill_received(&d, 0x123456789a);
    assert_true(d.word[0] == 0x3456789a && d.word[1] == 0x12 && !d.word[2] && !d.word[3]);
    assert_false(intel_read_received(&d, ROOM, &f));
    d = (struct intel_descriptor){{1, 0xabcdef, 3 | 1 << 5, 60 | 7 << 16}};
    assert_true(intel_read_received(&d, ROOM, &f));
    assert_true(f.bytes == 60 && f.hash == 0xabcdef && !f.broken);
    assert_int_equal(f.flags, NET_CHECKED | NET_HASHED);
    d = (struct intel_descriptor){{0, 0, 3 | 1 << 4 | 1u << 29, ROOM}};
    assert_true(intel_read_received(&d, ROOM, &f));
    assert_true(f.flags == 0 && !f.broken); /* a wrong checksum is the stack's affair */
}

static void what_cannot_be_is_dropped(void **state)
{
    static const struct intel_descriptor wrong[] = {
        {{0, 0, 3, ROOM + 1}},
        {{0, 0, 3, 13}},
        {{0, 0, 3, 0}},
        {{0, 0, 1, 60}},
        {{0, 0, 3 | 1u << 31, 60}},
        {{0, 0, 3 | 1u << 24, 60}},
    };
    uint64_t seed = 3;
    struct net_frame f;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_true(intel_read_received(&wrong[i], ROOM, &f) && f.broken);
    for (unsigned i = 0; i < 1000000; i++) {
        struct intel_descriptor d;
        for (unsigned k = 0; k < 4; k++)
            d.word[k] = (uint32_t)(test_random(&seed) >> 32);
        if (intel_read_received(&d, ROOM, &f))
            assert_true(f.broken || (f.bytes >= NET_HEADER_BYTES && f.bytes <= ROOM));
    }
}

static void parts_and_checksums_are_described(void **state)
{
    struct net_send s = {.parts = 2,
                         .part = {{0x5000000010, 54}, {0x2000, 1446}},
                         .bytes = 1500,
                         .sum = true,
                         .sum_from = 34,
                         .sum_at = 16};
    struct intel_descriptor d;

    (void)state;
    assert_true(intel_82574_sending.fill_context(&d, &s));
    assert_true(d.word[0] == 0 && d.word[1] == (34 | 50 << 8) && d.word[2] == 1u << 29);
    intel_82574_sending.fill_part(&d, &s, 0);
    assert_true(d.word[0] == 0x10 && d.word[1] == 0x50);
    assert_true(d.word[2] == (54 | 1u << 20 | 1u << 29 | 1u << 25) && d.word[3] == 1u << 9);
    intel_82574_sending.fill_part(&d, &s, 1);
    assert_true(d.word[2] == (1446 | 1u << 20 | 1u << 29 | 1u << 25 | 1u << 24 | 1u << 27));
    assert_false(intel_was_sent(&d));
    d.word[3] |= 1;
    assert_true(intel_was_sent(&d));

    assert_true(intel_82576_sending.fill_context(&d, &s));
    assert_true(d.word[0] == (20 | 14 << 9) && d.word[2] == (1u << 29 | 2u << 20 | 1u << 11));
    s.sum_at = 6;
    assert_true(intel_82576_sending.fill_context(&d, &s));
    assert_true(d.word[2] == (1u << 29 | 2u << 20));
    intel_82576_sending.fill_part(&d, &s, 0);
    assert_true(d.word[3] == (1500u << 14 | 1u << 9) && (d.word[2] >> 20 & 15) == 3);
    s.sum_at = 4;
    assert_false(intel_82576_sending.fill_context(&d, &s)); /* neither TCP's nor UDP's */
    s.sum_from = 250;
    s.sum_at = 6;
    assert_false(intel_82574_sending.fill_context(&d, &s)); /* beyond what it can say */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_received_frame_is_read_as_it_was_written),
        cmocka_unit_test(what_cannot_be_is_dropped),
        cmocka_unit_test(parts_and_checksums_are_described),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
