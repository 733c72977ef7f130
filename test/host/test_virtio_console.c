/*
 * A virtio console from finding it to the bytes that go out, against a double of the device: registers in a page of memory,
 * queues where the driver put them, ports that are announced as the standard says; and every way not to keep to it.
 */
#include "test/host/expect_panic.h"
#include "kernel/arch/arch.h"
#include "kernel/dev/virtio.h"
#include "kernel/dev/virtio_console.h"
#include "kernel/printf.h"
#include "mm/mm.h"
#include "test/host/virtio_config.h"

#define NAME   "vigil.telemetry"
#define QUEUES 64
#define BAR    0x40000000

bool host_irqs_on;
struct cpu *host_cpu;
uint64_t host_ticks;
struct cpu {
    int unused;
};
static struct cpu here;

static uint8_t bar[0x4000] ALIGNED(4096);
static char output[1024];
static void *frames[512];
static unsigned frame_count;

/* What the double does otherwise than it should. */
static struct {
    bool absent, no_bar, no_messages, stuck, refuses_features, no_vector, silent;
    uint64_t features;
    uint16_t queue_size, notify_off;
} is;

static struct {
    struct virtq_descriptor *descriptors;
    struct virtq_available *available;
    struct virtq_used *used;
    uint16_t size, seen;
} queues[QUEUES];
static unsigned sent_bytes, doorbells;

static uint16_t get16(unsigned at)
{
    uint16_t v;
    memcpy(&v, bar + at, sizeof(v));
    return v;
}
static uint32_t get32(unsigned at)
{
    uint32_t v;
    memcpy(&v, bar + at, sizeof(v));
    return v;
}
static void set16(unsigned at, uint16_t v)
{
    memcpy(bar + at, &v, sizeof(v));
}
static void set32(unsigned at, uint32_t v)
{
    memcpy(bar + at, &v, sizeof(v));
}
static void *address(unsigned at)
{
    return phys_to_virt(get32(at) | (uint64_t)get32(at + 4) << 32);
}

/* ---- What the driver stands on ---- */

int pci_find(uint16_t vendor, uint16_t device, unsigned nth, struct pci_device *out)
{
    *out = (struct pci_device){.vendor = vendor, .device = device};
    return !is.absent && vendor == 0x1af4 && device == 0x1003 && !nth ? 0 : -ENODEV;
}
uint32_t pci_read(const struct pci_device *d, unsigned reg)
{
    (void)d;
    return config[reg / 4];
}
int pci_bar(const struct pci_device *d, unsigned n, paddr_t *base, uint64_t *size)
{
    (void)d;
    *base = BAR;
    *size = sizeof(bar);
    return n == 4 && !is.no_bar ? 0 : -ENOENT;
}
void pci_enable(const struct pci_device *d, bool master)
{
    (void)d, (void)master;
}
int pci_msi_connect(const struct pci_device *d, unsigned n, struct cpu *target, void (*handler)(void *arg),
                    void *arg, struct pci_msi *out)
{
    (void)d, (void)n, (void)target, (void)handler, (void)arg, (void)out;
    return is.no_messages ? -ENODEV : 0;
}
void *arch_map_device(paddr_t pa, uint64_t size)
{
    assert_true(pa >= BAR && pa + size <= BAR + sizeof(bar));
    return bar + (pa - BAR);
}
uint64_t arch_clock_ns(void)
{
    return host_ticks += NS_PER_MS;
}
int frame_alloc(unsigned order, paddr_t *out)
{
    void *p = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);

    assert_true(p && frame_count < ARRAY_SIZE(frames));
    frames[frame_count++] = p;
    *out = virt_to_phys(p);
    return 0;
}
int frame_alloc_zeroed(paddr_t *out)
{
    int err = frame_alloc(0, out);
    memset(phys_to_virt(*out), 0, PAGE_SIZE);
    return err;
}
void kprintf(const char *fmt, ...)
{
    size_t used = strlen(output);
    va_list args;

    va_start(args, fmt);
    vsnprintf(output + used, sizeof(output) - used, fmt, args);
    va_end(args);
}

/* ---- The device ---- */

static void done(unsigned queue, uint32_t id, uint32_t bytes)
{
    struct virtq_used *u = queues[queue].used;

    u->ring[u->index % queues[queue].size] = (struct virtq_used_element){id, bytes};
    u->index++;
}

/* The next buffer the driver has given, or NULL. */
static struct virtq_descriptor *next_buffer(unsigned queue, uint32_t *id)
{
    if (!queues[queue].available || queues[queue].seen == queues[queue].available->index)
        return NULL;
    *id = queues[queue].available->ring[queues[queue].seen++ % queues[queue].size];
    return &queues[queue].descriptors[*id];
}

