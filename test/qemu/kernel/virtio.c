/* A virtio console's port: pages are sent in order, several at a time; the host checks what
 * arrived. */
#include "kernel/core/cpu.h"
#include "kernel/dev/virtio/virtio_console.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"

#define NAME    "vigil.telemetry"
#define PAGES   200
#define WAIT_NS (5 * NS_PER_S)

static struct spinlock lock = SPINLOCK(LOCK_THREAD, "virtio test");
static struct wait_queue queue;
static unsigned wakes; /* guarded by the lock */

static void wake(UNUSED void *arg)
{
    CHECK(!arch_irq_enabled());
    bool irq = spin_lock(&lock);
    wakes++;
    wait_wake(&queue, 1);
    spin_unlock(&lock, irq);
}

static void wait_for_another(unsigned than)
{
    bool irq = spin_lock(&lock);

    if (wakes == than)
        wait_sleep(&queue, &lock, &irq, arch_clock_ns() + WAIT_NS);
    CHECK(wakes != than);
    spin_unlock(&lock, irq);
}

static int open_port(unsigned *port)
{
    int err = console_open(this_cpu(), wake, NULL);

    while (!err) {
        unsigned before = __atomic_load_n(&wakes, __ATOMIC_RELAXED);
        err = console_find(NAME, port);
        if (err != -EAGAIN)
            break;
        err = 0;
        wait_for_another(before);
        if (__atomic_load_n(&wakes, __ATOMIC_RELAXED) == before)
            err = -ETIMEDOUT;
    }
    return err;
}

/* Sends page i, filled with letter i mod 26. */
static int send_page(unsigned port, unsigned i)
{
    paddr_t frame;

    if (frame_alloc(0, &frame))
        return -ENOMEM;
    memset(phys_to_virt(frame), 'a' + (int)(i % 26), PAGE_SIZE);
    int err = console_send(port, frame, (uint32_t)PAGE_SIZE, phys_to_virt(frame));
    if (err)
        frame_free(frame, 0);
    return err;
}

static unsigned take_back(unsigned port)
{
    unsigned n = 0;
    void *page;

    for (; !console_sent(port, &page); n++)
        frame_free(virt_to_phys(page), 0);
    return n;
}

static void pages_go_out_several_at_a_time(void)
{
    unsigned port, sent = 0, back = 0, most = 0;

    wait_init(&queue);
    int err = open_port(&port);
    kprintf("# port: result=%d\n", err);
    CHECK(!err);
    while (!err && back < PAGES) {
        unsigned before = __atomic_load_n(&wakes, __ATOMIC_RELAXED);
        while (sent < PAGES && !(err = send_page(port, sent)))
            sent++;
        CHECK(!err || err == -ENOSPC);
        err = 0;
        most = MAX(most, sent - back);
        unsigned n = take_back(port);
        back += n;
        if (!n)
            wait_for_another(before);
        if (!n && __atomic_load_n(&wakes, __ATOMIC_RELAXED) == before)
            return;
    }
    CHECK(most > 1 && most <= CONSOLE_IN_FLIGHT_MAX);
    CHECK(back == sent);
}

const struct suite virtio_suite = {
    "virtio", (const struct suite_test[]){
                  {"pages go out by a port, several at a time", pages_go_out_several_at_a_time},
                  {0},
              }};
