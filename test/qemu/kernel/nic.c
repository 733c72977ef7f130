/*
 * A network card, opposite QEMU's user network: 10.0.2.2 there answers ARP requests and echoes
 * pings. Any card of the class will do; the tests know it by net_device.h only. Where the card is a
 * port of the simulated machine's wire, the other port is the gateway, and the wire's times are
 * looked at as well.
 */
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/dev/net/net_device.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "test/qemu/kernel/suite.h"

#define OUTS       64
#define WAIT_NS    (5 * NS_PER_S)
#define MANY       3000
#define PING_MAX   1472 /* bytes of data */
#define KEPT_MAX   1024
#define ADDRESSES  32
#define ANSWERS    256
#define TRAIN      200 /* frames, one behind the other */
#define SLACK_NS   (100 * NS_PER_US)
#define IP_AT      NET_HEADER_BYTES
#define ADDR_AT    (IP_AT + 12)
#define ICMP_AT    (IP_AT + 20)
#define PING_AT    (ICMP_AT + 8)
#define ARP_BYTES  (NET_HEADER_BYTES + 28)
#define TYPE_TRAIN 0x88b5 /* for experiments: a number from 0 on follows */

static const uint8_t gateway_ip[4] = {10, 0, 2, 2};
static uint8_t own_ip[4] = {10, 0, 2, 15};

/* A frame to be sent; its bytes may be in several parts. In a page of its own. */
struct out {
    struct net_send send;
    bool busy;
    uint8_t bytes[NET_HEADER_BYTES + 1500];
};
_Static_assert(sizeof(struct out) <= PAGE_SIZE, "a page holds it");

static struct {
    struct spinlock lock; /* guards all below */
    struct wait_queue changed;
    struct out *out[OUTS];
    unsigned flying, sent, given_up, arps, pings, wrong, hashed;
    uint32_t queues; /* bit q: a ping has come by queue q */
    uint8_t gateway_mac[NET_MAC_BYTES];
    bool got[PING_MAX + 1]; /* pings of that many bytes have come back */
    bool keeping;
    struct net_buffer *kept[KEPT_MAX];
    unsigned kept_count;
    unsigned spare[NET_QUEUES_MAX]; /* of the queues, when the card was opened */
} test = {.lock = SPINLOCK(LOCK_THREAD, "nic test")};

/* The gateway on the wire. */
static struct {
    struct net_device *device; /* NULL: QEMU has one */
    struct spinlock lock;      /* guards all below */
    struct answer {
        struct net_send send;
        struct net_buffer *frame; /* sent back from where it is; NULL: free */
    } * answer;
    unsigned counted, disordered; /* frames of TYPE_TRAIN */
    uint64_t last_ns;             /* when the last of them was there */
    unsigned dropped;             /* frames without an answer, as none was free */
} gateway = {.lock = SPINLOCK(LOCK_THREAD, "nic test's gateway")};

/* ---- What frames are ------------------------------------------------------------------------- */

static void put16(uint8_t *at, unsigned v)
{
    at[0] = (uint8_t)(v >> 8);
    at[1] = (uint8_t)v;
}

static unsigned get16(const uint8_t *at)
{
    return (unsigned)(at[0] << 8 | at[1]);
}

static unsigned sum_of(const uint8_t *at, unsigned bytes)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < bytes; i++)
        sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

static uint8_t pattern(unsigned bytes, unsigned i)
{
    return (uint8_t)(bytes * 7 + i);
}

static void fill_header(const struct net_device *d, uint8_t *f, unsigned type)
{
    memcpy(f, test.gateway_mac, NET_MAC_BYTES);
    memcpy(f + 6, d->mac, NET_MAC_BYTES);
    put16(f + 12, type);
}

static unsigned fill_arp(const struct net_device *d, uint8_t *f)
{
    static const uint8_t start[] = {0, 1, 8, 0, 6, 4, 0, 1}; /* Ethernet, IPv4; a request */

    memset(f, 0, ARP_BYTES);
    fill_header(d, f, 0x0806);
    memset(f, 0xff, NET_MAC_BYTES);
    memcpy(f + 14, start, sizeof(start));
    memcpy(f + 22, d->mac, NET_MAC_BYTES);
    memcpy(f + 28, own_ip, 4);
    memcpy(f + 38, gateway_ip, 4);
    return ARP_BYTES;
}

