/* A CPU's packets of events: their order, lost events, and the counts of both. */
#include "test/host/double/expect_panic.h"
#include "kernel/trace/ring.h"

#define PACKETS 4

static const struct ctf_event types[] = {
    {"number", (const struct ctf_field[]){{"n", CTF_U64, NULL}, {0}}},
    {"text", (const struct ctf_field[]){{"s", CTF_TEXT, NULL}, {0}}},
    {0},
};
static const uint8_t uuid[CTF_UUID_BYTES];
static uint8_t memory[PACKETS * RING_PACKET_BYTES];
static struct ring ring;
static uint64_t now;

#define EVENTS_IN_PACKET ((RING_PACKET_BYTES - CTF_HEADER_BYTES) / 17)

static int begin(void **state)
{
    (void)state;
    now = 1000;
    ring_init(&ring, memory, PACKETS, types, uuid, 3, now);
    return 0;
}

static void put(uint64_t n)
{
    ring_put(&ring, 0, ++now, &n);
    ring_check(&ring);
}

static uint64_t at(const void *packet, unsigned byte)
{
    uint64_t v;

    memcpy(&v, (const uint8_t *)packet + byte, sizeof(v));
    return v;
}

static bool give(uint32_t *slot, const uint8_t **packet, uint32_t *bytes)
{
    void *p;
    bool any = ring_give(&ring, slot, &p, bytes);

    *packet = p;
    ring_check(&ring);
    return any;
}

/* Reads and returns the next packet, and checks its first number and its sequence number. */
static uint32_t read_packet(uint64_t first, uint64_t sequence)
{
    const uint8_t *packet;
    uint32_t slot, bytes;

    assert_true(give(&slot, &packet, &bytes));
    assert_int_equal(at(packet, 56), sequence);
    uint32_t events = (uint32_t)(at(packet, 40) / 8 - CTF_HEADER_BYTES) / 17;
    if (events)
        assert_int_equal(at(packet, CTF_HEADER_BYTES + 9), first);
    ring_return(&ring, slot);
    ring_check(&ring);
    return events;
}

static void the_first_packet_is_empty(void **state)
{
    (void)state;
    assert_int_equal(read_packet(0, 0), 0);
}

static void full_packets_are_given_in_order(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * EVENTS_IN_PACKET + 1; i++)
        put(i);
    read_packet(0, 0);
    assert_int_equal(read_packet(0, 1), EVENTS_IN_PACKET);
    assert_int_equal(read_packet(EVENTS_IN_PACKET, 2), EVENTS_IN_PACKET);
    const uint8_t *packet;
    uint32_t slot, bytes;
    assert_false(give(&slot, &packet, &bytes));
    assert_true(ring_flush(&ring, now));
    assert_int_equal(read_packet(2 * EVENTS_IN_PACKET, 3), 1);
    assert_int_equal(ring.taken, ring.delivered);
}

static void a_full_ring_discards_and_says_so_in_the_next_packet(void **state)
{
    uint32_t slot, bytes;
    const uint8_t *packet;

    (void)state;
    for (unsigned i = 0; i < 3 * EVENTS_IN_PACKET + 10; i++) /* the first packet is not read yet */
        put(i);
    assert_int_equal(ring.context.discarded, 10);
    assert_false(ring_flush(&ring, now));
    for (unsigned i = 0; i < PACKETS; i++) {
        assert_true(give(&slot, &packet, &bytes));
        assert_int_equal(at(packet, 64), 0);
        ring_return(&ring, slot);
    }
    assert_true(ring_flush(&ring, now));
    assert_true(give(&slot, &packet, &bytes));
    assert_int_equal(at(packet, 64), 10);
    assert_int_equal(at(packet, 40) / 8, CTF_HEADER_BYTES);
    ring_return(&ring, slot);
    assert_true(ring_flush(&ring, now));
    assert_false(give(&slot, &packet, &bytes));
    assert_int_equal(ring.taken, ring.delivered + 10);
}

static void packets_come_back_in_any_order(void **state)
{
    uint32_t slot[PACKETS], bytes;
    const uint8_t *packet;

    (void)state;
    for (unsigned i = 0; i < 3 * EVENTS_IN_PACKET + 1; i++)
        put(i);
    for (unsigned i = 0; i < PACKETS; i++)
        assert_true(give(&slot[i], &packet, &bytes));
    ring_return(&ring, slot[2]);
    ring_return(&ring, slot[1]);
    ring_check(&ring);
    put(0);
    assert_int_equal(ring.context.discarded, 2); /* the oldest is still away */
    ring_return(&ring, slot[0]);
    put(0);
    assert_int_equal(ring.context.discarded, 2);
    EXPECT_PANIC(ring_return(&ring, PACKETS));
}

