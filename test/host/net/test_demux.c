/* demux.c: a table of many keys, against a plain array. */
#include "test/host/double/expect_panic.h"
#include "kernel/net/lwip/demux.h"
#include "test/host/double/random.h"

#define NODES 3000
#define STEPS 200000

static struct demux table;
static struct demux_node nodes[NODES];
static bool inside[NODES];

static struct demux_node **make_buckets(unsigned bits)
{
    struct demux_node **b = calloc((size_t)1 << bits, sizeof(*b));

    assert_non_null(b);
    return b;
}

static void begin(void)
{
    memset(nodes, 0, sizeof(nodes));
    memset(inside, 0, sizeof(inside));
    demux_init(&table, make_buckets(DEMUX_BITS_MIN), DEMUX_BITS_MIN, 0x9e3779b97f4a7c15);
}

static void grow(void)
{
    if (demux_is_full(&table))
        free(demux_grow(&table, make_buckets(table.bits + 1)));
}

static unsigned count(uint64_t key)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NODES; i++)
        n += inside[i] && nodes[i].key == key;
    return n;
}

/* Whether the table has exactly the nodes of a key that it should. */
static void check(uint64_t key)
{
    unsigned n = 0;

    for (const struct demux_node *i = demux_first(&table, key); i; i = demux_after(&table, i)) {
        assert_true(i->key == key);
        assert_true(inside[i - nodes]);
        assert_true(n++ < NODES);
    }
    assert_int_equal(n, count(key));
}

static void put(unsigned i, uint64_t key)
{
    demux_put(&table, &nodes[i], key);
    inside[i] = true;
    grow();
}

static void a_node_is_found_by_its_key(UNUSED void **state)
{
    begin();
    put(0, 5);
    assert_ptr_equal(demux_first(&table, 5), &nodes[0]);
    assert_null(demux_after(&table, &nodes[0]));
    assert_null(demux_first(&table, 6));
    free(table.buckets);
}

static void nodes_of_a_key_come_in_the_order_in_which_they_were_put(UNUSED void **state)
{
    begin();
    for (unsigned i = 0; i < 3; i++)
        put(i, 7);
    assert_ptr_equal(demux_first(&table, 7), &nodes[0]);
    assert_ptr_equal(demux_after(&table, &nodes[0]), &nodes[1]);
    demux_drop(&table, &nodes[0]);
    assert_ptr_equal(demux_first(&table, 7), &nodes[1]);
    assert_ptr_equal(demux_after(&table, &nodes[1]), &nodes[2]);
    free(table.buckets);
}

/* Few different keys, many: nodes of a key and keys of a bucket are many in turn. */
static void any_operations_leave_what_an_array_has(UNUSED void **state)
{
    uint64_t random = 12345;

    for (uint64_t keys = 10; keys <= 100000; keys *= 100) {
        begin();
        for (unsigned step = 0; step < STEPS / 4; step++) {
            unsigned i = (unsigned)(test_random(&random) >> 33) % NODES;
            uint64_t key = (test_random(&random) >> 33) % keys << 20;
            if (inside[i]) {
                key = nodes[i].key;
                demux_drop(&table, &nodes[i]);
                inside[i] = false;
            } else {
                put(i, key);
            }
            if (step % 16 == 0)
                check(key);
        }
        for (unsigned i = 0; i < NODES; i++)
            if (inside[i]) {
                demux_drop(&table, &nodes[i]);
                inside[i] = false;
            }
        assert_int_equal(table.keys, 0);
        free(table.buckets);
    }
}

/* With a bucket for each, a bucket has eight of 10,000 at most: as balls thrown at random. */
static void ends_of_one_host_are_spread_over_buckets(UNUSED void **state)
{
    const struct demux_secret secret = {
        {0xd1342543de82ef95, 0xaf251af3b0f025b5, 0xb564ef22ec7aece5, 0xf7c2ebc08f67f2b5}};
    static uint8_t of_bucket[1 << 14];
    unsigned most = 0;

    for (unsigned port = 0; port < 10000; port++) {
        const struct demux_ends e = {0x0100007f, 0x0100007f, (uint16_t)(49152 + port), 80};
        uint8_t *n = &of_bucket[demux_key(&secret, &e) * 0x9e3779b97f4a7c15 >> 50];
        most = MAX(most, (unsigned)++*n);
    }
    assert_true(most <= 8);
}

/* 48 connections of ports that count up, three listeners: whatever the secret, each gets some. */
static void ends_that_count_up_are_spread_over_all(UNUSED void **state)
{
    uint64_t random = 12345;

    for (unsigned run = 0; run < 10000; run++) {
        struct demux_secret secret;
        for (unsigned i = 0; i < ARRAY_SIZE(secret.word); i++)
            secret.word[i] = test_random(&random);
        unsigned of[3] = {0};

        for (unsigned i = 0; i < 48; i++) {
            const struct demux_ends e = {.remote_ip = 0x0100007f,
                                         .remote_port = (uint16_t)(49152 + i)};
            unsigned chosen = demux_choose(&secret, &e, 3);
            assert_true(chosen < 3);
            of[chosen]++;
        }
        assert_true(of[0] && of[1] && of[2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_is_found_by_its_key),
        cmocka_unit_test(nodes_of_a_key_come_in_the_order_in_which_they_were_put),
        cmocka_unit_test(any_operations_leave_what_an_array_has),
        cmocka_unit_test(ends_of_one_host_are_spread_over_buckets),
        cmocka_unit_test(ends_that_count_up_are_spread_over_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
