/*
 * Buffers text between its writers and the outputs. See console.h.
 *
 * A writer first puts its text as a whole into a ring, with the lock held. Then it passes the
 * ring's text on, a portion at a time, until its own has been sent. Between portions the lock is
 * free and interrupts are as the writer had them. So a writer also sends the texts in front of its
 * own: no writer waits for a CPU that was interrupted, and an interrupt handler may write in the
 * middle of the interrupted thread's text. Of several writers one sends and the others watch,
 * because passing the lock on for each portion would be slow where a hypervisor does not run all
 * CPUs at once.
 *
 * A display needs no ring: it holds the text as soon as it is put, and is drawn afterwards, also a
 * portion at a time.
 */
#include "kernel/core/console.h"
#include "kernel/arch/arch.h"
#include "kernel/core/lock.h"
#include "kernel/core/outputs.h"

#define RING_BYTES ((uint64_t)16 * KIB)
/* Refusals after which text is lost, so that a stuck transmitter does not hang the kernel. A
 * portion takes 1.4 ms at 115200 baud, a try about 1 us. */
#define REFUSALS_MAX  1000000
#define REFUSALS_THEN 10000 /* the same for each further text, once it was stuck */

static struct spinlock lock = SPINLOCK(LOCK_CONSOLE, "console");
static bool lockless, thread_draws;
uint64_t console_split, console_terminal = CONSOLE_LINE_TERMINAL, console_rows, console_columns;
const char *const console_terminals[] = {"off", "on", "raw", NULL};
/* All guarded by `lock`, but `sent` may be read without it. Counts of bytes: sent <= ended <= put
 * <= sent + RING_BYTES. */
static char ring[RING_BYTES];
static uint64_t put, ended, sent;
static unsigned refusals; /* consecutive */
static enum console_writer writing;

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

/* Releases the lock, which may have been taken before panic mode. */
static void release_lock(bool irq)
{
    if (spin_held(&lock))
        spin_unlock(&lock, irq);
    else
        arch_irq_restore(irq);
}

/* Offers the transmitter a portion. Returns false if it takes nothing now. Drops text that was
 * refused too often. */
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

/* Passes on a portion, unless another CPU holds the lock. */
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

static void put_byte(char c)
{
    /* The text is longer than the ring has room for: its beginning is sent while the lock is
     * held. */
    while (put - sent == RING_BYTES) {
        ended = put;
        if (!pass_on_locked())
            arch_cpu_relax();
    }
    ring[put++ % RING_BYTES] = c;
}

static void change_writer(enum console_writer writer)
{
    static const char letters[] = {
        [CONSOLE_KERNEL] = 'K', [CONSOLE_PROGRAM] = 'P', [CONSOLE_ERRORS] = 'E'};

    if (console_split && writing != writer) {
        put_byte(CONSOLE_ESCAPE);
        put_byte(letters[writer]);
    }
    writing = writer;
}

bool console_begin(enum console_writer writer)
{
    for (;;) {
        bool irq = take_lock();
        if (RING_BYTES - (ended - sent) >= CONSOLE_ROOM) {
            put = ended;
            change_writer(writer);
            return irq;
        }
        uint64_t until = ended + CONSOLE_ROOM - RING_BYTES;
        release_lock(irq);
        while (how_far() < until)
            drive();
    }
}

void console_put(const char *s, size_t n)
{
    bool exact = console_split && writing != CONSOLE_KERNEL;

    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\n' && !exact)
            put_byte('\r');
        if (s[i] == CONSOLE_ESCAPE && console_split)
            put_byte(CONSOLE_ESCAPE);
        put_byte(s[i]);
    }
    outputs_show(s, n);
}

/* Draws the text that was put before this call. `wait`: waits for the lock; otherwise stops as soon
 * as another CPU needs the console. */
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
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* empties write-combining buffers */
}

void console_draw(void)
{
    draw_screen(true);
}

void console_draw_later(void)
{
    __atomic_store_n(&thread_draws, true, __ATOMIC_RELAXED);
}

/* Draws after a text. What remains undrawn is left to the drawing thread. */
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
