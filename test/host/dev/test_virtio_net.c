/*
 * A virtio network device against a double of the device: frames in one buffer and in several, in
 * any parts, several queues; and a device that writes anything into its rings and headers.
 */
#include "test/host/double/expect_panic.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/net/net_core.h"
#include "kernel/dev/net/virtio_net_frame.h"
#include "kernel/mem/mem.h"
#include "test/host/double/virtio_double.h"

#define BUFFERS      600
#define FRAMES       300
#define HEADER       12
#define FEATURES     (F_MRG | F_MAC | F_STATUS | VIRTIO_FEATURE_INDIRECT)
#define F_CSUM       ((uint64_t)1 << 0)
#define F_GUEST_CSUM ((uint64_t)1 << 1)
#define F_MTU        ((uint64_t)1 << 3)
#define F_MAC        ((uint64_t)1 << 5)
#define F_MRG        ((uint64_t)1 << 15)
#define F_STATUS     ((uint64_t)1 << 16)
#define F_CTRL_VQ    ((uint64_t)1 << 17)
#define F_MQ         ((uint64_t)1 << 22)
#define F_RSS        ((uint64_t)1 << 60)

/* ---- The class ------------------------------------------------------------------------------- */

struct cpu cpus[CPU_MAX];
static unsigned cpus_there;
static struct net_device *found;
static struct net_buffer *buffer[BUFFERS];
static bool is_free[BUFFERS];
static unsigned free_count, free_limit; /* as few as net_take() leaves */
static unsigned broken, dropped, sent_count, received_count, interrupts[NET_QUEUES_MAX];
static struct net_buffer *received[NET_BATCH];
static struct net_send frame[FRAMES];
static bool flies[FRAMES];
static void *heap[32];
static unsigned heap_count;

unsigned cpu_count(void)
{
    return cpus_there;
}
void *kmalloc(size_t size)
{
    assert_true(heap_count < ARRAY_SIZE(heap));
    return heap[heap_count++] = calloc(1, size);
}
void kfree(void *p)
{
    assert_true(!p || p == heap[heap_count - 1]);
    if (p)
        free(heap[--heap_count]);
}
void net_add(struct net_device *d, const char *what)
{
    assert_string_equal(what, "at 00:00.0");
    for (unsigned i = 0; i < d->queues; i++)
        d->queue[i] = (struct net_queue){.device = d, .number = i, .cpu = &cpus[i]};
    found = d;
}
static unsigned index_of(const struct net_buffer *b)
{
    for (unsigned i = 0; i < BUFFERS; i++)
        if (buffer[i] == b)
            return i;
    fail();
    return 0;
}
struct net_buffer *net_take(struct net_queue *q)
{
    for (unsigned i = 0; free_count > free_limit && i < BUFFERS; i++)
        if (is_free[i]) {
            is_free[i] = false;
            free_count--;
            *buffer[i] = (struct net_buffer){.queue = q, .memory = buffer[i]->memory};
            return buffer[i];
        }
    return NULL;
}
void net_free(struct net_buffer *b)
{
    for (struct net_buffer *next; b; b = next) {
        next = b->next;
        assert_false(is_free[index_of(b)]);
        is_free[index_of(b)] = true;
        free_count++;
    }
}
/* Every byte that the driver says there is lies in a buffer. */
void net_received(UNUSED struct net_queue *q, struct net_buffer *first)
{
    for (struct net_buffer *b = first; b; b = b->next) {
        assert_false(is_free[index_of(b)]);
        assert_true(b->data >= b->memory + NET_BUFFER_MARGIN);
        assert_true(b->bytes <= b->memory + NET_BUFFER_BYTES - b->data);
    }
    assert_true(((uintptr_t)(first->data + NET_HEADER_BYTES) & 3) == 0);
    assert_true(received_count < NET_BATCH);
    received[received_count++] = first;
}
void net_dropped(UNUSED struct net_queue *q, bool no_buffer)
{
    assert_true(no_buffer);
    dropped++;
}
void net_taken(UNUSED struct net_queue *q, struct net_send *s)
{
    assert_false(flies[s - frame]);
    flies[s - frame] = true;
}
void net_sent(UNUSED struct net_queue *q, struct net_send *s)
{
    assert_true(flies[s - frame]);
    flies[s - frame] = false;
    sent_count++;
}
void net_broken(struct net_device *d)
{
    d->failed = true;
    broken++;
}
void net_interrupt(struct net_queue *q)
{
    interrupts[q->number]++;
    q->device->ops->mask(q);
}