static unsigned fill_ping(const struct net_device *d, uint8_t *f, unsigned bytes)
{
    fill_header(d, f, 0x0800);
    memset(f + IP_AT, 0, 28);
    f[IP_AT] = 0x45;
    put16(f + IP_AT + 2, 28 + bytes);
    f[IP_AT + 8] = 64;
    f[IP_AT + 9] = 1; /* ICMP */
    memcpy(f + IP_AT + 12, own_ip, 4);
    memcpy(f + IP_AT + 16, gateway_ip, 4);
    put16(f + IP_AT + 10, sum_of(f + IP_AT, 20));
    f[ICMP_AT] = 8;            /* echo request */
    put16(f + ICMP_AT + 4, 1); /* an answer of zeros alone has two right checksums */
    put16(f + ICMP_AT + 6, bytes);
    for (unsigned i = 0; i < bytes; i++)
        f[PING_AT + i] = pattern(bytes, i);
    put16(f + ICMP_AT + 2, sum_of(f + ICMP_AT, 8 + bytes));
    return PING_AT + bytes;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* Looks at an answer to a ping; lock held. Short frames may have padding. */
static void take_ping(const uint8_t *f, unsigned bytes)
{
    unsigned ip = get16(f + IP_AT + 2), n = get16(f + ICMP_AT + 6);
    bool right = n <= PING_MAX && ip == 28 + n && bytes >= IP_AT + ip && !f[ICMP_AT] &&
                 !sum_of(f + IP_AT, 20) && !sum_of(f + ICMP_AT, 8 + n);

    for (unsigned i = 0; right && i < n; i++)
        right = f[PING_AT + i] == pattern(n, i);
    if (right)
        test.got[n] = true;
    test.pings += right;
    test.wrong += !right;
}

/* Looks at how the card has chosen the queue; lock held. */
static void take_hash(const struct net_device *d, unsigned queue, const struct net_buffer *b)
{
    uint32_t hash = net_hash(b->data + ADDR_AT, 8);

    test.queues |= 1u << queue;
    if (d->offloads & NET_SPREADS)
        test.wrong += queue != net_hash_queue(hash, d->queues);
    if (!(b->flags & NET_HASHED))
        return;
    test.wrong += b->hash != hash;
    test.hashed++;
}

static void take_frame(const struct net_device *d, unsigned queue, const struct net_buffer *b)
{
    const uint8_t *f = b->data;

    test.wrong += b->next || b->bytes != b->frame_bytes || ((uintptr_t)(f + IP_AT) & 3);
    if (b->bytes >= ARP_BYTES && get16(f + 12) == 0x0806 && get16(f + 20) == 2) {
        test.wrong += memcmp(f + 28, gateway_ip, 4) || memcmp(f + 32, d->mac, NET_MAC_BYTES) ||
                      memcmp(f + 38, own_ip, 4);
        memcpy(test.gateway_mac, f + 22, NET_MAC_BYTES);
        test.arps++;
    } else if (b->bytes >= PING_AT && get16(f + 12) == 0x0800 && f[IP_AT + 9] == 1) {
        take_hash(d, queue, b);
        take_ping(f, b->bytes);
    }
}

static void receive(void *arg, struct net_device *d, unsigned queue,
                    struct net_buffer *const *frames, unsigned n)
{
    CHECK(arg == &test && arch_irq_enabled() && n && n <= NET_BATCH);
    for (unsigned i = 0; i < n; i++) {
        bool irq = spin_lock(&test.lock);
        bool keep = test.keeping && test.kept_count < KEPT_MAX;
        take_frame(d, queue, frames[i]);
        if (keep)
            test.kept[test.kept_count++] = frames[i];
        wait_wake(&test.changed, 1);
        spin_unlock(&test.lock, irq);
        memset(frames[i]->owner, 0x5a, sizeof(frames[i]->owner));
        memset(frames[i]->data - NET_BUFFER_MARGIN, 0x5a, NET_BUFFER_MARGIN);
        if (!keep)
            net_free(frames[i]);
    }
}

static void link_changed(UNUSED void *arg, struct net_device *d)
{
    CHECK(d->up);
}

static const struct net_handlers handlers = {receive, link_changed};

/* ---- The gateway on the wire ----------------------------------------------------------------- */

static void answer_sent(struct net_send *s, UNUSED int status)
{
    struct answer *a = container_of(s, struct answer, send);

    net_free(a->frame);
    bool irq = spin_lock(&gateway.lock);
    a->frame = NULL;
    spin_unlock(&gateway.lock, irq);
}

static void swap(uint8_t *a, uint8_t *b, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Turns an ARP request or a ping into its answer. Returns false if it is neither. */
static bool make_answer(const struct net_device *d, uint8_t *f, unsigned bytes)
{
    if (bytes >= ARP_BYTES && get16(f + 12) == 0x0806 && get16(f + 20) == 1) {
        put16(f + 20, 2);
        swap(f + 22, f + 32, 10);
        memcpy(f + 22, d->mac, NET_MAC_BYTES);
    } else if (bytes >= PING_AT && get16(f + 12) == 0x0800 && f[IP_AT + 9] == 1) {
        f[ICMP_AT] = 0;
        put16(f + ICMP_AT + 2, 0);
        put16(f + ICMP_AT + 2, sum_of(f + ICMP_AT, get16(f + IP_AT + 2) - 20));
        swap(f + ADDR_AT, f + ADDR_AT + 4, 4);
    } else {
        return false;
    }
    memcpy(f, f + 6, NET_MAC_BYTES);
    memcpy(f + 6, d->mac, NET_MAC_BYTES);
    return true;
}

static bool send_answer(struct net_device *d, unsigned queue, struct net_buffer *b)
{
    struct answer *a = NULL;
    bool irq = spin_lock(&gateway.lock);

    for (unsigned i = 0; i < ANSWERS && !a; i++)
        a = gateway.answer[i].frame ? NULL : &gateway.answer[i];
    if (a)
        a->frame = b;
    gateway.dropped += !a;
    spin_unlock(&gateway.lock, irq);
    if (!a)
        return false;
    a->send = (struct net_send){
        .part[0] = {virt_to_phys(b->data), b->bytes}, .parts = 1, .done = answer_sent};
    struct net_send *s = &a->send;
    bool sent = net_send(d, queue, &s, 1) == 1;
    if (!sent)
        a->frame = NULL;
    return sent;
}

static void count_train(const uint8_t *f)
{
    uint64_t now_ns = arch_clock_ns();
    bool irq = spin_lock(&gateway.lock);

    gateway.disordered += get16(f + NET_HEADER_BYTES) != gateway.counted;
    gateway.counted++;
    gateway.last_ns = now_ns;
    spin_unlock(&gateway.lock, irq);
}

static void gateway_receives(UNUSED void *arg, struct net_device *d, unsigned queue,
                             struct net_buffer *const *frames, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (get16(frames[i]->data + 12) == TYPE_TRAIN)
            count_train(frames[i]->data);
        if (!make_answer(d, frames[i]->data, frames[i]->bytes) || !send_answer(d, queue, frames[i]))
            net_free(frames[i]);
    }
}

static const struct net_handlers gateway_handlers = {.receive = gateway_receives};

/* Opens the wire's other port, if the card is one. */
static void open_gateway(struct net_device *d)
{
    if (!text_same(d->kind, "wire", 4) || !d->next)
        return;
    gateway.device = d->next;
    gateway.answer = area_alloc(ANSWERS * sizeof(*gateway.answer));
    CHECK(gateway.answer && !net_open(gateway.device, &gateway_handlers, NULL));
}

/* ---- Sending --------------------------------------------------------------------------------- */

static void note_done(struct net_send *s, int status)
{
    struct out *o = container_of(s, struct out, send);

    CHECK(arch_irq_enabled());
    bool irq = spin_lock(&test.lock);
    CHECK(o->busy && (status == 0 || status == -EIO));
    o->busy = false;
    test.flying--;
    test.sent += !status;
    test.given_up += status != 0;
    wait_wake(&test.changed, 1);
    spin_unlock(&test.lock, irq);
}

/* Waits until *count is at least n; lock held. Returns whether it is. */
static bool wait_for(const unsigned *count, unsigned n, bool *irq)
{
    uint64_t until_ns = arch_clock_ns() + WAIT_NS;

    while (*count < n && arch_clock_ns() < until_ns)
        wait_sleep(&test.changed, &test.lock, irq, until_ns);
    return *count >= n;
}

/* Returns a frame that is not in flight, after waiting for one. */
static struct out *take_out(void)
{
    struct out *o = NULL;
    uint64_t until_ns = arch_clock_ns() + WAIT_NS;
    bool irq = spin_lock(&test.lock);

    while (!o && arch_clock_ns() < until_ns) {
        for (unsigned i = 0; i < OUTS && !o; i++)
            o = test.out[i]->busy ? NULL : test.out[i];
        if (!o)
            wait_sleep(&test.changed, &test.lock, &irq, until_ns);
    }
    if (o)
        o->busy = true;
    test.flying += o != NULL;
    spin_unlock(&test.lock, irq);
    return o;
}

/* Sends a frame's `bytes` in parts: the first of `first` bytes, the others longer by `more` each.
 */
static int send_parts(struct net_device *d, struct out *o, unsigned bytes, unsigned first,
                      unsigned more)
{
    struct net_send *s = &o->send;
    uint64_t until_ns = arch_clock_ns() + WAIT_NS;
    unsigned at = 0, length = first;
    int err;

    *s = (struct net_send){.done = note_done};
    while (at < bytes) {
        unsigned n = s->parts + 1 == NET_PARTS_MAX ? bytes - at : MIN(length, bytes - at);
        s->part[s->parts++] = (struct net_part){virt_to_phys(o->bytes + at), n};
        at += n;
        length += more;
    }
    while ((err = net_send(d, d->queues - 1, &s, 1)) == -EAGAIN && arch_clock_ns() < until_ns)
        sched_sleep_until(arch_clock_ns() + NS_PER_MS);
    return err;
}

static bool send_arp(struct net_device *d)
{
    struct out *o = take_out();

    return o && send_parts(d, o, fill_arp(d, o->bytes), ARP_BYTES, 0) == 1;
}

static bool send_ping(struct net_device *d, unsigned bytes, unsigned first, unsigned more)
{
    struct out *o = take_out();

    return o && send_parts(d, o, fill_ping(d, o->bytes, bytes), first, more) == 1;
}

/* Waits for the link, which may have to be negotiated. */
static void wait_for_link(const struct net_device *d)
{
    uint64_t until_ns = arch_clock_ns() + WAIT_NS;

    while (!__atomic_load_n(&d->up, __ATOMIC_RELAXED) && arch_clock_ns() < until_ns)
        sched_sleep_until(arch_clock_ns() + NS_PER_MS);
    CHECK(d->up);
}

/* Sends n requests, `ahead` of which may be without an answer, and waits for their answers. */
static bool exchange(struct net_device *d, unsigned n, unsigned ahead)
{
    bool good = true;
    unsigned before = test.arps;

    for (unsigned i = 0; good && i < n; i++) {
        good = send_arp(d);
        bool irq = spin_lock(&test.lock);
        if (i >= ahead)
            good = good && wait_for(&test.arps, before + i - ahead + 1, &irq);
        spin_unlock(&test.lock, irq);
    }
    bool irq = spin_lock(&test.lock);
    good = good && wait_for(&test.arps, before + n, &irq);
    spin_unlock(&test.lock, irq);
    return good;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static struct net_device *card(void)
{
    struct net_device *d = net_first();

    CHECK(d);
    return d;
}

static void a_card_opens_once(void)
{
    struct net_device *d = card();
    struct net_send s = {0}, *frame = &s;
    paddr_t page;

    if (!d)
        return;
    wait_init(&test.changed);
    for (unsigned i = 0; i < OUTS; i++) {
        CHECK(!frame_alloc_zeroed(&page));
        test.out[i] = phys_to_virt(page);
    }
    CHECK(net_find(d->name) == d && !net_find("none"));
    s.done = note_done;
    s.parts = 1;
    s.part[0] = (struct net_part){virt_to_phys(test.out[0]), 60};
    CHECK(net_send(d, 0, &frame, 1) == -ENETDOWN);
    CHECK(net_reset(d) == -ENETDOWN);
    net_close(d);
    int err = net_open(d, &handlers, &test);
    kprintf("# nic=%s kind=%s open=%d queues=%u\n", d->name, d->kind, err, d->queues);
    CHECK(!err);
    CHECK(net_open(d, &handlers, &test) == -EBUSY);
    for (unsigned i = 0; i < d->queues; i++)
        test.spare[i] = net_spare(d, i);
    open_gateway(d);
}

static void wrong_frames_are_refused(void)
{
    struct net_device *d = card();
    struct net_send s = {.done = note_done}, *frame = &s;

    if (!d)
        return;
    CHECK(net_send(d, 0, &frame, 0) == 0);
    CHECK(net_send(d, d->queues, &frame, 1) == -EINVAL);
    CHECK(net_send(d, 0, &frame, 1) == -EINVAL);
    s.parts = NET_PARTS_MAX + 1;
    CHECK(net_send(d, 0, &frame, 1) == -EINVAL);
    s.parts = 2;
    s.part[0] = (struct net_part){virt_to_phys(test.out[0]), 60};
    CHECK(net_send(d, 0, &frame, 1) == -EINVAL); /* an empty part */
    s.part[1] = (struct net_part){virt_to_phys(test.out[0]), d->mtu + NET_HEADER_BYTES - 59};
    CHECK(net_send(d, 0, &frame, 1) == -EINVAL); /* one byte too long */
    s.part[1].bytes = UINT32_MAX;
    CHECK(net_send(d, 0, &frame, 1) == -EINVAL);
    s.parts = 1;
    s.part[0].bytes = NET_HEADER_BYTES - 1;
    CHECK(net_send(d, 0, &frame, 1) == -EINVAL);
    s.part[0].bytes = 60;
    s.sum = true;
    s.sum_from = 34;
    s.sum_at = 25; /* beyond the end */
    CHECK(net_send(d, 0, &frame, 1) == -EINVAL);
}

static void the_gateway_answers(void)
{
    struct net_device *d = card();

    if (!d)
        return;
    wait_for_link(d);
    CHECK(exchange(d, 1, 0));
    kprintf("# gateway=%02x:%02x:%02x:%02x:%02x:%02x\n", test.gateway_mac[0], test.gateway_mac[1],
            test.gateway_mac[2], test.gateway_mac[3], test.gateway_mac[4], test.gateway_mac[5]);
}

static void thousands_of_frames_come_and_go(void)
{
    struct net_device *d = card();
    struct net_stats s;

    if (!d)
        return;
    CHECK(exchange(d, MANY, 32));
    net_read_stats(d, &s);
    kprintf("# sent=%llu received=%llu polls=%llu interrupts=%llu full=%llu dropped=%llu\n",
            (unsigned long long)s.sent, (unsigned long long)s.received, (unsigned long long)s.polls,
            (unsigned long long)s.interrupts, (unsigned long long)s.full,
            (unsigned long long)(s.no_buffer + s.malformed + s.missed));
    CHECK(s.received >= MANY && s.interrupts && !test.wrong && !s.malformed && !s.no_buffer);
}

static void frames_of_all_sizes_in_any_parts(void)
{
    struct net_device *d = card();
    unsigned before = test.pings, n = 0;
    bool good = true;

    if (!d)
        return;
    for (unsigned bytes = 0; good && bytes <= PING_MAX; bytes++) {
        good = send_ping(d, bytes, 1 + bytes % 90, bytes % 40);
        bool irq = spin_lock(&test.lock);
        if (n >= 32)
            good = good && wait_for(&test.pings, before + n - 32 + 1, &irq);
        spin_unlock(&test.lock, irq);
        n++;
    }
    bool irq = spin_lock(&test.lock);
    CHECK(good && wait_for(&test.pings, before + n, &irq));
    spin_unlock(&test.lock, irq);
    for (unsigned bytes = 0; bytes <= PING_MAX; bytes++)
        if (!test.got[bytes]) {
            kprintf("# missing=%u\n", bytes);
            CHECK(test.got[bytes]);
            break;
        }
    CHECK(!test.wrong);
}

/* The guest has several addresses: the cards take two of them to be two machines. */
static void frames_are_spread_by_their_hash(void)
{
    struct net_device *d = card();

    if (!d)
        return;
    test.queues = test.hashed = 0;
    for (unsigned i = 0; i < ADDRESSES; i++) {
        own_ip[3] = (uint8_t)(20 + i);
        unsigned before = test.pings;
        CHECK(exchange(d, 1, 0)); /* the gateway learns the address */
        CHECK(send_ping(d, 100, PING_AT + 100, 0));
        bool irq = spin_lock(&test.lock);
        CHECK(wait_for(&test.pings, before + 1, &irq));
        spin_unlock(&test.lock, irq);
    }
    own_ip[3] = 15;
    kprintf("# queues_seen=%x hashed=%u\n", test.queues, test.hashed);
    CHECK(!test.wrong);
    CHECK(!(d->offloads & NET_SPREADS) || __builtin_popcount(test.queues) > 1);
    CHECK(!(d->offloads & NET_SPREADS) || !(d->offloads & NET_HASHES) || test.hashed == ADDRESSES);
}

static uint64_t frame_ns(unsigned bytes)
{
    uint64_t all = MAX(bytes, (unsigned)MACHINE_WIRE_BYTES_MIN) + MACHINE_WIRE_BYTES_MORE;
    uint32_t mbps = machine_wire(0)->mbps;

    return mbps ? all * 8000 / mbps : 0;
}

/* A cycle is a nanosecond. The least of some, since threads of the kernel may be in the way. */
static void the_wire_takes_its_time(void)
{
    struct net_device *d = card();
    uint64_t least_ns = UINT64_MAX;

    if (!d || !gateway.device)
        return;
    for (unsigned i = 0; i < 10; i++) {
        unsigned before = test.pings;
        uint64_t since_ns = arch_clock_ns();
        CHECK(send_ping(d, PING_MAX, PING_AT + PING_MAX, 0));
        bool irq = spin_lock(&test.lock);
        CHECK(wait_for(&test.pings, before + 1, &irq));
        spin_unlock(&test.lock, irq);
        least_ns = MIN(least_ns, arch_clock_ns() - since_ns);
    }
    uint64_t wire_ns = 2 * (machine_wire(0)->latency_cycles + frame_ns(PING_AT + PING_MAX));
    kprintf("# there_and_back=%llu of_it_wire=%llu\n", (unsigned long long)least_ns,
            (unsigned long long)wire_ns);
    CHECK(least_ns >= wire_ns && least_ns <= wire_ns + SLACK_NS);
}

static void a_train_of_frames_has_the_wire_s_rate(void)
{
    struct net_device *d = card();
    const unsigned bytes = NET_HEADER_BYTES + 1500;

    if (!d || !gateway.device)
        return;
    uint64_t since_ns = arch_clock_ns();
    for (unsigned i = 0; i < TRAIN; i++) {
        struct out *o = take_out();
        CHECK(o);
        if (!o)
            return;
        fill_header(d, o->bytes, TYPE_TRAIN);
        put16(o->bytes + NET_HEADER_BYTES, i);
        CHECK(send_parts(d, o, bytes, bytes, 0) == 1);
    }
    for (uint64_t until_ns = arch_clock_ns() + WAIT_NS;
         __atomic_load_n(&gateway.counted, __ATOMIC_RELAXED) < TRAIN && arch_clock_ns() < until_ns;)
        sched_sleep_until(arch_clock_ns() + NS_PER_MS);
    uint64_t took_ns = gateway.last_ns - since_ns;
    uint64_t wire_ns = machine_wire(0)->latency_cycles + TRAIN * frame_ns(bytes);
    kprintf("# train=%u took=%llu of_it_wire=%llu\n", gateway.counted, (unsigned long long)took_ns,
            (unsigned long long)wire_ns);
    CHECK(gateway.counted == TRAIN && !gateway.disordered);
    CHECK(took_ns >= wire_ns);
    /* a frame costs the CPUs 5 us at most: that is the rate of a fast wire */
    CHECK(took_ns <= MAX(wire_ns, TRAIN * (uint64_t)5000) + SLACK_NS);
}

static void the_wire_loses_and_doubles_nothing(void)
{
    struct net_stats here, there;

    if (!card() || !gateway.device)
        return;
    net_read_stats(card(), &here);
    net_read_stats(gateway.device, &there);
    kprintf("# there=%llu,%llu here=%llu,%llu polls=%llu interrupts=%llu\n",
            (unsigned long long)there.received, (unsigned long long)there.sent,
            (unsigned long long)here.received, (unsigned long long)here.sent,
            (unsigned long long)there.polls, (unsigned long long)there.interrupts);
    CHECK(there.received == machine_wire(0)->sent && here.received == machine_wire(1)->sent);
    CHECK(there.received_bytes == machine_wire(0)->sent_bytes);
    CHECK(here.received == there.received - TRAIN && !gateway.dropped);
    CHECK(!here.missed && !there.missed && !there.no_buffer && !there.malformed);
    CHECK(there.interrupts && here.interrupts && !test.wrong);
    CHECK(!machine_wire(0)->wrong && !machine_wire(1)->wrong && !machine_wire(1)->foreign);
}

/* Waits until no answer has come for half a second; lock held. */
static void wait_for_quiet(bool *irq)
{
    uint64_t now_ns = arch_clock_ns(), until_ns = now_ns + WAIT_NS, quiet_ns = 0;
    unsigned seen = test.arps - 1;

    do {
        if (test.arps != seen)
            quiet_ns = now_ns + NS_PER_S / 2;
        seen = test.arps;
        wait_sleep(&test.changed, &test.lock, irq, quiet_ns);
        now_ns = arch_clock_ns();
    } while (now_ns < MIN(quiet_ns, until_ns));
}

static void kept_buffers_run_out_and_come_back(void)
{
    struct net_device *d = card();
    struct net_stats s;

    if (!d)
        return;
    test.keeping = true;
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        CHECK(send_arp(d));
        if (gateway.device && i % 16 == 0) /* it may have the CPU that receives */
            sched_sleep_until(arch_clock_ns() + NS_PER_MS);
    }
    bool irq = spin_lock(&test.lock);
    wait_for_quiet(&irq);
    unsigned kept = test.kept_count;
    test.keeping = false;
    spin_unlock(&test.lock, irq);
    net_read_stats(d, &s);
    kprintf("# kept=%u no_buffer=%llu\n", kept, (unsigned long long)s.no_buffer);
    CHECK(kept >= 256 && kept < KEPT_MAX && s.no_buffer);
    for (unsigned i = 0; i < kept; i++)
        net_free(test.kept[i]);
    test.kept_count = 0;
    CHECK(exchange(d, 300, 16) && !test.wrong);
}

static void a_reset_gives_frames_back(void)
{
    struct net_device *d = card();

    if (!d)
        return;
    for (unsigned i = 0; i < 20; i++) {
        CHECK(send_arp(d) && send_arp(d) && send_arp(d));
        CHECK(!net_reset(d));
        bool irq = spin_lock(&test.lock);
        CHECK(!test.flying);
        spin_unlock(&test.lock, irq);
    }
    wait_for_link(d);
    CHECK(exchange(d, 300, 16) && !test.wrong);
}

static void a_card_can_be_closed_and_opened_again(void)
{
    struct net_device *d = card();
    struct net_stats s;

    if (!d)
        return;
    for (unsigned i = 0; i < 5; i++) {
        CHECK(send_arp(d));
        net_close(d);
        bool irq = spin_lock(&test.lock);
        CHECK(!test.flying);
        spin_unlock(&test.lock, irq);
        CHECK(!net_open(d, &handlers, &test));
    }
    wait_for_link(d);
    CHECK(exchange(d, 300, 16) && !test.wrong);
    net_read_stats(d, &s);
    CHECK(s.resets == 20 && s.sent == test.sent && s.given_up == test.given_up);
    for (unsigned i = 0; i < d->queues; i++)
        CHECK(net_spare(d, i) == test.spare[i]);
    net_close(d);
    if (gateway.device)
        net_close(gateway.device);
}

const struct suite nic_suite = {
    "nic", (const struct suite_test[]){
               {"a card opens, once", a_card_opens_once},
               {"wrong frames are refused", wrong_frames_are_refused},
               {"the gateway answers", the_gateway_answers},
               {"thousands of frames come and go", thousands_of_frames_come_and_go},
               {"frames of all sizes, in any parts", frames_of_all_sizes_in_any_parts},
               {"frames are spread by their hash", frames_are_spread_by_their_hash},
               {"the wire takes its time", the_wire_takes_its_time},
               {"a train of frames has the wire's rate", a_train_of_frames_has_the_wire_s_rate},
               {"the wire loses and doubles nothing", the_wire_loses_and_doubles_nothing},
               {"kept buffers run out and come back", kept_buffers_run_out_and_come_back},
               {"a reset gives frames back", a_reset_gives_frames_back},
               {"a card can be closed and opened again", a_card_can_be_closed_and_opened_again},
               {0},
           }};
