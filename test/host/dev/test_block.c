/* Block devices: on a disk in memory, and above a driver that keeps its requests. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/said.h"
#include "test/host/double/workers.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/block/block_core.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define PAGES    1024
#define REQUESTS 64

static struct block_device *ram;
static uint8_t memory[REQUESTS][PAGE_SIZE] ALIGNED(4096);
static struct block_request requests[REQUESTS];
static struct {
    unsigned calls;
    int status;
} done[REQUESTS];

static void set_arg(const char *name, uint64_t value)
{
    for (const struct arg *a = disk_args; a->name; a++)
        if (!strcmp(a->name, name))
            *a->value = value;
}

static int set_up(void **state)
{
    (void)state;
    memset(done, 0, sizeof(done));
    said[0] = '\0';
    host_ticks = 1;
    return 0;
}

static void note_done(struct block_request *r, int status)
{
    size_t i = (size_t)(r - requests);

    assert_false(host_irqs_on);
    assert_int_equal(this_cpu()->spin_depth, 0);
    done[i].calls++;
    done[i].status = status;
}

static struct block_request *make_request(unsigned i, uint64_t page, uint32_t count, bool write)
{
    struct block_request *r = &requests[i];

    *r = (struct block_request){.page = page, .count = count, .write = write, .done = note_done};
    for (uint32_t k = 0; k < count; k++)
        r->frame[k] = virt_to_phys(memory[(i + k) % REQUESTS]);
    done[i].calls = 0;
    return r;
}

static void fill_page(uint8_t *page, uint64_t seed)
{
    for (unsigned i = 0; i < PAGE_SIZE; i += 8) {
        uint64_t v = test_random(&seed);
        memcpy(page + i, &v, 8);
    }
}

/* A device whose driver keeps the requests it gets. */
static struct block_request *kept[REQUESTS];
static unsigned kept_count, stops;

static void keep_request(struct block_device *d, struct block_request *r)
{
    assert_true(spin_held(&d->lock));
    kept[kept_count++] = r;
}
static void count_stops(struct block_device *d)
{
    assert_false(spin_held(&d->lock));
    stops++;
}
static const struct block_ops keeping = {keep_request, count_stops};

static struct block_device *add_keeper(const char *name, bool read_only)
{
    struct block_device *d = calloc(1, sizeof(*d));

    *d = (struct block_device){.kind = "double",
                               .pages = 100,
                               .depth = 4,
                               .pages_max = 8,
                               .ops = &keeping,
                               .read_only = read_only};
    strcpy(d->name, name);
    kept_count = stops = 0;
    block_add(d, "a double");
    return d;
}

static void give_back(struct block_device *d, struct block_request *r, int status)
{
    bool irq = block_lock(d);

    block_back(r, status);
    block_unlock(d, irq);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void what_was_written_is_read(void **state)
{
    paddr_t frames[40];

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        fill_page(memory[i], i + 1);
        frames[i] = virt_to_phys(memory[39 - i]);
    }
    /* over the end of a block of frames */
    assert_int_equal(block_transfer(ram, 200, 40, true, frames), 0);
    for (unsigned i = 0; i < 40; i++) {
        uint8_t expected[PAGE_SIZE];
        paddr_t at = virt_to_phys(memory[40]);
        assert_int_equal(block_transfer(ram, 200 + i, 1, false, &at), 0);
        fill_page(expected, 40 - i);
        assert_memory_equal(memory[40], expected, PAGE_SIZE);
    }
    assert_int_equal(block_flush(ram), 0);
    block_check(ram);
}

static void a_new_disk_is_all_zero(void **state)
{
    uint8_t zero[PAGE_SIZE] = {0};
    paddr_t at = virt_to_phys(memory[0]);

    (void)state;
    memset(memory[0], 1, PAGE_SIZE);
    assert_int_equal(block_transfer(ram, PAGES - 1, 1, false, &at), 0);
    assert_memory_equal(memory[0], zero, PAGE_SIZE);
}

