/*
 * A virtio block device, from the probe to pages transferred, against a double of the device with
 * an array as its medium; and every way to violate the standard.
 */
#include "test/host/double/expect_panic.h"
#include "kernel/dev/block/block_core.h"
#include "kernel/mem/mem.h"
#include "test/host/double/virtio_double.h"

#define PAGES        256
#define IN_FLIGHT    64
#define FEATURES_ALL (F_SIZE_MAX | F_SEG_MAX | F_BLK_SIZE | F_FLUSH | VIRTIO_FEATURE_INDIRECT)
enum {
    F_SIZE_MAX = 1 << 1,
    F_SEG_MAX = 1 << 2,
    F_READ_ONLY = 1 << 5,
    F_BLK_SIZE = 1 << 6,
    F_FLUSH = 1 << 9
};
enum { AT_CAPACITY = 0, AT_SIZE_MAX = 8, AT_SEG_MAX = 12, AT_BLK_SIZE = 20 };

/* ---- What the driver stands on, besides the device ------------------------------------------- */

static struct block_device *found;
static unsigned added, broken;
static struct {
    struct block_request *request;
    int status;
} came_back[IN_FLIGHT];
static unsigned back_count;
static void *heap[4];
static unsigned heap_count;

void *kmalloc(size_t size)
{
    assert_true(heap_count < ARRAY_SIZE(heap));
    return heap[heap_count++] = calloc(1, size);
}
void kfree(void *p)
{
    assert_ptr_equal(p, heap[heap_count - 1]);
    free(heap[--heap_count]);
}
void block_add(struct block_device *d, const char *what)
{
    assert_string_equal(what, "virtio at 00:00.0");
    assert_true(d->pages_max >= 1 && d->pages_max <= BLOCK_PAGES_MAX && d->depth >= 1);
    found = d;
    added++;
}
bool block_lock(struct block_device *d)
{
    assert_ptr_equal(d, found);
    return false;
}
void block_unlock(struct block_device *d, bool irq)
{
    (void)d, (void)irq;
}
void block_back(struct block_request *r, int status)
{
    assert_true(back_count < IN_FLIGHT);
    came_back[back_count].request = r;
    came_back[back_count++].status = status;
}
void block_broken(struct block_device *d)
{
    d->failed = true;
    broken++;
}

/* ---- The device ------------------------------------------------------------------------------ */

static uint8_t medium[PAGES][PAGE_SIZE];
static unsigned flushes, most_segments, held_count;
static bool holds; /* requests wait until answer_one is called */
static uint32_t held[IN_FLIGHT];
static uint8_t status_given;
static bool writes_status;
static int written_short;

/* Returns the chain of a request as an array. */
static unsigned chain(uint32_t id, const struct virtq_descriptor *out[64])
{
    const struct virtq_descriptor *table = virtio_double.queue[0].descriptors, *d = &table[id];
    unsigned n = 0;

    if (d->flags & 4) {
        assert_true(virtio_double.features & VIRTIO_FEATURE_INDIRECT);
        assert_int_equal(d->bytes % sizeof(*d), 0);
        table = phys_to_virt(d->address);
        d = table;
    }
    for (; n < 64; d = &table[d->next]) {
        out[n++] = d;
        if (!(d->flags & 1))
            break;
    }
    assert_true(n <= virtio_double.queue[0].size);
    return n;
}

static void answer(uint32_t id)
{
    const struct virtq_descriptor *d[64];
    unsigned n = chain(id, d);
    uint32_t written = 1;
    struct {
        uint32_t type, reserved;
        uint64_t sector;
    } header;

    assert_true(n >= 2 && d[0]->bytes == sizeof(header) && d[n - 1]->bytes == 1 &&
                d[n - 1]->flags == 2);
    memcpy(&header, phys_to_virt(d[0]->address), sizeof(header));
    assert_int_equal(header.reserved, 0);
    most_segments = MAX(most_segments, n - 2);
    uint64_t at = header.sector * 512;
    for (unsigned i = 1; i < n - 1; i++) {
        uint8_t *here = (uint8_t *)medium + at;
        assert_true(at + d[i]->bytes <= sizeof(medium));
        assert_int_equal((d[i]->flags & 2) != 0, header.type == 0);
        if (status_given)
            continue;
        if (header.type == 0)
            memcpy(phys_to_virt(d[i]->address), here, d[i]->bytes);
        else
            memcpy(here, phys_to_virt(d[i]->address), d[i]->bytes);
        written += header.type == 0 ? d[i]->bytes : 0;
        at += d[i]->bytes;
    }
    flushes += header.type == 4;
    if (header.type == 4)
        assert_true(n == 2 && header.sector == 0);
    if (writes_status)
        *(uint8_t *)phys_to_virt(d[n - 1]->address) = status_given;
    virtio_double_done(0, id, written - (uint32_t)written_short);
}

