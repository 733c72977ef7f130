/* Split virtqueues against a device that takes requests as the standard says, completes them in any
 * order, and lies. */
#include "test/host/double/expect_panic.h"
#include "kernel/dev/virtio/virtq.h"

static char memory[VIRTQ_BYTES] ALIGNED(4096);
static struct virtq q;
static uint16_t device_seen; /* the device's position in the available ring */

static void begin(unsigned size)
{
    memset(memory, 0xff, sizeof(memory));
    assert_int_equal(virtq_init(&q, memory, size), 0);
    device_seen = 0;
}

/* Returns the first descriptor of the next request, or -1. */
static int device_next(void)
{
    return device_seen == q.available->index ? -1 : q.available->ring[device_seen++ % q.size];
}

static void device_done(uint32_t id, uint32_t bytes)
{
    q.used->ring[q.used->index % q.size] = (struct virtq_used_element){id, bytes};
    q.used->index++;
}

static int add_one(uint64_t at, uint32_t bytes, bool writes)
{
    struct virtq_buffer b = {at, bytes, writes};

    return virtq_add(&q, &b, 1, (void *)(uintptr_t)at);
}

static int take(uintptr_t *token, uint32_t *bytes)
{
    void *p = NULL;
    int err = virtq_take(&q, &p, bytes);

    *token = (uintptr_t)p;
    return err;
}

static void a_request_of_three_buffers_goes_there_and_back(void **state)
{
    const struct virtq_buffer b[] = {{0x1000, 16, false}, {0x2000, 512, true}, {0x3000, 1, true}};
    uintptr_t token;
    uint32_t bytes;

    (void)state;
    begin(8);
    assert_int_equal(take(&token, &bytes), -EAGAIN);
    assert_int_equal(virtq_add(&q, b, 3, &q), 0);
    int head = device_next();
    assert_true(head >= 0);
    const struct virtq_descriptor *d = &q.descriptors[head];
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(d->address, b[i].at);
        assert_int_equal(d->bytes, b[i].bytes);
        assert_int_equal(d->flags, (i < 2 ? 1 : 0) | (i ? 2 : 0));
        d = &q.descriptors[d->next];
    }
    assert_int_equal(device_next(), -1);
    device_done((uint32_t)head, 513);
    assert_int_equal(take(&token, &bytes), 0);
    assert_ptr_equal((void *)token, &q);
    assert_int_equal(bytes, 513);
    assert_int_equal(take(&token, &bytes), -EAGAIN);
    assert_int_equal(q.free, 8);
}

/* ... described in a table of the driver, which takes one descriptor of the queue. */
static void an_indirect_request_takes_one_descriptor(void **state)
{
    const struct virtq_buffer b[] = {{0x1000, 16, false}, {0x2000, 512, true}, {0x3000, 1, true}};
    struct virtq_descriptor table[4][3];
    uintptr_t token;
    uint32_t bytes;

    (void)state;
    begin(4);
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(virtq_add_indirect(&q, table[i], 0x10000 * (i + 1), b, 3, (void *)i), 0);
    assert_int_equal(virtq_add_indirect(&q, table[0], 0x10000, b, 3, NULL), -ENOSPC);
    assert_int_equal(virtq_add_indirect(&q, table[0], 0x10000, b, 0, NULL), -EINVAL);
    const struct virtq_buffer five[5] = {
        {1, 1, false}, {1, 1, false}, {1, 1, false}, {1, 1, false}, {1, 1, false}};
    assert_int_equal(virtq_add_indirect(&q, table[0], 0x10000, five, 5, NULL), -EINVAL);
    for (unsigned i = 0; i < 4; i++) {
        int head = device_next();
        assert_int_equal(q.descriptors[head].address, 0x10000 * (i + 1));
        assert_int_equal(q.descriptors[head].bytes, 48);
        assert_int_equal(q.descriptors[head].flags, 4);
        for (unsigned k = 0; k < 3; k++) {
            assert_int_equal(table[i][k].address, b[k].at);
            assert_int_equal(table[i][k].bytes, b[k].bytes);
            assert_int_equal(table[i][k].flags, (k < 2 ? 1 : 0) | (k ? 2 : 0));
            assert_int_equal(table[i][k].next, k < 2 ? k + 1 : 0);
        }
        device_done((uint32_t)head, 513);
        assert_int_equal(take(&token, &bytes), 0);
        assert_int_equal(token, i);
    }
    assert_int_equal(q.free, 4);
}