static void a_page_is_there_when_done_is_called_and_not_before(void **state)
{
    (void)state;
    memset(memory[0], 7, PAGE_SIZE);
    assert_int_equal(block_submit(ram, make_request(0, 5, 1, true)), 0);
    assert_int_equal(done[0].calls, 0);
    workers_run();
    assert_int_equal(done[0].calls, 1);
    assert_int_equal(done[0].status, 0);
    assert_int_equal(block_submit(ram, make_request(1, 5, 1, false)), 0);
    memset(memory[1], 0, PAGE_SIZE);
    assert_int_equal(memory[1][0], 0);
    workers_run();
    assert_int_equal(memory[1][0], 7);
    assert_int_equal(done[1].calls, 1);
}

static void requests_that_are_wrong_are_refused(void **state)
{
    struct block_device *d = add_keeper("wrong", false), *constant = add_keeper("constant", true);
    struct block_request *r;

    (void)state;
    assert_non_null(strstr(
        said, "disk: event=found name=constant kind=double kb=400 access=read-only: a double\n"));
    assert_int_equal(block_submit(d, make_request(0, 100, 1, false)), -EINVAL);
    assert_int_equal(block_submit(d, make_request(0, 99, 2, false)), -EINVAL);
    assert_int_equal(block_submit(d, make_request(0, UINT64_MAX, 1, false)), -EINVAL);
    assert_int_equal(block_submit(d, make_request(0, UINT64_MAX - 3, 8, true)), -EINVAL);
    assert_int_equal(block_submit(d, make_request(0, 0, 9, true)), -EINVAL); /* pages_max */
    assert_int_equal(block_submit(d, make_request(0, 0, 0, false)), -EINVAL);
    r = make_request(0, 0, 2, false);
    r->frame[1] += 512;
    assert_int_equal(block_submit(d, r), -EINVAL);
    r = make_request(0, 0, 2, false);
    r->done = NULL;
    assert_int_equal(block_submit(d, r), -EINVAL);
    assert_int_equal(block_submit(constant, make_request(0, 0, 1, true)), -EINVAL);
    assert_int_equal(block_submit(constant, make_request(0, 0, 0, true)), -EINVAL);
    assert_int_equal(block_transfer(d, 0, 0, true, NULL), -EINVAL);
    assert_int_equal(kept_count, 0);
    assert_int_equal(block_submit(constant, make_request(0, 99, 1, false)), 0);
    assert_int_equal(kept_count, 1);
    give_back(constant, kept[0], 0);
    block_check(d);
    block_check(constant);
}

static void no_more_are_in_flight_than_the_device_takes(void **state)
{
    struct block_device *d = add_keeper("full", false);

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(block_submit(d, make_request(i, i, 1, false)), 0);
    assert_int_equal(block_submit(d, make_request(4, 4, 1, false)), -EAGAIN);
    give_back(d, kept[2], 0);
    assert_int_equal(done[2].calls, 1);
    block_check(d);
    assert_int_equal(block_submit(d, make_request(4, 4, 1, false)), 0);
    give_back(d, kept[0], -EIO);
    assert_int_equal(done[0].status, -EIO);
    give_back(d, kept[1], 0);
    give_back(d, kept[4], 0);
    give_back(d, kept[3], 0);
    struct block_stats stats;
    block_read_stats(d, &stats);
    assert_int_equal(stats.reads, 5);
    assert_int_equal(stats.errors, 1);
    for (unsigned i = 0; i < 40; i++) /* more than fit: waits for room */
        assert_int_equal(block_submit_wait(ram, make_request(i, i, 1, true)), 0);
    workers_run();
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(done[i].calls, 1);
}

static void a_device_that_does_not_answer_is_stopped_with_a_line(void **state)
{
    struct block_device *d = add_keeper("mute", false);

    (void)state;
    said[0] = '\0';
    assert_int_equal(block_submit(d, make_request(0, 7, 2, true)), 0);
    workers_run();
    host_ticks += NS_PER_S;
    assert_int_equal(block_submit(d, make_request(1, 9, 1, false)), 0);
    give_back(d, kept[1], 0);
    host_ticks += 28 * NS_PER_S;
    assert_int_equal(block_submit(d, make_request(2, 9, 1, false)), 0);
    assert_int_equal(stops, 0);
    while (!stops) {
        workers_pass_time();
        workers_run();
    }
    assert_true(host_ticks >= 30 * NS_PER_S && host_ticks < 31 * NS_PER_S);
    const char *line =
        "disk: event=stopped name=mute reason=timeout request=write pages=2 page=7 ms=30000: ";
    assert_ptr_equal(strstr(said, line), said);
    assert_ptr_equal(strchr(said, '\n') + 1, said + strlen(said)); /* one line */
    assert_int_equal(stops, 1);
    assert_int_equal(done[0].calls, 1);
    assert_int_equal(done[0].status, -ETIMEDOUT);
    assert_int_equal(done[1].calls, 1);
    assert_int_equal(done[1].status, 0);
    assert_int_equal(done[2].calls, 1);
    assert_int_equal(done[2].status, -ETIMEDOUT);
    assert_int_equal(block_submit(d, make_request(3, 7, 2, true)), -EIO);
    block_check(d);
}