void virtio_double_rung(unsigned queue)
{
    uint32_t id;

    assert_int_equal(queue, 0);
    while (virtio_double_next(0, &id)) {
        if (holds)
            held[held_count++] = id;
        else
            answer(id);
    }
}

static void interrupt(void)
{
    virtio_double.handler(virtio_double.arg);
}

/* ---- What the tests say ---------------------------------------------------------------------- */

static uint8_t memory[IN_FLIGHT + 2][PAGE_SIZE] ALIGNED(4096);
static struct block_request requests[IN_FLIGHT];

static void set64(unsigned at, uint64_t v)
{
    virtio_double_set32(VIRTIO_DOUBLE_CONFIG + at, (uint32_t)v);
    virtio_double_set32(VIRTIO_DOUBLE_CONFIG + at + 4, (uint32_t)(v >> 32));
}

static int begin(void **state)
{
    (void)state;
    while (heap_count)
        free(heap[--heap_count]);
    virtio_double_end();
    virtio_double_begin(0x1001, FEATURES_ALL);
    virtio_double.queue_size = 128;
    set64(AT_CAPACITY, PAGES * 8 + 7); /* a partial page at the end is left out */
    virtio_double_set32(VIRTIO_DOUBLE_CONFIG + AT_SIZE_MAX, 1 << 20);
    virtio_double_set32(VIRTIO_DOUBLE_CONFIG + AT_SEG_MAX, 126);
    virtio_double_set32(VIRTIO_DOUBLE_CONFIG + AT_BLK_SIZE, 512);
    found = NULL;
    added = broken = back_count = flushes = most_segments = held_count = 0;
    holds = false;
    writes_status = true;
    status_given = 0;
    written_short = 0;
    return 0;
}

static int end(void **state)
{
    begin(state);
    virtio_double_end();
    return 0;
}

/* Returns the device found, or NULL. */
static struct block_device *open_disk(void)
{
    block_virtio_driver.probe();
    return found;
}

/* Makes a request with frames that are all adjacent or, scattered, every second page. */
static struct block_request *ask(unsigned i, uint64_t page, uint32_t count, bool write,
                                 bool scattered)
{
    struct block_request *r = &requests[i];

    *r = (struct block_request){.page = page, .count = count, .write = write, .device = found};
    for (uint32_t k = 0; k < count; k++)
        r->frame[k] = virt_to_phys(memory[scattered ? 2 * k % IN_FLIGHT + k / 32 : k]);
    found->ops->submit(found, r);
    return r;
}

