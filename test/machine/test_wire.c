/* The machine's wire: when frames leave and arrive, in which order, and for which queue. */
#include <stdlib.h>
#include "test/host/double/expect_panic.h"
#include "test/machine/wire.h"

#define LATENCY 5000
#define CYCLE   256

static struct wire w;

/* 1000 megabits a second: 8 cycles a byte. */
static void begin_wire(uint64_t latency, uint32_t mbps)
{
    for (unsigned port = 0; w.there && port < MACHINE_WIRE_PORTS; port++) {
        wire_forget(&w, port);
        for (struct wire_frame *f; (f = wire_arriving(&w, port, UINT64_MAX));)
            free(f);
    }
    wire_init(&w, latency, mbps, CYCLE);
}

static void send(unsigned port, uint64_t now, uint32_t bytes)
{
    struct wire_frame *f = wire_send(&w, port, now * CYCLE, bytes);

    assert_non_null(f);
    assert_int_equal(f->bytes, bytes);
}

/* Checks that the next event is that a frame of this port leaves then, and not before. */
static void leaves_at(unsigned port, uint64_t time, uint32_t bytes)
{
    assert_int_equal(wire_next(&w), time * CYCLE);
    assert_null(wire_leaving(&w, port, time * CYCLE - 1));
    struct wire_frame *f = wire_leaving(&w, port, time * CYCLE);
    assert_non_null(f);
    assert_int_equal(f->bytes, bytes);
}

static void arrives_at(unsigned port, uint64_t time, uint32_t bytes)
{
    assert_int_equal(wire_next(&w), time * CYCLE);
    assert_null(wire_arriving(&w, port, time * CYCLE - 1));
    struct wire_frame *f = wire_arriving(&w, port, time * CYCLE);
    assert_non_null(f);
    assert_int_equal(f->bytes, bytes);
    free(f);
}

static void a_frame_takes_its_bytes_and_the_latency(void **state)
{
    (void)state;
    begin_wire(LATENCY, 1000);
    assert_int_equal(wire_next(&w), UINT64_MAX);
    send(0, 100, 1000);
    leaves_at(0, 100 + 1024 * 8, 1000);
    arrives_at(0, 100 + 1024 * 8 + LATENCY, 1000);
    assert_int_equal(wire_next(&w), UINT64_MAX);
    send(1, 20000, 14); /* as long as one of 60 bytes */
    leaves_at(1, 20000 + 84 * 8, 14);
    arrives_at(1, 20000 + 84 * 8 + LATENCY, 14);
}

static void frames_follow_each_other_and_directions_do_not(void **state)
{
    (void)state;
    begin_wire(LATENCY, 1000);
    send(0, 0, 76);
    send(0, 0, 176);
    send(1, 0, 276);
    leaves_at(0, 800, 76);
    leaves_at(0, 2400, 176);
    leaves_at(1, 2400, 276);
    arrives_at(0, 800 + LATENCY, 76);
    arrives_at(0, 2400 + LATENCY, 176);
    arrives_at(1, 2400 + LATENCY, 276);
    send(0, 10000, 76); /* the wire is long free */
    leaves_at(0, 10800, 76);
    begin_wire(LATENCY, 0);
    for (unsigned i = 0; i < 3; i++)
        send(0, 7, 1500);
    for (unsigned i = 0; i < 3; i++)
        leaves_at(0, 7, 1500);
    for (unsigned i = 0; i < 3; i++)
        arrives_at(0, 7 + LATENCY, 1500);
}

/* CPUs' clocks differ a little, so a later store may be an earlier frame. */
static void an_earlier_frame_that_is_offered_later_follows(void **state)
{
    (void)state;
    begin_wire(LATENCY, 1000);
    send(0, 1000, 76);
    send(0, 900, 176);
    leaves_at(0, 1800, 76);
    leaves_at(0, 3400, 176);
}

static void what_has_left_is_not_forgotten(void **state)
{
    (void)state;
    begin_wire(LATENCY, 1000);
    for (unsigned i = 0; i < 3; i++)
        send(0, 0, 76 + i);
    leaves_at(0, 800, 76);
    wire_forget(&w, 0);
    assert_null(wire_leaving(&w, 0, UINT64_MAX));
    send(0, 1000, 276);
    leaves_at(0, 1000 + 2400, 276);
    arrives_at(0, 800 + LATENCY, 76);
    arrives_at(0, 3400 + LATENCY, 276);
    wire_forget(&w, 0);
    send(0, 10000, 76);
    wire_forget(&w, 0);
    assert_int_equal(wire_next(&w), UINT64_MAX);
}

static void nothing_arrives_that_has_not_been_seen_to_leave(void **state)
{
    (void)state;
    begin_wire(0, 0);
    send(0, 5, 100);
    assert_null(wire_arriving(&w, 0, UINT64_MAX));
    leaves_at(0, 5, 100);
    arrives_at(0, 5, 100);
}

