/*
 * The class of network devices, above a card that does what the test says: frames and buffers all
 * come back once, whatever the order of sending, receiving, resets, failures and closing.
 */
#include "test/host/double/expect_panic.h"
#include "test/host/double/said.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/net/net_core.h"
#include "kernel/mem/mem.h"

#define RING   8
#define FRAMES 64

/* ---- What the class stands on: threads that run until they sleep ----------------------------- */

bool host_irqs_on = true;
struct cpu cpus[CPU_MAX], *host_cpu = cpus;
uint64_t host_ticks = 1;
static struct {
    void (*entry)(void *);
    void *arg;
} thread[NET_QUEUES_MAX];
static unsigned thread_count;
static jmp_buf asleep;
static bool in_thread;
static void *pages[NET_BUFFERS];
static unsigned page_count;
static unsigned pages_left;

uint64_t arch_clock_ns(void)
{
    return host_ticks++;
}
unsigned cpu_count(void)
{
    return 1;
}
const struct sched_topology *sched_topology(void)
{
    static const struct sched_topology topology = {.cpus = 1, .chips = 1};

    return &topology;
}
int frame_alloc(unsigned order, paddr_t *out)
{
    assert_int_equal(order, 0);
    if (!pages_left)
        return -ENOMEM;
    pages_left--;
    pages[page_count] = aligned_alloc(PAGE_SIZE, PAGE_SIZE);
    *out = virt_to_phys(pages[page_count++]);
    return 0;
}
void *area_alloc(uint64_t bytes)
{
    void *p = aligned_alloc(64, ALIGN_UP(bytes, 64));

    memset(p, 0, bytes);
    return p;
}
int thread_create_kernel(const char *name, void (*entry)(void *), void *arg,
                         const struct cpuset *cpus)
{
    (void)name, (void)cpus;
    thread[thread_count].entry = entry;
    thread[thread_count++].arg = arg;
    return 0;
}
void wait_init(struct wait_queue *q)
{
    list_init(&q->waiters);
}
unsigned wait_wake(struct wait_queue *q, unsigned max)
{
    (void)q, (void)max;
    return 0;
}
int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns)
{
    (void)q, (void)deadline_ns;
    assert_true(in_thread);
    spin_unlock(guard, *irq);
    longjmp(asleep, 1);
}
void sched_sleep_until(uint64_t deadline_ns)
{
    host_ticks = MAX(host_ticks, deadline_ns);
}
void mutex_init(struct mutex *m, const char *name)
{
    (void)name;
    m->word = 0;
}
void mutex_lock(struct mutex *m)
{
    assert_int_equal(this_cpu()->spin_depth, 0);
    assert_int_equal(m->word, 0);
    m->word = 1;
}
void mutex_unlock(struct mutex *m)
{
    assert_int_not_equal(m->word, 0);
    m->word = 0;
}
static void run_thread(unsigned i)
{
    in_thread = true;
    if (!setjmp(asleep))
        thread[i].entry(thread[i].arg);
    in_thread = false;
    assert_true(host_irqs_on);
    assert_int_equal(this_cpu()->spin_depth, 0);
}
static void run_threads(void)
{
    for (unsigned i = 0; i < thread_count; i++)
        run_thread(i);
}

/* ---- The card -------------------------------------------------------------------------------- */

static struct {
    struct net_send *out[RING];
    unsigned out_count, sent; /* the first `sent` of them */
    struct net_buffer *in[RING];
    unsigned arrived[RING], arrived_count; /* lengths of frames that wait */
    bool stuck, stopped, masked, link;
    int start_error;
} card;