static void a_full_queue_refuses_and_a_wrong_request_does(void **state)
{
    const struct virtq_buffer wrong[] = {{0x1000, 16, true}, {0x2000, 16, false}};

    (void)state;
    begin(4);
    assert_int_equal(virtq_add(&q, wrong, 2, NULL), -EINVAL);
    assert_int_equal(virtq_add(&q, wrong, 0, NULL), -EINVAL);
    assert_int_equal(add_one(0x1000, 0, false), -EINVAL);
    assert_int_equal(q.available->index, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(add_one(0x1000, 1, false), 0);
    assert_int_equal(add_one(0x1000, 1, false), -ENOSPC);
    assert_int_equal(virtq_init(&q, memory, 0), -EINVAL);
    assert_int_equal(virtq_init(&q, memory, 3), -EINVAL);
    assert_int_equal(virtq_init(&q, memory, 2 * VIRTQ_SIZE_MAX), -EINVAL);
    assert_int_equal(virtq_init(&q, memory, VIRTQ_SIZE_MAX), 0);
    assert_true((char *)&q.used->ring[VIRTQ_SIZE_MAX] <= memory + sizeof(memory));
}

static void the_device_says_whether_it_wants_to_be_told(void **state)
{
    (void)state;
    begin(4);
    assert_true(virtq_must_notify(&q));
    q.used->flags = 1;
    assert_false(virtq_must_notify(&q));
}

/* Each lie gives -EIO, now and later, and no request is returned. */
static void lies_break_the_queue(void **state)
{
    uintptr_t token;
    uint32_t bytes;

    (void)state;
    for (unsigned lie = 0; lie < 6; lie++) {
        const struct virtq_buffer chain[] = {{0x5000, 8, false}, {0x6000, 8, false}};
        begin(8);
        assert_int_equal(add_one(0x1000, 64, true), 0);
        assert_int_equal(virtq_add(&q, chain, 2, NULL), 0);
        uint32_t first = (uint32_t)device_next(), second = (uint32_t)device_next();
        switch (lie) {
        case 0:
            device_done(8, 0);
            break; /* no such descriptor */
        case 1:
            device_done(UINT32_MAX, 0);
            break;
        case 2:
            device_done(q.descriptors[second].next, 0);
            break; /* in the middle of a request */
        case 3:
            device_done(7, 0);
            break; /* a free one */
        case 4:
            device_done(first, 65);
            break; /* more than there was room for */
        case 5:
            q.used->index = 3;
            break; /* more than were submitted */
        }
        assert_int_equal(take(&token, &bytes), -EIO);
        assert_int_equal(take(&token, &bytes), -EIO);
        assert_int_equal(add_one(0x1000, 64, true), -EIO);
        assert_int_equal(q.in_flight, 2);
    }
}

static void a_request_comes_back_once(void **state)
{
    uintptr_t token;
    uint32_t bytes;

    (void)state;
    begin(8);
    assert_int_equal(add_one(0x1000, 64, false), 0);
    assert_int_equal(add_one(0x2000, 64, false), 0);
    uint32_t head = (uint32_t)device_next();
    device_done(head, 0);
    device_done(head, 0);
    assert_int_equal(take(&token, &bytes), 0);
    assert_int_equal(token, 0x1000);
    assert_int_equal(take(&token, &bytes), -EIO);
}

/* The device may write to descriptors; the driver does not find free ones by them. */
static void scribbled_descriptors_change_nothing(void **state)
{
    const struct virtq_buffer b[] = {{0x1000, 16, false}, {0x2000, 16, false}, {0x3000, 16, false}};
    uintptr_t token;
    uint32_t bytes;

    (void)state;
    begin(8);
    for (unsigned round = 0; round < 20; round++) {
        assert_int_equal(virtq_add(&q, b, 3, NULL), 0);
        uint32_t head = (uint32_t)device_next();
        memset(memory, 0xff, 8 * sizeof(struct virtq_descriptor));
        device_done(head, 0);
        assert_int_equal(take(&token, &bytes), 0);
        assert_int_equal(q.free, 8);
    }
}

/* Chains of any length, completed in any order, while the 16-bit indices wrap around often. */
static void random_requests_all_come_back_once(void **state)
{
    uint64_t seed = 7;
    unsigned added = 0, back = 0, in_flight = 0;
    int held[64];
    struct virtq_descriptor table[5];
    uint8_t out[200000] = {0};
    uintptr_t token;
    uint32_t bytes;

    (void)state;
    begin(64);
    while (back < ARRAY_SIZE(out)) {
        struct virtq_buffer b[5];
        unsigned n = 1 + test_random(&seed) % 5;
        for (unsigned i = 0; i < n; i++)
            b[i] = (struct virtq_buffer){0x1000 * (i + 1), 16, false};
        bool indirect = test_random(&seed) % 3 == 0;
        if (added < ARRAY_SIZE(out) &&
            !(indirect ? virtq_add_indirect(&q, table, 0x1000, b, n, &out[added])
                       : virtq_add(&q, b, n, &out[added])))
            added++;
        for (int head; in_flight < 64 && (head = device_next()) >= 0;)
            held[in_flight++] = head;
        if (in_flight && test_random(&seed) % 3) {
            unsigned pick = test_random(&seed) % in_flight;
            device_done((uint32_t)held[pick], 0);
            held[pick] = held[--in_flight];
        }
        while (test_random(&seed) % 2 && !take(&token, &bytes)) {
            assert_int_equal((*(uint8_t *)token)++, 0);
            back++;
        }
        assert_false(q.broken);
    }
    assert_int_equal(q.free, 64);
    assert_int_equal(q.in_flight, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_of_three_buffers_goes_there_and_back),
        cmocka_unit_test(an_indirect_request_takes_one_descriptor),
        cmocka_unit_test(a_full_queue_refuses_and_a_wrong_request_does),
        cmocka_unit_test(the_device_says_whether_it_wants_to_be_told),
        cmocka_unit_test(lies_break_the_queue),
        cmocka_unit_test(a_request_comes_back_once),
        cmocka_unit_test(scribbled_descriptors_change_nothing),
        cmocka_unit_test(random_requests_all_come_back_once),
    };

    return cmocka_run_group_tests_name("virtq", tests, NULL, NULL);
}