static void only_back(const struct block_request *r, int status)
{
    interrupt();
    assert_int_equal(back_count, 1);
    assert_ptr_equal(came_back[0].request, r);
    assert_int_equal(came_back[0].status, status);
    back_count = 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_disk_is_found_with_its_size(void **state)
{
    (void)state;
    struct block_device *d = open_disk();
    assert_non_null(d);
    assert_string_equal(d->name, "vda");
    assert_int_equal(d->pages, PAGES);
    assert_int_equal(d->pages_max, BLOCK_PAGES_MAX);
    assert_int_equal(d->depth, 64);
    assert_false(d->read_only);
    assert_int_equal(added, 1);
    assert_int_equal(virtio_double.bar[VIRTIO_DOUBLE_STATUS], 1 | 2 | 4 | 8);
    assert_int_equal(virtio_double_lines(), 0);
    begin(NULL);
    virtio_double.features |= F_READ_ONLY;
    assert_true(open_disk()->read_only);
    begin(NULL);
    virtio_double.absent = true;
    assert_null(open_disk());
    assert_int_equal(virtio_double_lines(), 0);
    begin(NULL);
    set64(AT_CAPACITY, UINT64_C(1) << 40);
    assert_int_equal(open_disk()->pages, UINT64_C(1) << 37);
}

static void pages_are_written_and_read(void **state)
{
    (void)state;
    open_disk();
    for (unsigned scattered = 0; scattered < 2; scattered++) {
        for (unsigned i = 0; i < IN_FLIGHT; i++)
            memset(memory[i], (int)(i + 1 + scattered), PAGE_SIZE);
        only_back(ask(0, 100, 32, true, scattered), 0);
        for (unsigned i = 0; i < 32; i++)
            assert_int_equal(medium[100 + i][99], (scattered ? 2 * i : i) + 1 + scattered);
        memset(memory, 0, sizeof(memory));
        only_back(ask(0, 100, 32, false, scattered), 0);
        for (unsigned i = 0; i < 32; i++)
            assert_int_equal(memory[scattered ? 2 * i : i][4095],
                             (scattered ? 2 * i : i) + 1 + scattered);
        assert_int_equal(most_segments, scattered ? 32 : 1);
    }
    only_back(ask(0, 0, 0, true, false), 0);
    assert_int_equal(flushes, 1);
}

static void limits_of_the_device_are_kept(void **state)
{
    (void)state;
    virtio_double_set32(VIRTIO_DOUBLE_CONFIG + AT_SEG_MAX, 5);
    virtio_double_set32(VIRTIO_DOUBLE_CONFIG + AT_SIZE_MAX, 8192);
    assert_int_equal(open_disk()->pages_max, 5);
    only_back(ask(0, 0, 5, true, false), 0);
    assert_int_equal(most_segments, 3); /* requests have at most two adjacent pages */

    begin(NULL);
    virtio_double.features &= ~VIRTIO_FEATURE_INDIRECT;
    struct block_device *d = open_disk();
    assert_int_equal(d->depth, 128 / 34);
    only_back(ask(0, 0, 32, true, true), 0);
    assert_int_equal(most_segments, 32);

    begin(NULL);
    virtio_double.queue_size = 4;
    d = open_disk();
    assert_int_equal(d->pages_max, 2);
    assert_int_equal(d->depth, 4);
    only_back(ask(0, 0, 2, true, true), 0);

    begin(NULL);
    virtio_double.features &= ~(uint64_t)F_FLUSH; /* it needs no flush */
    open_disk();
    ask(0, 0, 0, true, false);
    assert_int_equal(back_count, 1);
    assert_int_equal(came_back[0].status, 0);
    assert_int_equal(flushes, 0);
}

static void many_requests_come_back_in_any_order(void **state)
{
    uint64_t seed = 9;
    bool seen[IN_FLIGHT] = {false};

    (void)state;
    open_disk();
    for (unsigned i = 0; i < PAGES; i++)
        memset(medium[i], (int)i, PAGE_SIZE);
    for (unsigned round = 0; round < 50; round++) {
        holds = true;
        held_count = back_count = 0;
        memset(seen, 0, sizeof(seen));
        for (unsigned i = 0; i < IN_FLIGHT; i++) {
            ask(i, (i * 3 + round) % PAGES, 1, false, false);
            requests[i].frame[0] = 0; /* the driver no longer uses it */
        }
        assert_int_equal(held_count, IN_FLIGHT);
        while (held_count) {
            unsigned pick = test_random(&seed) % held_count;
            answer(held[pick]);
            held[pick] = held[--held_count];
            if (test_random(&seed) % 2)
                interrupt();
        }
        interrupt();
        assert_int_equal(back_count, IN_FLIGHT);
        for (unsigned i = 0; i < IN_FLIGHT; i++) {
            size_t n = (size_t)(came_back[i].request - requests);
            assert_int_equal(came_back[i].status, 0);
            assert_false(seen[n]);
            seen[n] = true;
        }
    }
}

static void errors_are_passed_on(void **state)
{
    (void)state;
    open_disk();
    status_given = 1;
    only_back(ask(0, 5, 3, false, false), -EIO);
    status_given = 2;
    only_back(ask(0, 5, 3, true, false), -EIO);
    status_given = 0;
    only_back(ask(0, 5, 3, true, false), 0);
    assert_int_equal(broken, 0);
    assert_int_equal(virtio_double_lines(), 0);
}

static void a_device_that_lies_is_used_no_more(void **state)
{
    (void)state;
    for (unsigned lie = 0; lie < 5; lie++) {
        begin(NULL);
        struct block_device *d = open_disk();
        switch (lie) {
        case 0:
            status_given = 3;
            break; /* no such status */
        case 1:
            writes_status = false;
            break;
        case 2:
            written_short = 1;
            break; /* less than was read */
        case 3:
            written_short = -1;
            break; /* more than there was room for */
        case 4:
            holds = true;
            break;
        }
        ask(0, 5, 3, false, false);
        if (lie == 4)
            virtio_double_done(0, 99, 1); /* a request that was not submitted */
        interrupt();
        assert_int_equal(back_count, 0);
        assert_int_equal(broken, 1);
        assert_true(d->failed);
        assert_int_equal(virtio_double_lines(), 1);
        assert_non_null(
            strstr(said, "virtio: event=refused device=disk at=00:00.0 reason=device: it "));
        assert_int_equal(virtio_double.bar[VIRTIO_DOUBLE_STATUS],
                         0); /* reset: no frame is accessed any more */
        interrupt();
        assert_int_equal(broken, 1);
        assert_int_equal(virtio_double_lines(), 1);
    }
}

static void a_device_is_stopped_whether_it_obeys_or_not(void **state)
{
    (void)state;
    open_disk();
    found->ops->stop(found);
    assert_int_equal(virtio_double.bar[VIRTIO_DOUBLE_STATUS], 0);
    assert_int_equal(virtio_double.silenced, 0);
    begin(NULL);
    open_disk();
    virtio_double.stuck = true;
    found->ops->stop(found);
    assert_int_equal(virtio_double.silenced, 1); /* no longer a bus master */
}

static void an_unusable_disk_gives_one_line(void **state)
{
    (void)state;
    for (unsigned fault = 0; fault < 8; fault++) {
        begin(NULL);
        switch (fault) {
        case 0:
            set64(AT_CAPACITY, 7);
            break;
        case 1:
            virtio_double_set32(VIRTIO_DOUBLE_CONFIG + AT_SIZE_MAX, 512);
            break;
        case 2:
            virtio_double_set32(VIRTIO_DOUBLE_CONFIG + AT_SEG_MAX, 0);
            break;
        case 3:
            virtio_double_set32(VIRTIO_DOUBLE_CONFIG + AT_BLK_SIZE, 65536);
            break;
        case 4:
            virtio_double.queue_size = 2;
            break;
        case 5:
            virtio_double.queue_size = 0;
            break;
        case 6:
            virtio_double.no_messages = true;
            break;
        case 7:
            virtio_double.features = FEATURES_ALL;
            break; /* of before version 1.0 */
        }
        assert_null(open_disk());
        assert_int_equal(virtio_double_lines(), 1);
        assert_non_null(strstr(said, ": left alone\n"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_disk_is_found_with_its_size, begin, end),
        cmocka_unit_test_setup_teardown(pages_are_written_and_read, begin, end),
        cmocka_unit_test_setup_teardown(limits_of_the_device_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(many_requests_come_back_in_any_order, begin, end),
        cmocka_unit_test_setup_teardown(errors_are_passed_on, begin, end),
        cmocka_unit_test_setup_teardown(a_device_that_lies_is_used_no_more, begin, end),
        cmocka_unit_test_setup_teardown(a_device_is_stopped_whether_it_obeys_or_not, begin, end),
        cmocka_unit_test_setup_teardown(an_unusable_disk_gives_one_line, begin, end),
    };

    return cmocka_run_group_tests_name("virtio_blk", tests, NULL, NULL);
}