/* Against sums: each frame arrives once, in order, at its time. */
static void random_frames_all_arrive_in_order(void **state)
{
    uint64_t seed = 5, now = 0, free_at = 0, due[64];
    unsigned sent = 0, left = 0, arrived = 0;

    (void)state;
    begin_wire(LATENCY, 10000);
    while (arrived < 100000) {
        now += test_random(&seed) % 2000;
        for (struct wire_frame *f; (f = wire_leaving(&w, 1, now * CYCLE)); left++)
            assert_int_equal(f->leaves, due[left % ARRAY_SIZE(due)]);
        for (struct wire_frame *f; (f = wire_arriving(&w, 1, now * CYCLE)); arrived++) {
            assert_int_equal(f->arrives, due[arrived % ARRAY_SIZE(due)] + LATENCY * CYCLE);
            free(f);
        }
        if (sent - arrived == ARRAY_SIZE(due))
            continue;
        uint32_t bytes = (uint32_t)(60 + test_random(&seed) % 1455);
        free_at = MAX(free_at, now * CYCLE) + (bytes + 24) * (uint64_t)8000 * CYCLE / 10000;
        due[sent++ % ARRAY_SIZE(due)] = free_at;
        send(1, now, bytes);
    }
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static const uint8_t key[MACHINE_WIRE_KEY_BYTES] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

#define TCP_BYTES 54
/* From 66.9.149.187, port 2794, to 161.142.100.80, port 1766: the first pair that the
 * specification of receive-side scaling verifies hashes with. */
static const uint8_t segment[TCP_BYTES] = {
    0,    0,    0, 0, 0,  0, 0, 0, 0,  0, 0,    0,    0x08, 0x00, 0x45, 0,  0,    40,
    0,    0,    0, 0, 64, 6, 0, 0, 66, 9, 149,  187,  161,  142,  100,  80, 0x0a, 0xea,
    0x06, 0xe6, 0, 0, 0,  0, 0, 0, 0,  0, 0x50, 0x10, 0,    0,    0,    0,  0,    0};
#define BY_PORTS     0x51ccc178u
#define BY_ADDRESSES 0x323e8fc2u

static void hashed(const uint8_t *frame, uint32_t bytes, bool there, uint32_t expected)
{
    uint32_t hash;

    assert_int_equal(wire_hash_frame(key, frame, bytes, &hash), there);
    assert_int_equal(hash, expected);
}

static void hashes_are_those_of_the_specification(void **state)
{
    uint8_t f[TCP_BYTES];

    (void)state;
    hashed(segment, sizeof(segment), true, BY_PORTS);
    memcpy(f, segment, sizeof(f));
    f[14 + 9] = 17;
    hashed(f, sizeof(f), true, BY_ADDRESSES);
    memcpy(f, segment, sizeof(f));
    f[14 + 6] = 0x20; /* more fragments */
    hashed(f, sizeof(f), true, BY_ADDRESSES);
    f[14 + 6] = 0;
    f[14 + 7] = 1; /* a later one */
    hashed(f, sizeof(f), true, BY_ADDRESSES);
}

static void what_is_no_packet_has_no_hash(void **state)
{
    uint8_t f[TCP_BYTES];

    (void)state;
    for (uint32_t bytes = 0; bytes < TCP_BYTES; bytes++)
        hashed(segment, bytes, false, 0);
    memcpy(f, segment, sizeof(f));
    f[12] = 0x86; /* another protocol */
    hashed(f, sizeof(f), false, 0);
    memcpy(f, segment, sizeof(f));
    f[14] = 0x44; /* a header of 16 bytes */
    hashed(f, sizeof(f), false, 0);
    f[14] = 0x4f; /* one of 60, in 40 */
    hashed(f, sizeof(f), false, 0);
    memcpy(f, segment, sizeof(f));
    f[14 + 3] = 22; /* no room for ports */
    hashed(f, sizeof(f), true, BY_ADDRESSES);
}

/* The sum without the checksum's field, computed in another way. */
static void put_sum(uint8_t *f, unsigned at, unsigned bytes)
{
    uint64_t sum = f[23] + bytes;

    f[at] = f[at + 1] = 0;
    for (unsigned i = 26; i < 34 + bytes; i += 2)
        sum += (uint64_t)f[i] << 8 | (i + 1 < 34 + bytes ? f[i + 1] : 0);
    sum = 0xffff - sum % 0xffff;
    f[at] = (uint8_t)(sum >> 8);
    f[at + 1] = (uint8_t)sum;
}

static void checksums_are_looked_at(void **state)
{
    uint8_t f[TCP_BYTES + 3];

    (void)state;
    memset(f, 0x5a, sizeof(f));
    memcpy(f, segment, sizeof(segment));
    f[14 + 3] = 43;
    put_sum(f, 50, 23);
    assert_true(wire_sum_is_right(f, sizeof(f)));
    for (unsigned i = 26; i < sizeof(f); i++) {
        f[i] ^= 4;
        assert_false(wire_sum_is_right(f, sizeof(f)));
        f[i] ^= 4;
    }
    assert_false(wire_sum_is_right(f, sizeof(f) - 1));
    f[14 + 9] = 17;
    put_sum(f, 40, 23);
    assert_true(wire_sum_is_right(f, sizeof(f)));
    f[40] = f[41] = 0;
    assert_false(wire_sum_is_right(f, sizeof(f)));
    f[14 + 9] = 1;
    assert_false(wire_sum_is_right(f, sizeof(f)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_takes_its_bytes_and_the_latency),
        cmocka_unit_test(frames_follow_each_other_and_directions_do_not),
        cmocka_unit_test(an_earlier_frame_that_is_offered_later_follows),
        cmocka_unit_test(what_has_left_is_not_forgotten),
        cmocka_unit_test(nothing_arrives_that_has_not_been_seen_to_leave),
        cmocka_unit_test(random_frames_all_arrive_in_order),
        cmocka_unit_test(hashes_are_those_of_the_specification),
        cmocka_unit_test(what_is_no_packet_has_no_hash),
        cmocka_unit_test(checksums_are_looked_at),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
