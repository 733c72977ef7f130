/* The machine's disk: when requests are done, in which order, and which are refused. */
#include "test/host/double/expect_panic.h"
#include "test/machine/disk.h"

static uint8_t contents[256][PAGE_SIZE];
static struct disk d;

static void begin_disk(uint64_t latency, uint64_t page_time)
{
    d = (struct disk){
        .bytes = contents[0], .pages = 256, .latency = latency, .page_time = page_time};
}

static struct disk_request request_for(uint64_t page, uint32_t count)
{
    return (struct disk_request){.page = page, .count = count, .token = page};
}

static int submit(uint64_t now, uint64_t page, uint32_t count)
{
    struct disk_request r = request_for(page, count);

    return disk_submit(&d, now, &r);
}

/* Checks that the next request is done at `time`, and not before. */
static void done_at(uint64_t time, uint64_t page)
{
    struct disk_request r;

    assert_int_equal(disk_next(&d), time);
    assert_false(disk_take(&d, time - 1, &r));
    assert_true(disk_take(&d, time, &r));
    assert_int_equal(r.token, page);
    assert_int_equal(r.done, time);
    assert_ptr_equal(disk_page(&d, &r, 1), contents[page + 1]);
}

static void a_request_takes_its_latency_and_its_pages(void **state)
{
    (void)state;
    begin_disk(1000000, 4096);
    assert_int_equal(disk_next(&d), UINT64_MAX);
    assert_int_equal(submit(500, 7, 1), 0);
    done_at(500 + 1000000 + 4096, 7);
    assert_int_equal(submit(2000000, 8, 32), 0);
    done_at(2000000 + 1000000 + 32 * 4096, 8);
    assert_int_equal(d.busy, 33 * 4096);
    assert_int_equal(d.pages_read, 33);
}

static void accesses_overlap_and_transfers_do_not(void **state)
{
    (void)state;
    begin_disk(1000, 100);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(submit(0, i, 1), 0);
    for (uint64_t i = 0; i < 5; i++)
        done_at(1000 + 100 * (i + 1), i);
    assert_int_equal(submit(1000, 9, 2), 0); /* its access ends long after the channel is free */
    done_at(2200, 9);
    begin_disk(1000, 0);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(submit(i, i, 32), 0);
    for (uint64_t i = 0; i < 5; i++)
        done_at(1000 + i, i);
    assert_int_equal(d.busy, 0);
}

/* CPUs' clocks differ a little, so a later store may be an earlier request. */
static void requests_are_done_in_order_of_time(void **state)
{
    struct disk_request r;

    (void)state;
    begin_disk(1000, 0);
    assert_int_equal(submit(30, 3, 1), 0);
    assert_int_equal(submit(10, 1, 1), 0);
    assert_int_equal(submit(20, 2, 1), 0);
    assert_int_equal(submit(20, 4, 1), 0);
    const uint64_t order[] = {1, 2, 4, 3};
    for (unsigned i = 0; i < 4; i++) {
        assert_true(disk_take(&d, 5000, &r));
        assert_int_equal(r.token, order[i]);
    }
    assert_false(disk_take(&d, 5000, &r));
}

static void what_cannot_be_is_refused(void **state)
{
    struct disk_request r;

    (void)state;
    begin_disk(1000, 100);
    assert_int_equal(submit(0, 256, 1), -EINVAL);
    assert_int_equal(submit(0, 255, 2), -EINVAL);
    assert_int_equal(submit(0, UINT64_MAX, 2), -EINVAL);
    assert_int_equal(submit(0, 0, 0), -EINVAL);
    assert_int_equal(submit(0, 0, 33), -EINVAL);
    r = request_for(0, 2);
    r.frame[1] = 0x1200;
    assert_int_equal(disk_submit(&d, 0, &r), -EINVAL);
    d.read_only = true;
    r = request_for(0, 1);
    r.write = true;
    assert_int_equal(disk_submit(&d, 0, &r), -EINVAL);
    assert_int_equal(d.refused, 7);
    assert_int_equal(disk_next(&d), UINT64_MAX);
    for (unsigned i = 0; i < MACHINE_DISK_SLOTS; i++)
        assert_int_equal(submit(0, i, 1), 0);
    assert_int_equal(submit(0, 0, 1), -EAGAIN);
    assert_int_equal(d.most_in_flight, MACHINE_DISK_SLOTS);
    assert_true(disk_take(&d, 1100, &r));
    assert_int_equal(submit(0, 0, 1), 0);
    disk_reset(&d);
    assert_int_equal(disk_next(&d), UINT64_MAX);
    begin_disk(0, 0);
    d.bytes = NULL;
    assert_int_equal(submit(0, 0, 1), -EINVAL);
}

/* Against a list: each request comes back once, in order, and not before it is done. */
static void random_requests_all_come_back_in_order(void **state)
{
    uint64_t seed = 11, now = 0, asked = 0, back = 0, last = 0;
    struct disk_request r;

    (void)state;
    begin_disk(5000, 70);
    while (back < 100000) {
        now += test_random(&seed) % 300;
        unsigned before = d.in_flight;
        int err = submit(now, test_random(&seed) % 200, 1 + (uint32_t)(test_random(&seed) % 32));
        assert_int_equal(err, before == MACHINE_DISK_SLOTS ? -EAGAIN : 0);
        asked += !err;
        while (disk_take(&d, now, &r)) {
            assert_true(r.done <= now && r.done >= last);
            last = r.done;
            back++;
        }
        assert_int_equal(asked - back, d.in_flight);
        assert_true(d.in_flight == 0 || d.request[0].done > now);
    }
    assert_int_equal(d.reads, back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_takes_its_latency_and_its_pages),
        cmocka_unit_test(accesses_overlap_and_transfers_do_not),
        cmocka_unit_test(requests_are_done_in_order_of_time),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(random_requests_all_come_back_in_order),
    };

    return cmocka_run_group_tests_name("disk", tests, NULL, NULL);
}