static int start(struct net_device *d)
{
    if (card.start_error)
        return card.start_error;
    for (unsigned i = 0; i < RING; i++)
        assert_non_null(card.in[i] = net_take(&d->queue[0]));
    card.stopped = false;
    return 0;
}
static void stop(struct net_device *d)
{
    (void)d;
    assert_false(card.stopped);
    card.stopped = true;
    card.out_count = card.sent = card.arrived_count = 0;
    for (unsigned i = 0; i < RING; i++)
        net_free(card.in[i]);
}
static unsigned send_frames(struct net_queue *q, struct net_send *const *frames, unsigned n)
{
    unsigned i = 0;

    assert_true(spin_held(&q->send) && !card.stopped);
    for (; i < n && card.out_count < RING; i++) {
        card.out[card.out_count++] = frames[i];
        net_taken(q, frames[i]);
    }
    return i;
}
static void reclaim(struct net_queue *q)
{
    assert_true(spin_held(&q->send) && !card.stopped);
    for (unsigned i = 0; i < card.sent; i++)
        net_sent(q, card.out[i]);
    memmove(card.out, card.out + card.sent, (RING - card.sent) * sizeof(*card.out));
    card.out_count -= card.sent;
    card.sent = 0;
}
static unsigned poll(struct net_queue *q)
{
    unsigned n = card.arrived_count;

    assert_int_not_equal(q->work.word, 0);
    for (unsigned i = 0; i < n; i++) {
        struct net_buffer *b = card.in[i], *other = net_take(q);
        if (other)
            card.in[i] = other;
        else
            net_dropped(q, true);
        if (!other)
            continue;
        b->data = b->memory + NET_BUFFER_MARGIN + 2;
        b->bytes = card.arrived[i];
        net_received(q, b);
    }
    card.arrived_count = 0;
    return n;
}
static void mask(struct net_queue *q)
{
    (void)q;
    card.masked = true;
}
static bool unmask(struct net_queue *q)
{
    (void)q;
    card.masked = false;
    return card.arrived_count;
}
static bool look_link(struct net_device *d)
{
    d->mbps = 1000;
    return card.link;
}
static const struct net_ops ops = {start, stop, send_frames, reclaim,
                                   poll,  mask, unmask,      look_link};

/* ---- The stack ------------------------------------------------------------------------------- */

static struct net_device device;
static struct net_send frame[FRAMES];
static bool flies[FRAMES];
static unsigned done_count, given_up, links;
static struct net_buffer *kept[NET_BUFFERS];
static unsigned kept_count;

static void note_done(struct net_send *s, int status)
{
    assert_true(flies[s - frame] && (status == 0 || status == -EIO) && host_irqs_on);
    assert_int_equal(this_cpu()->spin_depth, 0);
    flies[s - frame] = false;
    done_count++;
    given_up += status != 0;
}
static void receive(void *arg, struct net_device *d, unsigned queue,
                    struct net_buffer *const *frames, unsigned n)
{
    assert_true(arg == kept && d == &device && !queue && n && n <= NET_BATCH);
    for (unsigned i = 0; i < n; i++)
        kept[kept_count++] = frames[i];
}
static void link_changed(void *arg, struct net_device *d)
{
    assert_true(arg == kept);
    links++;
    assert_int_equal(d->up, card.link);
}
static const struct net_handlers handlers = {receive, link_changed};