static void say(const void *message, uint32_t bytes)
{
    uint32_t id;
    struct virtq_descriptor *d = next_buffer(2, &id);

    assert_non_null(d);
    memcpy(phys_to_virt(d->address), message, MIN(bytes, d->bytes));
    done(2, id, bytes);
}

static void say_control(uint32_t port, uint16_t event, uint16_t value, const char *name)
{
    struct PACKED {
        uint32_t port;
        uint16_t event, value;
        char name[56];
    } m = {port, event, value, ""};

    strncpy(m.name, name, sizeof(m.name));
    say(&m, 8 + (uint32_t)strlen(name));
}

/* The driver's messages: it is ready; so is a port. */
static void hear_control(const uint8_t *m)
{
    uint16_t event = (uint16_t)(m[4] | m[5] << 8);

    if (is.silent)
        return;
    if (event == 0)
        for (unsigned port = 0; port < 3; port++)
            say_control(port, 1, 0, "");
    if (event == 3) {
        say_control(m[0], 7, 0, m[0] == 2 ? NAME : "another");
        say_control(m[0], 6, m[0] != 0, "");
    }
}

static void ring(unsigned queue)
{
    struct virtq_descriptor *d;
    uint32_t id;

    doorbells++;
    while (queue != 2 && (d = next_buffer(queue, &id))) {
        if (queue == 3)
            hear_control(phys_to_virt(d->address));
        else
            sent_bytes += d->bytes;
        done(queue, id, 0);
    }
}

void host_io_read(const volatile void *reg)
{
    (void)reg;
}

void host_io_written(volatile void *reg)
{
    size_t at = (size_t)((volatile uint8_t *)reg - bar);
    unsigned queue = get16(0x16);

    if (at >= 0x3000) {
        ring((unsigned)(at - 0x3000) / 4);
        return;
    }
    switch (at) {
    case 0x00:
        set32(0x04, get32(0) < 2 ? (uint32_t)(is.features >> 32 * get32(0)) : 0);
        break;
    case 0x14:
        if (is.stuck)
            bar[0x14] = 0x40;
        if (is.refuses_features)
            bar[0x14] &= (uint8_t)~8;
        break;
    case 0x16:
        set16(0x18, is.queue_size);
        set16(0x1a, 0xffff);
        set16(0x1e, is.notify_off ? is.notify_off : (uint16_t)queue);
        break;
    case 0x1a:
        if (is.no_vector)
            set16(0x1a, 0xffff);
        break;
    case 0x1c:
        assert_true(queue < QUEUES);
        queues[queue].size = get16(0x18);
        queues[queue].descriptors = address(0x20);
        queues[queue].available = address(0x28);
        queues[queue].used = address(0x30);
        break;
    }
}

static int begin(void **state)
{
    (void)state;
    make_device();
    memset(bar, 0, sizeof(bar));
    memset(queues, 0, sizeof(queues));
    memset(&is, 0, sizeof(is));
    is.features = VIRTIO_FEATURE_VERSION_1 | 7;
    is.queue_size = 64;
    set16(0x12, QUEUES);
    set32(0x2004, 31);
    output[0] = '\0';
    sent_bytes = doorbells = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    while (frame_count)
        free(frames[--frame_count]);
    return 0;
}

static int open_console(void)
{
    return console_open(&here, NULL, NULL);
}

static unsigned lines(void)
{
    unsigned n = 0;
    for (const char *c = output; *c; c++)
        n += *c == '\n';
    return n;
}

/* ---- Tests ---- */

static void a_port_is_found_by_its_name_and_takes_bytes(void **state)
{
    static uint8_t buffer[100];
    unsigned port = 99;
    void *token;

    (void)state;
    assert_int_equal(open_console(), 0);
    assert_int_equal(bar[0x14], 1 | 2 | 4 | 8);
    assert_int_equal(get32(0x0c), 1); /* VERSION_1, which was written last */
    assert_int_equal(console_find(NAME, &port), 0);
    assert_int_equal(port, 2);
    assert_int_equal(console_find("another", &port), 0);
    assert_int_equal(port, 1); /* port 0 has that name, but nobody listens */
    assert_int_equal(console_sent(2, &token), -EAGAIN);
    assert_int_equal(console_send(2, virt_to_phys(buffer), 100, buffer), 0);
    assert_int_equal(sent_bytes, 100);
    assert_int_equal(console_sent(2, &token), 0);
    assert_ptr_equal(token, buffer);
    assert_int_equal(queues[7].seen, 1);
    assert_int_equal(lines(), 0);
}

static void one_port_without_names_is_taken_as_it_is(void **state)
{
    unsigned port = 99;

    (void)state;
    is.features = VIRTIO_FEATURE_VERSION_1;
    assert_int_equal(open_console(), 0);
    assert_int_equal(console_find(NAME, &port), 0);
    assert_int_equal(port, 0);
    assert_int_equal(console_send(0, 0x1000, 5, NULL), 0);
    assert_int_equal(sent_bytes, 5);
}