static void a_wanted_flush_comes_with_the_next_event(void **state)
{
    (void)state;
    read_packet(0, 0);
    put(1);
    ring.flush_wanted = true;
    put(2);
    assert_false(ring.flush_wanted);
    assert_int_equal(read_packet(1, 1), 1);
    ring_flush(&ring, now);
    assert_int_equal(read_packet(2, 2), 1);
}

/* Places an event of `n`, as put() puts one. */
static bool place(uint64_t n, uint64_t time)
{
    void *to = ring_place(&ring, 0, time, sizeof n);

    if (to)
        memcpy(to, &n, sizeof n);
    ring_check(&ring);
    return to;
}

static void placed_events_are_as_others(void **state)
{
    const uint8_t *packet;
    uint32_t slot, bytes;
    (void)state;

    for (unsigned i = 0; i < EVENTS_IN_PACKET; i++) {
        if (i % 2)
            put(i);
        else
            assert_true(place(i, ++now));
    }
    assert_true(place(EVENTS_IN_PACKET, now - 5)); /* earlier than the one before: of its time */
    assert_true(give(&slot, &packet, &bytes));     /* the first, which is empty */
    ring_return(&ring, slot);
    assert_true(give(&slot, &packet, &bytes));
    assert_int_equal(at(packet, 40) / 8, CTF_HEADER_BYTES + 17 * EVENTS_IN_PACKET);
    for (unsigned i = 0; i < EVENTS_IN_PACKET; i++) {
        const uint8_t *event = packet + CTF_HEADER_BYTES + 17 * i;
        assert_int_equal(event[0], 0);
        assert_int_equal(at(event, 1), 1001 + i);
        assert_int_equal(at(event, 9), i);
    }
    ring_return(&ring, slot);
    assert_true(ring_flush(&ring, now));
    assert_true(give(&slot, &packet, &bytes));
    assert_int_equal(at(packet, CTF_HEADER_BYTES + 1), now);
    ring_return(&ring, slot);
    uint64_t had = ring.taken, n = 0;
    while (place(n, ++now)) /* until all packets are full */
        n++;
    assert_true(n >= EVENTS_IN_PACKET);
    assert_int_equal(ring.taken, had + n + 1);
    assert_int_equal(ring.context.discarded, 1);
}

/* A writer and a reader take turns at random: all lost events are counted, and no event comes
 * twice. */
static void random_turns_keep_the_account(void **state)
{
    uint64_t seed = 5, expected_sequence = 0, events = 0;
    uint32_t slots[PACKETS], bytes, away = 0;
    const uint8_t *packet;

    (void)state;
    for (unsigned round = 0; round < 30000; round++) {
        for (uint64_t n = test_random(&seed) % 200; n--;) {
            uint64_t value = test_random(&seed) % 2 ? n : ctf_text("some words");
            if (value == n && test_random(&seed) % 2)
                place(n, ++now);
            else
                ring_put(&ring, value != n, ++now, &value);
        }
        if (test_random(&seed) % 8 == 0)
            ring_flush(&ring, now);
        while (test_random(&seed) % 2 && give(&slots[away], &packet, &bytes)) {
            assert_int_equal(at(packet, 56), expected_sequence++);
            assert_true(bytes <= RING_PACKET_BYTES);
            away++;
        }
        while (away && test_random(&seed) % 2) {
            unsigned pick = test_random(&seed) % away;
            ring_return(&ring, slots[pick]);
            slots[pick] = slots[--away];
        }
        ring_check(&ring);
        events = ring.delivered;
    }
    assert_true(ring.context.discarded > 1000 && events > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_packet_is_empty, begin),
        cmocka_unit_test_setup(full_packets_are_given_in_order, begin),
        cmocka_unit_test_setup(a_full_ring_discards_and_says_so_in_the_next_packet, begin),
        cmocka_unit_test_setup(packets_come_back_in_any_order, begin),
        cmocka_unit_test_setup(a_wanted_flush_comes_with_the_next_event, begin),
        cmocka_unit_test_setup(placed_events_are_as_others, begin),
        cmocka_unit_test_setup(random_turns_keep_the_account, begin),
    };

    return cmocka_run_group_tests_name("trace_ring", tests, NULL, NULL);
}