/* ---- The device ------------------------------------------------------------------------------ */

static uint8_t commanded[400];
static uint32_t commanded_bytes;
static uint8_t reply;

void virtio_double_rung(unsigned queue)
{
    unsigned commands = 2u * virtio_double_get16(VIRTIO_DOUBLE_CONFIG + 8);
    uint32_t id;

    if (!(virtio_double.features & F_CTRL_VQ) || queue != commands)
        return;
    while (virtio_double_next(queue, &id)) {
        const struct virtq_descriptor *d = &virtio_double.queue[queue].descriptors[id], *more;
        more = &virtio_double.queue[queue].descriptors[d->next];
        assert_int_equal(d->bytes, 2);
        memcpy(commanded, phys_to_virt(d->address), 2);
        assert_true(more->bytes <= sizeof(commanded) - 2);
        memcpy(commanded + 2, phys_to_virt(more->address), more->bytes);
        commanded_bytes = more->bytes;
        d = &virtio_double.queue[queue].descriptors[more->next];
        assert_true(d->bytes == 1 && d->flags == 2);
        *(uint8_t *)phys_to_virt(d->address) = reply;
        virtio_double_done(queue, id, 1);
    }
}

/* Puts a frame of `bytes` with this header into as many buffers as it takes, each filled up to
 * `fill`. Returns how many. */
