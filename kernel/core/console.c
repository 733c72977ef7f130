/*
 * Text between its writers and the outputs. See console.h.
 *
 * A text is put as a whole behind what waits in a ring, with the lock held, at the speed of memory.
 * Then its writer passes on what the ring holds, a portion at a time, until its own text is out;
 * between portions the lock is free and interrupts are as the writer had them. So whoever needs
 * the console drives it for all whose text comes first: nobody waits for a CPU that was
 * interrupted, and an interrupt handler may write amid the text of the thread it interrupted. Of
 * several writers one drives and the others look on: a lock that is passed around for each portion
 * would take its time where a hypervisor runs not all CPUs at once.
 *
 * A display needs no ring: it has the text as soon as it is put, whatever the transmitter does, and
 * is drawn afterwards, again a portion at a time.
 */
#include "kernel/core/console.h"
#include "kernel/arch/arch.h"
#include "kernel/core/lock.h"
#include "kernel/core/outputs.h"

#define RING_BYTES ((uint64_t)16 * KIB)
/* A transmitter that is stuck must not hang the kernel: a portion takes 1.4 ms at 115200 baud, a
 * look about 1 us. */
#define REFUSALS_MAX  1000000
#define REFUSALS_THEN 10000 /* of each further text, once it was stuck */

static struct spinlock lock = SPINLOCK(LOCK_CONSOLE, "console");
static bool lockless, thread_draws;
/* All guarded by lock, but that sent may be looked at. Counts of bytes: sent <= ended <= put <=
 * sent + RING_BYTES. */
static char ring[RING_BYTES];
static uint64_t put, ended, sent;
static unsigned refusals; /* in a row */

static bool panicking(void)
{
    if (!__atomic_load_n(&lockless, __ATOMIC_RELAXED))
        return false;
    spin_stop_point();
    return true;
}

static bool take_lock(void)
{
    return panicking() ? arch_irq_save() : spin_lock(&lock);
}

static bool try_take_lock(bool *irq)
{
    if (!panicking())
        return spin_try_lock(&lock, irq);
    *irq = arch_irq_save();
    return true;
}

/* The lock may have been taken before everything became lockless. */
static void release_lock(bool irq)
{
    if (spin_held(&lock))
        spin_unlock(&lock, irq);
    else
        arch_irq_restore(irq);
}

/* Offers the transmitter a portion; false: it takes nothing now. What it refuses for too long is
 * lost. */
static bool pass_on_locked(void)
{
    uint64_t at = sent % RING_BYTES;
    size_t n = MIN(MIN(ended - sent, (uint64_t)CONSOLE_PORTION), RING_BYTES - at),
           took = outputs_send(ring + at, n);

    __atomic_store_n(&sent, sent + took, __ATOMIC_RELAXED);
    if (took || !n) {
        refusals = 0;
    } else if (refusals < REFUSALS_MAX) {
        refusals++;
    } else {
        __atomic_store_n(&sent, ended, __ATOMIC_RELAXED);
        refusals = REFUSALS_MAX - REFUSALS_THEN;
    }
    return took;
}

/* Passes on a portion, unless somebody else is at it. */
static void drive(void)
{
    bool irq, passed = false;

    if (try_take_lock(&irq)) {
        passed = pass_on_locked();
        release_lock(irq);
    }
    if (!passed)
        arch_cpu_relax();
}

static uint64_t how_far(void)
{
    return __atomic_load_n(&sent, __ATOMIC_RELAXED);
}

bool console_begin(void)
{
    for (;;) {
        bool irq = take_lock();
        if (RING_BYTES - (ended - sent) >= CONSOLE_ROOM) {
            put = ended;
            return irq;
        }
        uint64_t until = ended + CONSOLE_ROOM - RING_BYTES;
        release_lock(irq);
        while (how_far() < until)
            drive();
    }
}

static void put_byte(char c)
{
    /* Longer than the ring has room for: its beginning goes out while the lock is held. */
    while (put - sent == RING_BYTES) {
        ended = put;
        if (!pass_on_locked())
            arch_cpu_relax();
    }
    ring[put++ % RING_BYTES] = c;
}

void console_put(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\n')
            put_byte('\r');
        put_byte(s[i]);
    }
    outputs_show(s, n);
}

/* What others put meanwhile is theirs to draw. Not waiting: no more than can be done before others
 * need the console. */
static void draw_screen(bool wait)
{
    bool more = true, irq;

    for (unsigned n = outputs_draws(); more && n; n--) {
        if (wait)
            irq = take_lock();
        else if (!try_take_lock(&irq))
            break;
        more = outputs_draw();
        release_lock(irq);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* out of the buffers that gather writes */
}

void console_draw(void)
{
    draw_screen(true);
}

void console_draw_later(void)
{
    __atomic_store_n(&thread_draws, true, __ATOMIC_RELAXED);
}

/* What stays undrawn here is the thread's. */
static void draw_own(bool irq)
{
    bool thread = __atomic_load_n(&thread_draws, __ATOMIC_RELAXED) && !panicking();

    if (irq || !thread)
        draw_screen(!thread);
}

void console_end(bool irq)
{
    uint64_t end = ended = put;

    release_lock(irq);
    while (how_far() < end)
        drive();
    draw_own(irq);
}

void console_panic_mode(void)
{
    __atomic_store_n(&lockless, true, __ATOMIC_RELAXED);
}

void console_force(const char *s, size_t n)
{
    outputs_show(s, n);
    for (unsigned draws = outputs_draws(); draws && outputs_draw(); draws--)
        ;
    for (unsigned spins = 0; n && spins < REFUSALS_MAX; spins++) {
        size_t took = outputs_send(s, n);
        s += took;
        n -= took;
        if (took)
            spins = 0;
        else
            arch_cpu_relax();
    }
}
