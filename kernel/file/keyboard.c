/* See keyboard.h. */
#include "kernel/file/keyboard.h"
#include "kernel/arch/arch.h"
#include "kernel/core/console.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"
#include "sched/sched.h"

#define RING_BYTES    1024
#define WINDOW_LETTER 'W'
#define WINDOW_BYTES  4

static struct spinlock lock = SPINLOCK(LOCK_FILE, "keyboard");
static char ring[RING_BYTES];
static unsigned put, taken; /* [lock] counts of bytes: taken <= put <= taken + RING_BYTES */

/* Of the thread that looks, one at a time. */
static bool looking; /* atomic */
static bool escaped; /* the byte before was CONSOLE_ESCAPE */
static uint8_t window[WINDOW_BYTES];
static unsigned window_left; /* bytes of it that are still to come */

static bool watching; /* atomic */

/* ---- The ring -------------------------------------------------------------------------------- */

static bool has_room(void)
{
    bool irq = spin_lock(&lock), room = put - taken < RING_BYTES;

    spin_unlock(&lock, irq);
    return room;
}

static void add(char c)
{
    bool irq = spin_lock(&lock);

    ring[put++ % RING_BYTES] = c;
    spin_unlock(&lock, irq);
}

int keyboard_next(void)
{
    bool irq = spin_lock(&lock);
    int c = taken == put ? -1 : (uint8_t)ring[taken++ % RING_BYTES];

    spin_unlock(&lock, irq);
    return c;
}

void keyboard_forget(void)
{
    bool irq = spin_lock(&lock);

    taken = put;
    spin_unlock(&lock, irq);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void take_window(const struct keyboard_user *user, uint8_t c)
{
    window[WINDOW_BYTES - window_left--] = c;
    if (!window_left)
        user->window((uint16_t)(window[0] << 8 | window[1]),
                     (uint16_t)(window[2] << 8 | window[3]));
}

/* Takes what stands behind CONSOLE_ESCAPE. */
static void take_escaped(const struct keyboard_user *user, char c)
{
    escaped = false;
    if (c == 'I')
        user->interrupt();
    else if (c == WINDOW_LETTER)
        window_left = WINDOW_BYTES;
    else if (!user->signal(c))
        add(c);
}

static void take(const struct keyboard_user *user, char c)
{
    if (window_left)
        take_window(user, (uint8_t)c);
    else if (escaped)
        take_escaped(user, c);
    else if (console_split && c == CONSOLE_ESCAPE)
        escaped = true;
    else if (!user->signal(c))
        add(c);
}

void keyboard_look(const struct keyboard_user *user)
{
    if (__atomic_exchange_n(&looking, true, __ATOMIC_ACQUIRE))
        return;
    for (int c; has_room() && (c = arch_console_read()) >= 0;)
        take(user, (char)c);
    __atomic_store_n(&looking, false, __ATOMIC_RELEASE);
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void watch_for_ever(void *user)
{
    for (;;) {
        sched_sleep_until(arch_clock_ns() + KEYBOARD_LOOK_NS);
        keyboard_look(user);
    }
}

void keyboard_watch(const struct keyboard_user *user)
{
    if (__atomic_exchange_n(&watching, true, __ATOMIC_RELAXED))
        return;
    if (thread_create_kernel("keyboard", watch_for_ever, (void *)user, NULL))
        kprintf("console: no memory for the thread that looks at the keyboard\n");
}