static void a_device_found_broken_gives_all_back(void **state)
{
    struct block_device *d = add_keeper("broken", false);

    (void)state;
    assert_int_equal(block_submit(d, make_request(0, 7, 2, true)), 0);
    assert_int_equal(block_submit(d, make_request(1, 9, 1, false)), 0);
    bool irq = block_lock(d);
    block_back(kept[1], 0);
    block_broken(d);
    block_unlock(d, irq);
    assert_int_equal(done[0].status, -EIO);
    assert_int_equal(done[1].status, 0);
    assert_int_equal(done[0].calls + done[1].calls, 2);
    assert_int_equal(stops, 0);
    assert_int_equal(block_submit(d, make_request(0, 7, 2, true)), -EIO);
    block_check(d);
}

static void injected_errors_reach_the_caller(void **state)
{
    unsigned failed = 0;
    paddr_t at = virt_to_phys(memory[0]);

    (void)state;
    set_arg("disk.fail_reads", 10);
    for (unsigned i = 0; i < 1000; i++) {
        memset(memory[0], 1, PAGE_SIZE);
        assert_int_equal(block_transfer(ram, i, 1, true, &at), 0);
        int err = block_transfer(ram, i, 1, false, &at);
        assert_true(err == 0 || err == -EIO);
        assert_int_equal(memory[0][99], err ? 0xdb : 1);
        failed += err != 0;
    }
    set_arg("disk.fail_reads", 0);
    assert_true(failed > 60 && failed < 140);
    set_arg("disk.fail_writes", 1);
    assert_int_equal(block_transfer(ram, 0, 1, true, &at), -EIO);
    assert_int_equal(block_transfer(ram, 0, 1, false, &at), 0);
    set_arg("disk.fail_writes", 0);
}

static void delayed_requests_change_their_order_and_come_back(void **state)
{
    unsigned early = 0, back_now = 0;

    (void)state;
    set_arg("disk.delay_us", 100);
    for (unsigned i = 0; i < 30; i++)
        assert_int_equal(block_submit(ram, make_request(i, i, 1, false)), 0);
    uint64_t began_ns = host_ticks;
    while (back_now < 30) {
        if (!workers_run())
            workers_pass_time();
        block_check(ram);
        back_now = 0;
        for (unsigned i = 0; i < 30; i++) {
            assert_true(done[i].calls <= 1);
            early += i && done[i].calls && !done[i - 1].calls;
            back_now += done[i].calls;
        }
    }
    set_arg("disk.delay_us", 0);
    assert_true(early > 0);
    assert_true(host_ticks > began_ns && host_ticks <= began_ns + 100 * NS_PER_US);
}

static void fates_follow_from_the_seed(void **state)
{
    struct block_faults f = {
        .seed = 1, .fail_reads = 100, .fail_writes = 50, .lose = 1000, .delay_us = 10};
    unsigned reads = 0, writes = 0, lost = 0, differ = 0;
    uint64_t delay_ns = 0;

    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        struct block_fate a = block_fate(&f, i, false), b = block_fate(&f, i, false);
        assert_true(a.fail == b.fail && a.lose == b.lose && a.delay_ns == b.delay_ns);
        assert_true(a.delay_ns <= 10000);
        reads += a.fail;
        lost += a.lose;
        delay_ns += a.delay_ns;
        writes += block_fate(&f, i, true).fail;
        f.seed = 2;
        differ += a.fail != block_fate(&f, i, false).fail;
        f.seed = 1;
    }
    assert_in_range(reads, 850, 1150);
    assert_in_range(writes, 1800, 2200);
    assert_in_range(lost, 70, 130);
    assert_in_range(differ, 1700, 2200);
    assert_in_range(delay_ns / 100000, 4900, 5100);
}

