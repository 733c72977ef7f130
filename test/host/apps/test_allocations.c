/* The log of allocations: what is found in a part of memory, against a plain list; logs that are
 * not what they should be. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "test/host/double/expect_panic.h"
#include "apps/libc/allocation_log.h"
#include "apps/tools/measuring/allocations.h"

enum { CAPACITY = 320, ROOM = 8 };

static void write_at(off_t at, const void *from, size_t n)
{
    int file = open(ALLOCATIONS_PATH, O_RDWR);

    assert_true(file >= 0);
    assert_int_equal(pwrite(file, from, n, at), n);
    close(file);
}

static void put(const struct allocations_record *r, uint64_t n)
{
    struct allocations_head head = {.magic = ALLOCATIONS_MAGIC,
                                    .capacity = CAPACITY,
                                    .given = n,
                                    .left_out = {{n > CAPACITY ? n - CAPACITY : 0}}};

    write_at(0, &head, sizeof head);
    write_at(sizeof head, r, (n < CAPACITY ? n : CAPACITY) * sizeof *r);
}

static void put_in_any_order(const struct allocations_record *r, uint64_t n, uint64_t *seed)
{
    struct allocations_record mixed[CAPACITY];

    memcpy(mixed, r, n * sizeof *r);
    for (uint64_t i = n; i > 1; i--) {
        uint64_t other = test_random(seed) % i;
        struct allocations_record swapped = mixed[i - 1];
        mixed[i - 1] = mixed[other];
        mixed[other] = swapped;
    }
    put(mixed, n);
}

static bool meet(const struct allocations_record *a, uint64_t start, uint64_t end)
{
    return a->start < end && start < a->start + a->bytes;
}

static void finds_the_last_of_each_place(void **state)
{
    uint64_t seed = 7;
    (void)state;

    for (unsigned round = 0; round < 200; round++) {
        struct allocations_record r[CAPACITY];
        unsigned n = 1 + (unsigned)(test_random(&seed) % CAPACITY);
        for (unsigned i = 0; i < n; i++)
            r[i] = (struct allocations_record){test_random(&seed) % 4096,
                                               1 + test_random(&seed) % 200,
                                               i,
                                               i,
                                               1 + (uint32_t)(test_random(&seed) % 2),
                                               test_random(&seed) % 8 != 0};
        assert_true(allocations_begin(CAPACITY));
        put_in_any_order(r, n, &seed);
        assert_true(allocations_read());
        for (unsigned k = 0; k < 50; k++) {
            struct allocation found[ROOM];
            uint64_t start = test_random(&seed) % 4096, end = start + 128;
            size_t got = allocations_in(1, start, end, found, ROOM), expected = 0;
            for (unsigned i = 0; i < n; i++) {
                bool last = r[i].pid == 1 && r[i].whole && meet(&r[i], start, end);
                for (unsigned j = i + 1; j < n && last; j++)
                    last = r[j].pid != 1 || !r[j].whole || !meet(&r[j], start, end) ||
                           !meet(&r[j], r[i].start, r[i].start + r[i].bytes);
                expected += last;
                bool is = false;
                for (size_t f = 0; f < got; f++)
                    is |= found[f].site == i;
                assert_true(is == last || got == ROOM);
            }
            assert_int_equal(got, expected < ROOM ? expected : ROOM);
            for (size_t f = 1; f < got; f++)
                assert_true(found[f].start >= found[f - 1].start + found[f - 1].bytes);
        }
        unsigned whole = 0;
        for (unsigned i = 0; i < n; i++)
            whole += r[i].whole;
        assert_int_equal(allocations_count(), whole);
        assert_int_equal(allocations_left_out(), 0);
        allocations_end();
        assert_true(access(ALLOCATIONS_PATH, F_OK));
    }
}

static void counts_what_has_no_room(void **state)
{
    struct allocations_record r[CAPACITY] = {{.start = 64, .bytes = 8, .pid = 1, .whole = 1}};
    struct allocation found[ROOM];
    (void)state;

    assert_true(allocations_begin(CAPACITY));
    put(r, CAPACITY + 5);
    assert_true(allocations_read());
    assert_int_equal(allocations_count(), 1 + 5);
    assert_int_equal(allocations_left_out(), 5);
    assert_int_equal(allocations_in(1, 0, 128, found, ROOM), 1);
    allocations_end();
}

static void refuses_what_is_no_log(void **state)
{
    struct allocations_head bad[] = {
        {.magic = 1, .capacity = CAPACITY, .given = 3},
        {.magic = ALLOCATIONS_MAGIC, .capacity = UINT64_MAX, .given = UINT64_MAX},
        {.magic = ALLOCATIONS_MAGIC, .capacity = CAPACITY + 1, .given = CAPACITY + 1}};
    struct allocation found[ROOM];
    (void)state;

    assert_false(allocations_read()); /* there is none */
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        assert_true(allocations_begin(CAPACITY));
        write_at(0, &bad[i], sizeof bad[i]);
        assert_false(allocations_read());
        assert_int_equal(allocations_in(1, 0, UINT64_MAX, found, ROOM), 0);
        allocations_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_last_of_each_place),
        cmocka_unit_test(counts_what_has_no_room),
        cmocka_unit_test(refuses_what_is_no_log),
    };
    unlink(ALLOCATIONS_PATH);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