static unsigned deliver(unsigned queue, struct virtio_net_header h, unsigned bytes, unsigned fill)
{
    unsigned at = 0, n = 0, total = bytes + HEADER;
    uint8_t stream[12000];

    h.buffers = (uint16_t)((total + fill - 1) / fill);
    memcpy(stream, &h, HEADER);
    for (unsigned i = 0; i < bytes; i++)
        stream[HEADER + i] = (uint8_t)(bytes + i);
    for (; at < total; n++) {
        uint32_t id;
        struct virtq_descriptor *d = virtio_double_next(queue, &id);
        unsigned part = MIN(fill, total - at);
        assert_non_null(d);
        assert_true(d->flags == 2 && part <= d->bytes);
        memcpy(phys_to_virt(d->address), stream + at, part);
        virtio_double_done(queue, id, part);
        at += part;
    }
    return n;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void forget(void)
{
    while (heap_count)
        free(heap[--heap_count]);
    for (unsigned i = 0; i < BUFFERS; i++) {
        if (buffer[i]) {
            free(buffer[i]->memory);
            free(buffer[i]);
        }
        buffer[i] = NULL;
    }
    virtio_double_end();
}

static int begin(void **state)
{
    static const uint8_t mac[] = {2, 1, 2, 3, 4, 5};

    (void)state;
    forget();
    virtio_double_begin(0x1000, FEATURES);
    virtio_double.queue_size = 256;
    memcpy(virtio_double.bar + VIRTIO_DOUBLE_CONFIG, mac, sizeof(mac));
    virtio_double_set16(VIRTIO_DOUBLE_CONFIG + 6, 1);
    virtio_double_set16(VIRTIO_DOUBLE_CONFIG + 8, 1);
    for (unsigned i = 0; i < BUFFERS; i++) {
        buffer[i] = calloc(1, sizeof(*buffer[i]) + 16);
        buffer[i]->memory = aligned_alloc(64, NET_BUFFER_BYTES);
        is_free[i] = true;
    }
    memset(flies, 0, sizeof(flies));
    memset(interrupts, 0, sizeof(interrupts));
    found = NULL;
    free_count = BUFFERS;
    free_limit = broken = dropped = sent_count = received_count = 0;
    cpus_there = 1;
    reply = 0;
    return 0;
}

static int end(void **state)
{
    begin(state);
    forget();
    return 0;
}

static struct net_device *open_card(void)
{
    net_virtio_driver.probe();
    assert_non_null(found);
    assert_int_equal(found->ops->start(found), 0);
    found->running = true;
    return found;
}

static void check_frame(const struct net_buffer *b, unsigned bytes)
{
    unsigned at = 0;

    for (; b; b = b->next)
        for (unsigned i = 0; i < b->bytes; i++, at++)
            assert_int_equal(b->data[i], (uint8_t)(bytes + at));
    assert_int_equal(at, bytes);
}

static void a_card_is_found(void **state)
{
    (void)state;
    struct net_device *d = open_card();
    assert_int_equal(d->mac[1], 1);
    assert_int_equal(d->mac[5], 5);
    assert_int_equal(d->mtu, 1500);
    assert_int_equal(d->queues, 1);
    assert_int_equal(d->offloads, 0);
    assert_true(d->ops->link(d));
    assert_int_equal(free_count, BUFFERS - 256);
    virtio_double_set16(VIRTIO_DOUBLE_CONFIG + 6, 0);
    assert_false(d->ops->link(d));
    d->ops->stop(d);
    assert_int_equal(free_count, BUFFERS);
    assert_int_equal(virtio_double_lines(), 0);
}

static void frames_arrive_in_one_buffer_and_in_several(void **state)
{
    (void)state;
    struct net_device *d = open_card();
    for (unsigned bytes = 14; bytes < 1600; bytes++) {
        unsigned fill = bytes % 3 ? 1900 : 14 + bytes % 400;
        unsigned n = 1;
        if ((bytes + HEADER + fill - 1) / fill > 8)
            fill = 300;
        n = deliver(0, (struct virtio_net_header){0}, bytes, fill);
        assert_int_equal(d->ops->poll(&d->queue[0]), n);
        assert_int_equal(received_count, 1);
        check_frame(received[0], bytes);
        net_free(received[0]);
        received_count = 0;
        assert_int_equal(free_count, BUFFERS - 256);
    }
    assert_int_equal(broken, 0);
}

static void a_frame_that_cannot_be_replaced_is_dropped(void **state)
{
    (void)state;
    struct net_device *d = open_card();
    free_limit = free_count - 1;
    deliver(0, (struct virtio_net_header){0}, 100, 1900);
    deliver(0, (struct virtio_net_header){0}, 101, 1900);
    deliver(0, (struct virtio_net_header){0}, 500, 200);
    assert_int_equal(d->ops->poll(&d->queue[0]), 5);
    assert_int_equal(received_count, 1);
    assert_int_equal(dropped, 2);
    net_free(received[0]);
    assert_int_equal(free_count, BUFFERS - 256);
    free_limit = received_count = 0;
    for (unsigned i = 0; i < 256; i++) { /* the ring is full: a whole round */
        deliver(0, (struct virtio_net_header){0}, 60, 1900);
        d->ops->poll(&d->queue[0]);
        net_free(received[0]);
        received_count = 0;
    }
}

static void sums_are_made_and_checked_if_the_device_can(void **state)
{
    (void)state;
    virtio_double.features |= F_CSUM | F_GUEST_CSUM;
    struct net_device *d = open_card();
    assert_int_equal(d->offloads, NET_MAKES_SUMS | NET_CHECKS_SUMS);
    for (uint8_t flags = 0; flags < 4; flags++) {
        deliver(0, (struct virtio_net_header){.flags = flags}, 60, 1900);
        d->ops->poll(&d->queue[0]);
        assert_int_equal(received[0]->flags, flags ? NET_CHECKED : 0);
        received_count = 0;
    }
    struct net_send *s = &frame[0];
    *s = (struct net_send){
        .parts = 1, .part = {{0x1000, 60}}, .sum = true, .sum_from = 34, .sum_at = 16};
    assert_int_equal(d->ops->send(&d->queue[0], &s, 1), 1);
    uint32_t id;
    struct virtq_descriptor *t = phys_to_virt(virtio_double_next(1, &id)->address);
    struct virtio_net_header h;
    memcpy(&h, phys_to_virt(t[0].address), sizeof(h));
    assert_true(h.flags == 1 && h.sum_from == 34 && h.sum_at == 16 && !h.gso_type);
}

static void frames_are_sent_in_parts(void **state)
{
    uint64_t seed = 5;
    unsigned flying = 0, next = 0;
    uint32_t held[FRAMES];

    (void)state;
    for (unsigned indirect = 0; indirect < 2; indirect++) {
        begin(NULL);
        virtio_double.features &= ~(indirect ? 0 : VIRTIO_FEATURE_INDIRECT);
        struct net_device *d = open_card();
        flying = 0;
        for (unsigned round = 0; round < 5000; round++) {
            struct net_send *s = &frame[next];
            uint32_t id;
            *s = (struct net_send){.parts = 1 + test_random(&seed) % NET_PARTS_MAX};
            for (unsigned i = 0; i < s->parts; i++)
                s->part[i] = (struct net_part){0x10000 * next + i, i + 1};
            int taken = (int)d->ops->send(&d->queue[0], &s, 1);
            if (taken) {
                struct virtq_descriptor *t = virtio_double_next(1, &id);
                held[flying++] = id;
                struct virtq_descriptor *table = virtio_double.queue[1].descriptors;
                if (indirect)
                    table = t = phys_to_virt(t->address);
                for (unsigned i = 0; i < s->parts; i++) {
                    assert_true(t->flags & 1);
                    t = &table[t->next];
                    assert_true(t->address == s->part[i].at && t->bytes == i + 1);
                }
                assert_int_equal(t->flags, 0);
                next = (next + 1) % FRAMES;
            }
            while (flying && (!taken || !(test_random(&seed) % 3))) {
                unsigned pick = test_random(&seed) % flying;
                virtio_double_done(1, held[pick], 0);
                held[pick] = held[--flying];
                taken = 1;
            }
            d->ops->reclaim(&d->queue[0]);
            while (flies[next])
                next = (next + 1) % FRAMES;
        }
        assert_true(sent_count > 2000 && !broken);
    }
}

static void queues_are_used_and_spread_over(void **state)
{
    (void)state;
    for (unsigned rss = 0; rss < 2; rss++) {
        begin(NULL);
        virtio_double.features |= F_CTRL_VQ | F_MQ | (rss ? F_RSS : 0);
        virtio_double_set16(VIRTIO_DOUBLE_CONFIG + 8, 6);
        virtio_double.bar[VIRTIO_DOUBLE_CONFIG + 17] = 40;
        virtio_double_set16(VIRTIO_DOUBLE_CONFIG + 18, 128);
        virtio_double_set32(VIRTIO_DOUBLE_CONFIG + 20, 0x1ff);
        cpus_there = 2;
        struct net_device *d = open_card();
        assert_int_equal(d->queues, 2);
        assert_int_equal(commanded[0], 4);
        assert_int_equal(commanded[1], rss);
        if (!rss) {
            assert_int_equal(commanded_bytes, 2);
            assert_int_equal(commanded[2], 2);
            continue;
        }
        assert_int_equal(commanded_bytes, 4 + 2 + 2 + 256 + 2 + 1 + 40);
        assert_true(d->offloads & NET_SPREADS);
        for (unsigned i = 0; i < 128; i++)
            assert_int_equal(commanded[2 + 8 + 2 * i], net_hash_queue(i, 2));
        assert_int_equal(commanded[2 + 264], 2);
        assert_memory_equal(commanded + 2 + 267, net_rss_key, 40);
    }
    begin(NULL);
    virtio_double.features |= F_CTRL_VQ | F_MQ;
    virtio_double_set16(VIRTIO_DOUBLE_CONFIG + 8, 2);
    cpus_there = 2;
    reply = 1;
    net_virtio_driver.probe();
    assert_int_equal(found->ops->start(found), -EIO);
    assert_int_equal(free_count, BUFFERS);
    assert_int_equal(virtio_double_lines(), 1);
    reply = 0;
    assert_int_equal(found->ops->start(found), 0);
}

/* The verification suite of receive-side scaling. */
static void hashes_are_those_of_other_systems(void **state)
{
    static const uint8_t one[] = {66,  9,  149,       187,        161,       142,
                                  100, 80, 2794 >> 8, 2794 & 255, 1766 >> 8, 1766 & 255};
    static const uint8_t two[] = {199, 92, 111,        2,           65,        69,
                                  140, 83, 14230 >> 8, 14230 & 255, 4739 >> 8, 4739 & 255};

    (void)state;
    assert_int_equal(net_hash(one, 12), 0x51ccc178);
    assert_int_equal(net_hash(one, 8), 0x323e8fc2);
    assert_int_equal(net_hash(two, 12), 0xc626b0ea);
    assert_int_equal(net_hash(two, 8), 0xd718262a);
}

/* The device writes anything: what arrives is in buffers, and nothing gets lost. */
static void random_rings_and_headers_are_survived(void **state)
{
    unsigned failures = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15;
        begin(NULL);
        virtio_double.features |= F_CSUM | F_GUEST_CSUM;
        if (seed % 3 == 0)
            virtio_double.features &= ~F_MRG;
        struct net_device *d = open_card();
        struct net_queue *q = &d->queue[0];
        for (unsigned step = 0; step < 200 && !d->failed; step++) {
            unsigned queue = test_random(&random) % 8 == 0;
            uint32_t id, lie = test_random(&random) % 1500, bytes = test_random(&random) % 2000;
            struct virtq_descriptor *t = virtio_double_next(queue, &id);
            if (t && !queue) {
                struct virtio_net_header h = {.buffers = 1, .flags = lie & 3};
                h.buffers += lie == 1 ? test_random(&random) % 70000 : lie < 30 ? lie % 4 : 0;
                h.gso_type = lie == 9;
                h.buffers -= lie == 10;
                memcpy(phys_to_virt(t->address), &h, sizeof(h));
                bytes = MAX(bytes, 14u) + (lie == 11 ? 2000 : 0) - (lie == 12 ? 14 : 0);
            }
            if (t)
                virtio_double_done(queue, lie == 13 ? (uint32_t)test_random(&random) : id,
                                   queue && lie != 14 ? 0
                                                      : MIN(bytes, lie == 11 ? 9999u : t->bytes));
            if (lie == 15 && test_random(&random) % 8 == 0)
                virtio_double.queue[queue].used->index += (uint16_t)test_random(&random);
            struct net_send *s = &frame[step];
            *s = (struct net_send){.parts = 1 + lie % 16};
            for (unsigned i = 0; i < s->parts; i++)
                s->part[i] = (struct net_part){0x1000, 1};
            if (!d->failed && step < FRAMES)
                d->ops->send(q, &s, 1);
            if (test_random(&random) % 3)
                continue;
            d->ops->reclaim(q);
            if (!d->failed)
                d->ops->poll(q);
            while (received_count)
                net_free(received[--received_count]);
        }
        failures += d->failed;
        while (received_count)
            net_free(received[--received_count]);
        d->ops->stop(d);
        assert_int_equal(free_count, BUFFERS);
        assert_true(virtio_double_lines() == d->failed && broken == d->failed);
    }
    assert_true(failures > 100 && failures < 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_card_is_found, begin),
        cmocka_unit_test_setup(frames_arrive_in_one_buffer_and_in_several, begin),
        cmocka_unit_test_setup(a_frame_that_cannot_be_replaced_is_dropped, begin),
        cmocka_unit_test_setup(sums_are_made_and_checked_if_the_device_can, begin),
        cmocka_unit_test_setup(frames_are_sent_in_parts, begin),
        cmocka_unit_test_setup(queues_are_used_and_spread_over, begin),
        cmocka_unit_test_setup(hashes_are_those_of_other_systems, begin),
        cmocka_unit_test_setup(random_rings_and_headers_are_survived, begin),
    };

    return cmocka_run_group_tests(tests, NULL, end);
}