static void a_silent_device_has_no_port_yet(void **state)
{
    unsigned port;

    (void)state;
    is.silent = true;
    assert_int_equal(open_console(), 0);
    assert_int_equal(console_find(NAME, &port), -EAGAIN);
    say_control(2, 7, 0, NAME);
    assert_int_equal(console_find(NAME, &port), -EAGAIN);
    say_control(2, 6, 1, "");
    assert_int_equal(console_find(NAME, &port), 0);
    say_control(2, 6, 0, ""); /* closed again */
    assert_int_equal(console_find(NAME, &port), -EAGAIN);
    say_control(2, 6, 1, "");
    say_control(2, 2, 1, ""); /* unplugged */
    assert_int_equal(console_find(NAME, &port), -EAGAIN);
}

static void an_unusable_device_gives_one_line(void **state)
{
    (void)state;
    for (unsigned fault = 0; fault < 11; fault++) {
        begin(NULL);
        switch (fault) {
        case 0:
            is.no_bar = true;
            break;
        case 1:
            is.no_messages = true;
            break;
        case 2:
            is.stuck = true;
            break;
        case 3:
            is.refuses_features = true;
            break;
        case 4:
            is.features = 7;
            break; /* of before the standard */
        case 5:
            is.queue_size = 48;
            break; /* no power of two */
        case 6:
            is.queue_size = 0;
            break; /* no queue */
        case 7:
            is.notify_off = 0x400;
            break; /* its doorbell is outside */
        case 8:
            set16(0x12, 3);
            break; /* fewer queues than it must have */
        case 9:
            is.no_vector = true;
            break;
        case 10:
            config[0x40 / 4 + 3] = 55;
            break; /* registers that are not all there */
        }
        assert_int_equal(open_console(), -EIO);
        assert_int_equal(lines(), 1);
        assert_non_null(strstr(output, ": left alone\n"));
        assert_int_equal(console_send(0, 0x1000, 5, NULL), -EIO);
        assert_int_equal(doorbells, 0);
    }
    begin(NULL);
    is.absent = true;
    assert_int_equal(open_console(), -ENODEV);
    assert_int_equal(lines(), 0);
}

static void a_device_that_returns_what_is_not_its_is_stopped(void **state)
{
    unsigned port;
    void *token;

    (void)state;
    assert_int_equal(open_console(), 0);
    assert_int_equal(console_find(NAME, &port), 0);
    done(7, 63, 0);
    assert_int_equal(console_sent(port, &token), -EIO);
    assert_int_equal(console_sent(port, &token), -EIO);
    assert_int_equal(lines(), 1);
    assert_int_equal(bar[0x14], 0);
    assert_int_equal(console_send(port, 0x1000, 5, NULL), -EIO);
    begin(NULL);
    assert_int_equal(open_console(), 0);
    done(2, 5, 65); /* more than there is room for in a message */
    assert_int_equal(console_find(NAME, &port), -EIO);
    assert_int_equal(lines(), 1);
}

/* Any bytes as messages: nothing is touched outside (the sanitizers see to that), and the ports still work. */
static void random_messages_are_survived(void **state)
{
    uint64_t seed = 3;
    uint8_t message[64];
    unsigned port;

    (void)state;
    is.silent = true;
    assert_int_equal(open_console(), 0);
    for (unsigned round = 0; round < 100000; round++) {
        for (unsigned i = 0; i < sizeof(message); i++)
            message[i] = (uint8_t)test_random(&seed);
        if (round % 2) {
            memset(message, 0, 8);
            message[0] = (uint8_t)(test_random(&seed) % 16);
            message[4] = (uint8_t)(test_random(&seed) % 10);
            message[6] = (uint8_t)(test_random(&seed) % 2);
        }
        say(message, (uint32_t)(test_random(&seed) % 65));
        int err = console_find(NAME, &port);
        assert_true(!err || err == -EAGAIN);
    }
    for (unsigned i = 0; i < 8; i++)
        say_control(i, 2, 0, "");
    say_control(4, 7, 0, NAME);
    say_control(4, 6, 1, "");
    assert_int_equal(console_find(NAME, &port), 0);
    assert_int_equal(port, 4);
    assert_int_equal(lines(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_port_is_found_by_its_name_and_takes_bytes, begin, end),
        cmocka_unit_test_setup_teardown(one_port_without_names_is_taken_as_it_is, begin, end),
        cmocka_unit_test_setup_teardown(a_silent_device_has_no_port_yet, begin, end),
        cmocka_unit_test_setup_teardown(an_unusable_device_gives_one_line, begin, end),
        cmocka_unit_test_setup_teardown(a_device_that_returns_what_is_not_its_is_stopped, begin, end),
        cmocka_unit_test_setup_teardown(random_messages_are_survived, begin, end),
    };

    return cmocka_run_group_tests_name("virtio_console", tests, NULL, NULL);
}
