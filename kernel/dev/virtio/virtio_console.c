/* See virtio_console.h. The second of a port's two queues carries the bytes sent. Devices with
 * several ports send control messages about them in a third pair of queues. Nothing is read from a
 * port. */
#include "virtio_console.h"
#include "virtio.h"
#include "kernel/arch/arch.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"

#define KIND_CONSOLE      3
#define FEATURE_MULTIPORT ((uint64_t)1 << 1)
#define CONFIG_PORTS      4 /* max_nr_ports */
#define PORTS_MAX         8 /* further ports are not used */
#define NAME_MAX          32

enum { QUEUE_CONTROL_IN = 2, QUEUE_CONTROL_OUT = 3 };
static unsigned queue_out(unsigned port)
{
    return port ? 2 * port + 3 : 1; /* 5.3.2 */
}

/* 5.3.6.2 */
enum control_event {
    DEVICE_READY = 0,
    DEVICE_ADD = 1,
    DEVICE_REMOVE = 2,
    PORT_READY = 3,
    PORT_OPEN = 6,
    PORT_NAME = 7,
};
struct control {
    uint32_t port;
    uint16_t event, value;
};

#define CONTROL_IN_BYTES  64 /* longer names are cut off */
#define CONTROL_IN_COUNT  16
#define CONTROL_OUT_COUNT 32
/* Buffers for control messages, in a frame. */
struct control_memory {
    char in[CONTROL_IN_COUNT][CONTROL_IN_BYTES];
    struct control out[CONTROL_OUT_COUNT];
};
_Static_assert(sizeof(struct control_memory) <= PAGE_SIZE, "one frame holds it");

static struct {
    struct virtio_device device;
    struct virtio_queue in, out; /* for control messages */
    struct control_memory *memory;
    unsigned next_out;
    unsigned ports;
    bool multiport;
    struct port {
        struct virtio_queue queue;
        bool open;
        char name[NAME_MAX];
    } port[PORTS_MAX];
} console;

static bool broke_rules(int err)
{
    if (err == -EIO)
        virtio_fail(&console.device, "device: it returned a buffer that was not its");
    return err == -EIO;
}

static int offer_buffer(void *buffer)
{
    struct virtq_buffer b = {virt_to_phys(buffer), CONTROL_IN_BYTES, true};

    return virtq_add(&console.in.ring, &b, 1, buffer);
}

/* Sends a control message. Few are in flight: one for each message of the device. */
static int send_control(unsigned port, enum control_event event, unsigned value)
{
    struct control *c = &console.memory->out[console.next_out++ % CONTROL_OUT_COUNT];
    struct virtq_buffer b = {virt_to_phys(c), sizeof(*c), false};
    void *token;
    uint32_t written;
    int err;

    while (!(err = virtq_take(&console.out.ring, &token, &written)))
        ;
    if (broke_rules(err))
        return err;
    *c = (struct control){port, (uint16_t)event, (uint16_t)value};
    err = virtq_add(&console.out.ring, &b, 1, c);
    if (!err)
        virtio_notify(&console.out);
    return err;
}

static void take_name(struct port *port, const char *name, size_t bytes)
{
    size_t n = MIN(bytes, (size_t)NAME_MAX - 1);

    memcpy(port->name, name, n);
    port->name[n] = '\0';
}

/* Handles a control message; `bytes` is at most CONTROL_IN_BYTES. */
static int handle_control(const char *message, uint32_t bytes)
{
    struct control c;

    if (bytes < sizeof(c))
        return 0;
    memcpy(&c, message, sizeof(c));
    if (c.port >= console.ports)
        return 0;
    struct port *port = &console.port[c.port];
    switch (c.event) {
    case DEVICE_ADD:
        return send_control(c.port, PORT_READY, 1);
    case DEVICE_REMOVE:
        port->open = false;
        port->name[0] = '\0';
        return 0;
    case PORT_NAME:
        take_name(port, message + sizeof(c), bytes - sizeof(c));
        return 0;
    case PORT_OPEN:
        port->open = c.value;
        return c.value ? send_control(c.port, PORT_OPEN, 1) : 0;
    default: /* sizes, and which ports are consoles: irrelevant for a stream of bytes */
        return 0;
    }
}

static int handle_controls(void)
{
    void *buffer;
    uint32_t bytes;
    int err;
    bool any = false;

    while (!(err = virtq_take(&console.in.ring, &buffer, &bytes))) {
        err = handle_control(buffer, bytes);
        if (!err)
            err = offer_buffer(buffer);
        if (err)
            return err;
        any = true;
    }
    if (any)
        virtio_notify(&console.in);
    return broke_rules(err) ? err : 0;
}

static int open_control(void)
{
    paddr_t frame;
    int err = frame_alloc_zeroed(&frame);

    if (err)
        return err;
    console.memory = phys_to_virt(frame);
    err = virtio_queue_open(&console.device, QUEUE_CONTROL_IN, CONTROL_IN_COUNT, 0, &console.in);
    if (!err)
        err = virtio_queue_open(&console.device, QUEUE_CONTROL_OUT, CONTROL_OUT_COUNT, 0,
                                &console.out);
    for (unsigned i = 0;
         !err && i < MIN((unsigned)CONTROL_IN_COUNT, (unsigned)console.in.ring.size); i++)
        err = offer_buffer(console.memory->in[i]);
    return err;
}

static int open_queues(void)
{
    int err = console.multiport ? open_control() : 0;

    for (unsigned i = 0; !err && i < console.ports; i++)
        err = virtio_queue_open(&console.device, queue_out(i), CONSOLE_IN_FLIGHT_MAX, 0,
                                &console.port[i].queue);
    return err;
}

int console_open(struct cpu *target, void (*wake)(void *arg), void *arg)
{
    struct virtio_device *d = &console.device;

    memset(&console, 0, sizeof(console));
    int err = virtio_open(KIND_CONSOLE, 0, "console", 0, FEATURE_MULTIPORT, d);

    if (!err)
        err = virtio_connect(d, 0, target, wake, arg);
    if (err)
        return err;
    console.multiport = d->features & FEATURE_MULTIPORT;
    console.ports =
        console.multiport ? MIN(virtio_config(d, CONFIG_PORTS), (uint32_t)PORTS_MAX) : 1;
    err = open_queues();
    if (err) {
        virtio_fail(d, err == -ENOMEM ? "memory: no memory for its queues"
                                      : "queues: it has not the queues it must have");
        return err == -ENOMEM ? err : -EIO;
    }
    virtio_start(d);
    if (!console.multiport)
        return 0;
    virtio_notify(&console.in);
    return send_control(0, DEVICE_READY, 1);
}

int console_find(const char *name, unsigned *port)
{
    int err = console.multiport ? handle_controls() : 0;

    if (err)
        return err;
    for (unsigned i = 0; i < console.ports; i++) {
        const struct port *p = &console.port[i];
        if (console.multiport && (!p->open || !text_same(name, p->name, text_length(p->name))))
            continue;
        *port = i;
        return 0;
    }
    return -EAGAIN;
}

int console_send(unsigned port, paddr_t at, uint32_t bytes, void *token)
{
    struct virtio_queue *q = &console.port[port].queue;
    struct virtq_buffer b = {at, bytes, false};
    int err = console.device.failed ? -EIO : virtq_add(&q->ring, &b, 1, token);

    if (!err)
        virtio_notify(q);
    return err;
}

int console_sent(unsigned port, void **token)
{
    uint32_t written;
    int err = virtq_take(&console.port[port].queue.ring, token, &written);

    broke_rules(err);
    return err;
}
