/*
 * Sends the telemetry stream.
 *
 * A thread hands each CPU's full packets to the port. The device reads them in place, and the
 * thread takes them back when they have been read. The thread looks every few milliseconds, since
 * recording an event cannot wake a thread, and sooner while the device is behind.
 */
#include "kernel/report/report.h"
#include "kernel/trace/record.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/virtio/virtio_console.h"
#include "kernel/core/end.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"

#define PORT_NAME "vigil.telemetry"
#define LOOK_NS   (4 * NS_PER_MS)
#define FLUSH_NS \
    (100 * NS_PER_MS) /* a packet of a CPU that records is closed after this time, full or not */
#define FIND_NS (2 * NS_PER_S) /* for the device to name its ports */
/* the device must read something within it while the rest is sent */
#define STOP_NS         (10 * NS_PER_S)
#define CALL_NS         NS_PER_S          /* for a CPU to close its packet */
#define END_NS          NS_PER_S          /* for the rest, without threads */
#define LOCK_NS         (100 * NS_PER_MS) /* for a lock if its holder is not sending */
#define END_LOOKS_MAX   100000000u        /* where the clock stands still */
#define DESCRIPTION_MAX (32 * KIB)
#define SLOT_BITS       8 /* of a token: the packet's index; above it the CPU + 1 */
_Static_assert(RING_PACKETS_MAX <= 1 << SLOT_BITS, "a token holds it");

/* Guards all below, and the port. */
static struct spinlock lock = SPINLOCK(LOCK_THREAD, "telemetry");
static struct wait_queue stirred = {{&stirred.waiters, &stirred.waiters}};
static struct wait_queue ended = {{&ended.waiters, &ended.waiters}};
static unsigned port;
static unsigned in_flight; /* packets that the device has */
static bool started, stopping, stopped, broken;
static bool sending; /* atomic: the port is in use */
static bool behind;  /* the thread waits for the device, to read or to name its ports */
static uint64_t packets;

/* ---- The port; the lock is held -------------------------------------------------------------- */

static void *token_of(unsigned cpu, uint32_t slot)
{
    return (void *)(uintptr_t)((cpu + 1) << SLOT_BITS | slot);
}

static void take_back_locked(void)
{
    void *token;
    int err;

    while (!(err = console_sent(port, &token))) {
        uintptr_t t = (uintptr_t)token;
        in_flight--;
        if (!t)
            continue; /* a piece of the description */
        ring_return(record_ring((unsigned)(t >> SLOT_BITS) - 1), t & ((1u << SLOT_BITS) - 1));
        packets++;
    }
    broken |= err == -EIO;
}

/* Brackets the use of the port, so that a panic on another CPU finds it in a consistent state. */
static void begin_sending(void)
{
    end_whole_begin();
    __atomic_store_n(&sending, true, __ATOMIC_RELEASE);
}

static void end_sending(void)
{
    __atomic_store_n(&sending, false, __ATOMIC_RELEASE);
    end_whole_end();
}

static bool send_locked(const void *bytes, uint32_t count, void *token)
{
    int err = console_send(port, virt_to_phys(bytes), count, token);

    broken |= err == -EIO;
    in_flight += !err;
    return !err;
}

/* Returns false if the device has no room for all full packets. */
static bool send_cpu_locked(unsigned cpu)
{
    struct ring *r = record_ring(cpu);
    uint32_t slot, bytes;
    void *packet;

    while (in_flight < CONSOLE_IN_FLIGHT_MAX) {
        if (!ring_give(r, &slot, &packet, &bytes))
            return true;
        if (!send_locked(packet, bytes, token_of(cpu, slot)))
            return false;
    }
    return false;
}

/* Returns true if the device has all full packets. */
static bool send_all_locked(void)
{
    bool all = true;

    begin_sending();
    take_back_locked();
    for (unsigned cpu = 0; cpu < record_cpus() && !broken; cpu++)
        all &= send_cpu_locked(cpu);
    end_sending();
    return all;
}

