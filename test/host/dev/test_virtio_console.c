/*
 * A virtio console, from the probe to the bytes sent, against a double of the device: registers in
 * a page of memory, queues where the driver put them, ports that are announced as in the standard;
 * and every way to violate it.
 */
#include "test/host/double/expect_panic.h"
#include "kernel/arch/arch.h"
#include "kernel/dev/virtio/virtio_console.h"
#include "test/host/double/virtio_double.h"

#define NAME "vigil.telemetry"

static bool silent;
static unsigned sent_bytes;

/* ---- The device ------------------------------------------------------------------------------ */

static void say(const void *message, uint32_t bytes)
{
    uint32_t id;
    struct virtq_descriptor *d = virtio_double_next(2, &id);

    assert_non_null(d);
    memcpy(phys_to_virt(d->address), message, MIN(bytes, d->bytes));
    virtio_double_done(2, id, bytes);
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

/* Handles the driver's control messages: it is ready; a port is ready. */
static void hear_control(const uint8_t *m)
{
    uint16_t event = (uint16_t)(m[4] | m[5] << 8);

    if (silent)
        return;
    if (event == 0)
        for (unsigned port = 0; port < 3; port++)
            say_control(port, 1, 0, "");
    if (event == 3) {
        say_control(m[0], 7, 0, m[0] == 2 ? NAME : "another");
        say_control(m[0], 6, m[0] != 0, "");
    }
}

void virtio_double_rung(unsigned queue)
{
    struct virtq_descriptor *d;
    uint32_t id;

    while (queue != 2 && (d = virtio_double_next(queue, &id))) {
        if (queue == 3)
            hear_control(phys_to_virt(d->address));
        else
            sent_bytes += d->bytes;
        virtio_double_done(queue, id, 0);
    }
}

static int begin(void **state)
{
    (void)state;
    virtio_double_begin(0x1003, 7);
    virtio_double_set32(VIRTIO_DOUBLE_CONFIG + 4, 31);
    silent = false;
    sent_bytes = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    virtio_double_end();
    return 0;
}

static int open_console(void)
{
    return console_open(NULL, NULL, NULL);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_port_is_found_by_its_name_and_takes_bytes(void **state)
{
    static uint8_t buffer[100];
    unsigned port = 99;
    void *token;

    (void)state;
    assert_int_equal(open_console(), 0);
    assert_int_equal(virtio_double.bar[0x14], 1 | 2 | 4 | 8);
    assert_int_equal(virtio_double_get32(0x0c), 1); /* VERSION_1, which was written last */
    assert_int_equal(console_find(NAME, &port), 0);
    assert_int_equal(port, 2);
    assert_int_equal(console_find("another", &port), 0);
    assert_int_equal(port, 1); /* port 0 has that name, but is not open */
    assert_int_equal(console_sent(2, &token), -EAGAIN);
    assert_int_equal(console_send(2, virt_to_phys(buffer), 100, buffer), 0);
    assert_int_equal(sent_bytes, 100);
    assert_int_equal(console_sent(2, &token), 0);
    assert_ptr_equal(token, buffer);
    assert_int_equal(virtio_double.queue[7].seen, 1);
    assert_int_equal(virtio_double_lines(), 0);
}

static void one_port_without_names_is_taken_as_it_is(void **state)
{
    unsigned port = 99;

    (void)state;
    virtio_double.features = VIRTIO_FEATURE_VERSION_1;
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
    silent = true;
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
            virtio_double.no_bar = true;
            break;
        case 1:
            virtio_double.no_messages = true;
            break;
        case 2:
            virtio_double.stuck = true;
            break;
        case 3:
            virtio_double.refuses_features = true;
            break;
        case 4:
            virtio_double.features = 7;
            break; /* of before version 1.0 */
        case 5:
            virtio_double.queue_size = 48;
            break; /* not a power of two */
        case 6:
            virtio_double.queue_size = 0;
            break; /* no queue */
        case 7:
            virtio_double.notify_off = 0x400;
            break; /* its doorbell is outside */
        case 8:
            virtio_double_set16(0x12, 3);
            break; /* fewer queues than required */
        case 9:
            virtio_double.no_vector = true;
            break;
        case 10:
            virtio_double_capabilities[0x40 / 4 + 3] = 55;
            break; /* registers are incomplete */
        }
        assert_int_equal(open_console(), -EIO);
        assert_int_equal(virtio_double_lines(), 1);
        assert_non_null(strstr(said, ": left alone\n"));
        assert_int_equal(console_send(0, 0x1000, 5, NULL), -EIO);
        assert_int_equal(virtio_double.doorbells, 0);
        assert_int_equal(virtio_double.silenced,
                         /* A device that does not reset accesses no memory any more, either. */
                         virtio_double.stuck);
    }
    begin(NULL);
    virtio_double.absent = true;
    assert_int_equal(open_console(), -ENODEV);
    assert_int_equal(virtio_double_lines(), 0);
}

static void a_device_that_returns_what_is_not_its_is_stopped(void **state)
{
    unsigned port;
    void *token;

    (void)state;
    assert_int_equal(open_console(), 0);
    assert_int_equal(console_find(NAME, &port), 0);
    virtio_double_done(7, 63, 0);
    assert_int_equal(console_sent(port, &token), -EIO);
    assert_int_equal(console_sent(port, &token), -EIO);
    assert_int_equal(virtio_double_lines(), 1);
    assert_int_equal(virtio_double.bar[0x14], 0);
    assert_int_equal(console_send(port, 0x1000, 5, NULL), -EIO);
    begin(NULL);
    assert_int_equal(open_console(), 0);
    virtio_double_done(2, 5, 65); /* more than a message has room for */
    assert_int_equal(console_find(NAME, &port), -EIO);
    assert_int_equal(virtio_double_lines(), 1);
}

/* Random messages: nothing outside is accessed (the sanitizers check), and the ports still work. */
static void random_messages_are_survived(void **state)
{
    uint64_t seed = 3;
    uint8_t message[64];
    unsigned port;

    (void)state;
    silent = true;
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
    assert_int_equal(virtio_double_lines(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_port_is_found_by_its_name_and_takes_bytes, begin, end),
        cmocka_unit_test_setup_teardown(one_port_without_names_is_taken_as_it_is, begin, end),
        cmocka_unit_test_setup_teardown(a_silent_device_has_no_port_yet, begin, end),
        cmocka_unit_test_setup_teardown(an_unusable_device_gives_one_line, begin, end),
        cmocka_unit_test_setup_teardown(a_device_that_returns_what_is_not_its_is_stopped, begin,
                                        end),
        cmocka_unit_test_setup_teardown(random_messages_are_survived, begin, end),
    };

    return cmocka_run_group_tests_name("virtio_console", tests, NULL, NULL);
}
