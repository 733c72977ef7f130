/*
 * Text between its writers and the outputs.  See console.h.
 *
 * A text is put as a whole behind what waits in a ring, with the lock held, at the speed of memory.  Then its writer passes
 * on what the ring holds, a portion at a time, until its own text is out; between portions the lock is free and interrupts
 * are as the writer had them.  So whoever needs the console drives it for all whose text comes first: nobody waits for a CPU
 * that was interrupted, and an interrupt handler may write amid the text of the thread it interrupted.
 *
 * A display needs no ring: it has the text as soon as it is put, whatever the transmitter does, and is drawn afterwards, again
 * a portion at a time.
 */
#include "kernel/console.h"
#include "kernel/arch/arch.h"
#include "kernel/lock.h"
#include "kernel/outputs.h"

#define RING_BYTES ((uint64_t)16 * KIB)
/* A transmitter that is stuck must not hang the kernel: a portion takes 1.4 ms at 115200 baud, a look about 1 us. */
#define REFUSALS_MAX  1000000
#define REFUSALS_THEN 10000 /* of each further text, once it was stuck */

static struct spinlock lock = SPINLOCK(LOCK_CONSOLE, "console");
static bool lockless, thread_draws;
/* All guarded by lock.  Counts of bytes since the start: sent <= ended <= put <= sent + RING_BYTES. */
static char ring[RING_BYTES];
static uint64_t put, ended, sent;
static unsigned refusals; /* in a row */

static bool take(void)
{
    if (!__atomic_load_n(&lockless, __ATOMIC_RELAXED))
        return spin_lock(&lock);
    spin_stop_point();
    return arch_irq_save();
}

/* The lock may have been taken before everything became lockless. */
static void release(bool irq)
{
    if (spin_held(&lock))
        spin_unlock(&lock, irq);
    else
        arch_irq_restore(irq);
}

/* Offers the transmitter a portion.  What it refuses for too long is lost. */
static void pass_on_locked(void)
{
    uint64_t at = sent % RING_BYTES;
    size_t n = MIN(MIN(ended - sent, (uint64_t)CONSOLE_PORTION), RING_BYTES - at),
           took = outputs_send(ring + at, n);

    sent += took;
    if (took || !n) {
        refusals = 0;
    } else if (refusals < REFUSALS_MAX) {
        refusals++;
        arch_cpu_relax();
    } else {
        sent = ended;
        refusals = REFUSALS_MAX - REFUSALS_THEN;
    }
}

bool console_begin(void)
{
    for (;;) {
        bool irq = take();
        if (RING_BYTES - (ended - sent) >= CONSOLE_ROOM) {
            put = ended;
            return irq;
        }
        pass_on_locked();
        release(irq);
    }
}

static void put_byte(char c)
{
    /* Longer than the ring has room for: its beginning goes out while the lock is held. */
    while (put - sent == RING_BYTES) {
        ended = put;
        pass_on_locked();
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

/* What others put meanwhile is theirs to draw. */
void console_draw(void)
{
    bool more = true;

    for (unsigned n = outputs_draws(); more && n; n--) {
        bool irq = take();
        more = outputs_draw();
        release(irq);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* out of the buffers that gather writes */
}

void console_draw_later(void)
{
    __atomic_store_n(&thread_draws, true, __ATOMIC_RELAXED);
}

static void draw_own(bool irq)
{
    if (irq || !__atomic_load_n(&thread_draws, __ATOMIC_RELAXED) ||
        __atomic_load_n(&lockless, __ATOMIC_RELAXED))
        console_draw();
}

void console_end(bool irq)
{
    uint64_t end = ended = put;

    while (sent < end) {
        pass_on_locked();
        release(irq);
        irq = take();
    }
    release(irq);
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