/* Called by the device's interrupt. */
static void wake(UNUSED void *arg)
{
    bool irq = spin_lock(&lock);

    if (behind)
        wait_wake(&stirred, 1);
    spin_unlock(&lock, irq);
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void ask_for_flush(uint64_t *next_ns)
{
    uint64_t now_ns = arch_clock_ns();

    if (now_ns < *next_ns)
        return;
    *next_ns = now_ns + FLUSH_NS;
    for (unsigned cpu = 0; cpu < record_cpus(); cpu++)
        __atomic_store_n(&record_ring(cpu)->flush_wanted, true, __ATOMIC_RELAXED);
}

static void close_packet(UNUSED void *arg)
{
    ring_flush(record_ring(this_cpu()->index), arch_clock_ns());
}

/* Closes the packet of every CPU. A CPU that answers has finished recording. */
static void close_packets(void)
{
    for (unsigned i = 0; i < MIN(record_cpus(), cpu_count()); i++) {
        bool irq = arch_irq_save(), own = this_cpu() == &cpus[i];
        if (own)
            close_packet(NULL);
        arch_irq_restore(irq);
        int err = own ? 0 : call_cpu(&cpus[i], close_packet, NULL, CALL_NS);
        if (err)
            kprintf("telemetry: CPU %u does not close its packet: error %d\n", i, -err);
    }
}

/* Waits until the device has read everything, or nothing for STOP_NS: where time is a model's, its
 * host may be slow. */
static void send_rest(void)
{
    bool irq = spin_lock(&lock);
    uint64_t read = packets, until_ns = arch_clock_ns() + STOP_NS;

    while (!broken && (!send_all_locked() || in_flight) && arch_clock_ns() < until_ns) {
        wait_sleep(&stirred, &lock, &irq, arch_clock_ns() + LOOK_NS);
        if (packets == read)
            continue;
        read = packets;
        until_ns = arch_clock_ns() + STOP_NS;
    }
    spin_unlock(&lock, irq);
}

static void print_account(void)
{
    uint64_t taken = 0, delivered = 0, discarded = 0, bytes = 0;

    for (unsigned cpu = 0; cpu < record_cpus(); cpu++) {
        const struct ring *r = record_ring(cpu);
        taken += r->taken;
        delivered += r->delivered;
        discarded += r->context.discarded;
        bytes += r->bytes;
    }
    kprintf(
        "telemetry: taken=%llu delivered=%llu discarded=%llu unsent=%llu packets=%llu bytes=%llu\n",
        (unsigned long long)taken, (unsigned long long)delivered, (unsigned long long)discarded,
        (unsigned long long)(taken - delivered - discarded), (unsigned long long)packets,
        (unsigned long long)bytes);
}

/* A further packet reports discarded events that the last packets had no room for. */
static void finish_stream(void)
{
    if (telemetry_wants(TELEMETRY_QUANTA))
        sched_quanta_end();
    __atomic_store_n(&telemetry_on, 0, __ATOMIC_RELEASE);
    for (unsigned round = 0; round < 2; round++) {
        close_packets();
        send_rest();
    }
    print_account();
}

static void run_stream(UNUSED void *arg)
{
    uint64_t flush_ns = 0, counters_ns = arch_clock_ns(), memory_ns = counters_ns;
    bool irq = spin_lock(&lock);

    while (!stopping && !broken) {
        behind = !send_all_locked();
        wait_sleep(&stirred, &lock, &irq,
                   MIN(arch_clock_ns() + LOOK_NS, MIN(counters_ns, memory_ns)));
        spin_unlock(&lock, irq);
        ask_for_flush(&flush_ns);
        counters_record(&counters_ns);
        memory_record(&memory_ns);
        irq = spin_lock(&lock);
    }
    spin_unlock(&lock, irq);
    finish_stream();
    irq = spin_lock(&lock);
    stopped = true;
    wait_wake(&ended, ~0u);
    spin_unlock(&lock, irq);
}

void telemetry_stop(void)
{
    bool irq = spin_lock(&lock);

    stopping = true;
    wait_wake(&stirred, 1);
    while (started && !stopped)
        wait_sleep(&ended, &lock, &irq, UINT64_MAX);
    spin_unlock(&lock, irq);
}

/* Takes the lock if it can. The lock's holder may have been stopped with it, but never while it
 * sends. Returns true if the port may be used. */
static bool may_send(bool *locked, bool *irq)
{
    uint64_t since_ns = arch_clock_ns(), waited_ns = 0;

    for (unsigned looks = 0; looks < END_LOOKS_MAX && waited_ns < END_NS; looks++) {
        *locked = spin_try_lock(&lock, irq);
        if (*locked || (waited_ns > LOCK_NS && !__atomic_load_n(&sending, __ATOMIC_ACQUIRE)))
            return true;
        arch_cpu_relax();
        waited_ns = arch_clock_ns() - since_ns;
    }
    return false;
}

/* Sends the rest without threads, mostly in a panic: no thread can sleep. Bounded in time. */
static void last_words(void)
{
    uint64_t since_ns = arch_clock_ns();
    unsigned looks = 0;
    bool irq, locked;

    if (stopped)
        return;
    __atomic_store_n(&telemetry_on, 0, __ATOMIC_RELEASE);
    if (!may_send(&locked, &irq)) {
        kprintf("telemetry: the end of the stream is lost\n");
        return;
    }
    for (unsigned cpu = 0; cpu < record_cpus(); cpu++)
        ring_flush(record_ring(cpu), since_ns);
    while (!broken && (!send_all_locked() || in_flight) && arch_clock_ns() - since_ns < END_NS &&
           looks++ < END_LOOKS_MAX)
        arch_cpu_relax();
    print_account();
    stopped = true;
    if (locked)
        spin_unlock(&lock, irq);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static int find_port(void)
{
    uint64_t until_ns = arch_clock_ns() + FIND_NS;
    int err = console_open(&cpus[0], wake, NULL);

    if (err)
        return err;
    bool irq = spin_lock(&lock);
    behind = true;
    do
        err = console_find(PORT_NAME, &port);
    while (err == -EAGAIN && wait_sleep(&stirred, &lock, &irq, until_ns) == 0);
    behind = false;
    spin_unlock(&lock, irq);
    return err;
}

static void list_chips(char *out, size_t size)
{
    const struct sched_topology *topo = sched_topology();
    size_t n = 0;

    for (unsigned i = 0; i < topo->cpus && n < size; i++)
        n += ksnprintf(out + n, size - n, "%s%u", i ? " " : "", topo->of[i].chip);
}

/* Sends the description in pieces of a packet each, laid out one behind the other in `memory`.
 * Returns whether the device has read all of them. */
static bool send_description(char *text, uint8_t *memory)
{
    char chips[4 * CPU_MAX];
    const uint32_t piece = RING_PACKET_BYTES - CTF_METADATA_HEADER_BYTES - 8;
    const struct ctf_trace trace = {record_uuid(), trace_events, NS_PER_S, arch_name, chips};
    uint64_t until_ns = arch_clock_ns() + STOP_NS;

    list_chips(chips, sizeof(chips));
    uint32_t total = (uint32_t)ctf_describe(&trace, text, DESCRIPTION_MAX);
    ASSERT(total < DESCRIPTION_MAX);
    bool irq = spin_lock(&lock);
    begin_sending();
    for (uint32_t at = 0; at < total && !broken; at += piece, memory += RING_PACKET_BYTES)
        send_locked(memory, ctf_metadata(memory, record_uuid(), text + at, MIN(piece, total - at)),
                    NULL);
    end_sending();
    while (in_flight && !broken && arch_clock_ns() < until_ns) {
        wait_sleep(&stirred, &lock, &irq, arch_clock_ns() + NS_PER_MS);
        begin_sending();
        take_back_locked();
        end_sending();
    }
    bool all = !in_flight && !broken;
    spin_unlock(&lock, irq);
    return all;
}

/* Orders of the allocations for the text and for its packets. */
#define TEXT_ORDER    3
#define PACKETS_ORDER 4
_Static_assert(DESCRIPTION_MAX <= PAGE_SIZE << TEXT_ORDER &&
                   2 * DESCRIPTION_MAX <= PAGE_SIZE << PACKETS_ORDER,
               "room");

static const char *describe_stream(void)
{
    paddr_t text, memory;

    if (frame_alloc(TEXT_ORDER, &text))
        return "no memory";
    if (frame_alloc(PACKETS_ORDER, &memory)) {
        frame_free(text, TEXT_ORDER);
        return "no memory";
    }
    bool sent = send_description(phys_to_virt(text), phys_to_virt(memory));
    frame_free(text, TEXT_ORDER);
    if (sent) /* else the device may still read it */
        frame_free(memory, PACKETS_ORDER);
    return sent ? NULL : "the port's device does not read";
}

static const char *begin_stream(void)
{
    int err = find_port();

    if (err)
        return err == -ENOMEM ? "no memory" : "there is no port " PORT_NAME " that is being read";
    const char *why = describe_stream();
    if (why)
        return why;
    if (thread_create_kernel("telemetry", run_stream, NULL, NULL))
        return "no memory";
    started = true;
    end_attach(last_words);
    return NULL;
}

void telemetry_start(void)
{
    if (!telemetry_wants(TELEMETRY_ANY))
        return;
    const char *why = begin_stream();
    if (!why)
        return;
    __atomic_store_n(&telemetry_on, 0, __ATOMIC_RELEASE);
    kprintf("telemetry: event=refused: %s: nothing is recorded\n", why);
}