/* Random requests, against an array of the seeds of the pages' contents. */
static void random_requests_keep_what_was_written(void **state)
{
    static uint64_t expected[PAGES];
    uint64_t seed = 5;
    paddr_t frames[BLOCK_PAGES_MAX];

    (void)state;
    for (unsigned i = 0; i < BLOCK_PAGES_MAX; i++)
        frames[i] = virt_to_phys(memory[i]);
    memset(memory, 0, sizeof(memory));
    for (uint64_t page = 0; page < PAGES; page += 32)
        assert_int_equal(block_transfer(ram, page, 32, true, frames), 0);
    set_arg("disk.delay_us", 50);
    for (unsigned round = 0; round < 3000; round++) {
        uint64_t page = test_random(&seed) % PAGES,
                 count = 1 + test_random(&seed) % BLOCK_PAGES_MAX;
        bool write = test_random(&seed) % 2;
        count = MIN(count, PAGES - page);
        for (uint64_t i = 0; write && i < count; i++) {
            expected[page + i] = test_random(&seed);
            fill_page(memory[i], expected[page + i]);
        }
        assert_int_equal(block_transfer(ram, page, count, write, frames), 0);
        for (uint64_t i = 0; !write && i < count; i++) {
            uint8_t right[PAGE_SIZE] = {0};
            if (expected[page + i])
                fill_page(right, expected[page + i]);
            assert_memory_equal(memory[i], right, PAGE_SIZE);
        }
        block_check(ram);
    }
    set_arg("disk.delay_us", 0);
}

static void a_lost_request_is_noticed(void **state)
{
    paddr_t at = virt_to_phys(memory[0]);

    (void)state;
    set_arg("disk.lose", 1);
    assert_int_equal(block_transfer(ram, 3, 1, false, &at), -ETIMEDOUT);
    set_arg("disk.lose", 0);
    assert_non_null(strstr(
        said,
        "disk: event=stopped name=ram reason=timeout request=read pages=1 page=3 ms=30000: "));
    assert_int_equal(block_transfer(ram, 3, 1, false, &at), -EIO);
    block_check(ram);
}

static void boot_disks(void)
{
    block_ram_driver.probe();
    block_start();
}

static int find_ram(void **state)
{
    (void)state;
    boot_disks();
    assert_string_equal(said, "disk: event=none: none found\n");
    said[0] = '\0';
    set_arg("disk.ram", PAGES * PAGE_SIZE);
    frames_left = 3;
    boot_disks();
    assert_string_equal(said, "disk: event=refused name=ram reason=memory: no memory for 4096 "
                              "KB\ndisk: event=none: none found\n");
    assert_int_equal(frames_left, 3); /* the frames allocated so far are free again */
    said[0] = '\0';
    frames_left = 4;
    boot_disks();
    assert_string_equal(
        said, "disk: event=found name=ram kind=ram kb=4096 access=read-write: in memory\n");
    ram = block_find("ram");
    assert_non_null(ram);
    assert_ptr_equal(block_first(), ram);
    assert_null(block_find("ra"));
    assert_null(block_find("none"));
    return 0;
}

static int free_frames(void **state)
{
    (void)state;
    frames_release();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_new_disk_is_all_zero, set_up),
        cmocka_unit_test_setup(what_was_written_is_read, set_up),
        cmocka_unit_test_setup(a_page_is_there_when_done_is_called_and_not_before, set_up),
        cmocka_unit_test_setup(requests_that_are_wrong_are_refused, set_up),
        cmocka_unit_test_setup(no_more_are_in_flight_than_the_device_takes, set_up),
        cmocka_unit_test_setup(a_device_that_does_not_answer_is_stopped_with_a_line, set_up),
        cmocka_unit_test_setup(a_device_found_broken_gives_all_back, set_up),
        cmocka_unit_test_setup(injected_errors_reach_the_caller, set_up),
        cmocka_unit_test_setup(delayed_requests_change_their_order_and_come_back, set_up),
        cmocka_unit_test_setup(fates_follow_from_the_seed, set_up),
        cmocka_unit_test_setup(random_requests_keep_what_was_written, set_up),
        cmocka_unit_test_setup(a_lost_request_is_noticed, set_up),
    };

    return cmocka_run_group_tests_name("block", tests, find_ram, free_frames);
}