static int send_one(unsigned i)
{
    struct net_send *s = &frame[i];

    *s = (struct net_send){.parts = 1, .part = {{0x1000, 60}}, .done = note_done};
    flies[i] = true;
    int taken = net_send(&device, 0, &s, 1);
    flies[i] = taken == 1;
    return taken;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_device_opens_and_closes(void **state)
{
    (void)state;
    device = (struct net_device){.kind = "fake", .mtu = 1500, .queues = 1, .ops = &ops};
    card.stopped = true;
    net_add(&device, "nowhere");
    assert_string_equal(device.name, "fake0");
    assert_ptr_equal(net_first(), &device);
    pages_left = 3;
    assert_int_equal(net_open(&device, &handlers, kept), -ENOMEM);
    pages_left = NET_BUFFERS;
    card.start_error = -EIO;
    assert_int_equal(net_open(&device, &handlers, kept), -EIO);
    assert_int_equal(send_one(0), -ENETDOWN);
    card.start_error = 0;
    assert_int_equal(net_open(&device, &handlers, kept), 0);
    assert_int_equal(net_open(&device, &handlers, kept), -EBUSY);
    assert_int_equal(net_spare(&device, 0), NET_BUFFERS - RING);
    assert_int_equal(thread_count, 1);
    net_close(&device);
    net_close(&device);
    assert_int_equal(net_spare(&device, 0), NET_BUFFERS);
    assert_int_equal(page_count, NET_BUFFERS / 2);
}

static void a_full_ring_says_so(void **state)
{
    (void)state;
    assert_int_equal(net_open(&device, &handlers, kept), 0);
    for (unsigned i = 0; i < RING; i++)
        assert_int_equal(send_one(i), 1);
    assert_int_equal(send_one(RING), -EAGAIN);
    card.sent = 1;
    assert_int_equal(send_one(RING), 1); /* there is room, though the thread has not looked */
    assert_int_equal(done_count, 0);
    run_threads();
    assert_int_equal(done_count, 1);
    card.sent = RING;
    net_interrupt(&device.queue[0]);
    assert_true(card.masked);
    run_threads();
    assert_false(card.masked);
    assert_int_equal(done_count, RING + 1);
    net_close(&device);
}

static void a_link_is_told(void **state)
{
    (void)state;
    links = 0;
    card.link = true;
    assert_int_equal(net_open(&device, &handlers, kept), 0);
    run_threads();
    assert_int_equal(links, 1);
    run_threads();
    assert_int_equal(links, 1);
    card.link = false;
    run_threads();
    net_wake(&device.queue[0]);
    run_threads();
    assert_int_equal(links, 2);
    card.link = true;
    net_close(&device);
}

static void a_device_that_does_not_send_is_reset(void **state)
{
    struct net_stats s;

    (void)state;
    assert_int_equal(net_open(&device, &handlers, kept), 0);
    run_threads();
    done_count = given_up = 0;
    assert_int_equal(send_one(0), 1);
    net_wake(&device.queue[0]);
    run_threads();
    assert_int_equal(done_count, 0);
    host_ticks += 6 * NS_PER_S;
    said[0] = '\0';
    net_wake(&device.queue[0]);
    run_threads();
    assert_int_equal(given_up, 1);
    assert_non_null(strstr(said, "event=reset name=fake0 queue=0 reason=timeout"));
    net_read_stats(&device, &s);
    assert_int_equal(s.resets, 1);
    assert_int_equal(send_one(0), 1);
    net_close(&device);
    assert_int_equal(given_up, 2);
}

static void a_broken_device_is_stopped_until_it_is_reset(void **state)
{
    (void)state;
    assert_int_equal(net_open(&device, &handlers, kept), 0);
    done_count = given_up = 0;
    assert_int_equal(send_one(0), 1);
    net_broken(&device);
    assert_int_equal(send_one(1), -ENETDOWN);
    run_threads();
    assert_true(card.stopped);
    assert_int_equal(given_up, 1);
    assert_int_equal(net_spare(&device, 0), NET_BUFFERS);
    assert_int_equal(net_reset(&device), 0);
    assert_int_equal(send_one(1), 1);
    net_close(&device);
}

static void random_operations_lose_nothing(void **state)
{
    uint64_t seed = 11;
    struct net_stats s;

    (void)state;
    done_count = 0;
    unsigned taken = 0;
    assert_int_equal(net_open(&device, &handlers, kept), 0);
    for (unsigned step = 0; step < 200000; step++) {
        unsigned i = test_random(&seed) % FRAMES;
        switch (test_random(&seed) % 64) {
        case 0:
            net_reset(&device);
            break;
        case 1:
            net_close(&device);
            for (unsigned k = 0; k < FRAMES; k++)
                assert_false(flies[k]);
            assert_int_equal(net_spare(&device, 0) + kept_count, NET_BUFFERS);
            break;
        case 2 ... 4:
            net_open(&device, &handlers, kept);
            break;
        case 5:
            if (device.running)
                net_broken(&device);
            break;
        case 6 ... 15:
            run_threads();
            break;
        case 16 ... 25:
            if (device.running)
                net_interrupt(&device.queue[0]);
            break;
        case 26 ... 35:
            card.sent = card.out_count ? test_random(&seed) % (card.out_count + 1) : 0;
            break;
        case 36 ... 45:
            if (!card.stopped && card.arrived_count < RING)
                card.arrived[card.arrived_count++] = test_random(&seed) % 1600;
            break;
        case 46 ... 55:
            while (kept_count > (step / 20000 % 2 ? 0 : NET_BUFFERS))
                net_free(kept[--kept_count]);
            break;
        default:
            if (!flies[i])
                taken += send_one(i) == 1;
        }
    }
    net_close(&device);
    assert_int_equal(done_count, taken);
    while (kept_count)
        net_free(kept[--kept_count]);
    assert_int_equal(net_spare(&device, 0), NET_BUFFERS);
    net_read_stats(&device, &s);
    assert_true(s.malformed && s.received > 1000 && s.no_buffer && s.full && s.given_up);
    for (unsigned i = 0; i < page_count; i++)
        free(pages[i]);
    free(device.queue[0].buffers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_opens_and_closes),
        cmocka_unit_test(a_full_ring_says_so),
        cmocka_unit_test(a_link_is_told),
        cmocka_unit_test(a_device_that_does_not_send_is_reset),
        cmocka_unit_test(a_broken_device_is_stopped_until_it_is_reset),
        cmocka_unit_test(random_operations_lose_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
