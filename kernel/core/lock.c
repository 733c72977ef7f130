/*
 * Spinlocks with the owner in the lock word: a CPU that swaps 0 for its own number has the lock.
 * They are deliberately not first come, first served: under a hypervisor the CPU that is next may
 * not be running, and all others would wait for it. Waiting CPUs only read the word. One that has
 * waited PATIENCE_NS claims the next turn, so that a CPU that takes the lock over and over cannot
 * starve the others. In debug builds each CPU remembers the locks it holds: taking them out of
 * order, or waiting for one longer than SPIN_TIMEOUT_S, panics and names the locks and CPUs.
 */
#include "kernel/core/lock.h"
#include "kernel/core/cpu.h"

void spin_init(struct spinlock *l, enum lock_rank rank, const char *name)
{
    *l = (struct spinlock)SPINLOCK(rank, name);
}

bool spin_held(const struct spinlock *l)
{
    return __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == this_cpu()->index + 1;
}

static void (*panic_others)(void); /* NULL: no panic */

void spin_panic_mode(void (*others)(void))
{
    __atomic_store_n(&panic_others, others, __ATOMIC_RELEASE);
}

void spin_stop_point(void)
{
    void (*others)(void) = __atomic_load_n(&panic_others, __ATOMIC_RELAXED);

    if (__builtin_expect(others != NULL, false))
        others();
}

#ifdef DEBUG
#define HELD_MAX       8
#define SPIN_TIMEOUT_S 10

/* Written by its own CPU only, interrupts off. */
struct held {
    unsigned n;
    struct spinlock *lock[HELD_MAX];
} ALIGNED(CACHE_LINE);
static struct held held[CPU_MAX];

static void check_order(const struct spinlock *l)
{
    const struct held *h = &held[this_cpu()->index];

    if (spin_held(l))
        panic("code=lock-twice lock=%s: the CPU that takes it holds it", l->name);
    for (unsigned i = 0; i < h->n; i++) {
        const struct spinlock *other = h->lock[i];
        if (other->rank > l->rank || (other->rank == l->rank && other > l))
            panic("code=lock-order lock=%s rank=%d held=%s held_rank=%d: locks are taken in the "
                  "order of their ranks",
                  l->name, (int)l->rank, other->name, (int)other->rank);
    }
    if (h->n == HELD_MAX)
        panic("lock %s: %d locks are held already", l->name, HELD_MAX);
}

static void note_taken(struct spinlock *l)
{
    struct held *h = &held[this_cpu()->index];

    h->lock[h->n++] = l;
}

static void note_released(const struct spinlock *l)
{
    struct held *h = &held[this_cpu()->index];
    unsigned i = h->n;

    while (i > 0 && h->lock[i - 1] != l)
        i--;
    if (!i)
        panic("lock %s: released by CPU %u, which does not hold it", l->name, this_cpu()->index);
    for (h->n--; i <= h->n; i++)
        h->lock[i - 1] = h->lock[i];
}

void may_wait(const char *doing)
{
    bool irq = arch_irq_save();
    const struct held *h = &held[this_cpu()->index];

    if (h->n)
        panic("code=lock-held lock=%s: %s with a lock held", h->lock[h->n - 1]->name, doing);
    if (this_cpu()->gate)
        panic("code=gate-held gate=%s: %s with a gate held", this_cpu()->gate, doing);
    arch_irq_restore(irq);
}

void may_sleep(const struct spinlock *guard)
{
    if (this_cpu()->gate && (!guard || guard->rank != LOCK_GATE))
        panic("code=gate-held gate=%s: sleep%s%s with a gate held", this_cpu()->gate,
              guard ? " on " : "", guard ? guard->name : "");
}

static void check_timeout(const struct spinlock *l, uint64_t waited_ns)
{
    if (waited_ns < SPIN_TIMEOUT_S * NS_PER_S)
        return;
    const struct held *h = &held[this_cpu()->index];
    panic("lock %s: CPU %u waits for %d s, CPU %d holds it; the waiter's innermost lock is %s",
          l->name, this_cpu()->index, SPIN_TIMEOUT_S,
          (int)__atomic_load_n(&l->owner, __ATOMIC_RELAXED) - 1,
          h->n ? h->lock[h->n - 1]->name : "none");
}
#else
static void check_order(UNUSED const struct spinlock *l)
{
}
static void note_taken(UNUSED struct spinlock *l)
{
}
static void note_released(UNUSED const struct spinlock *l)
{
}
static void check_timeout(UNUSED const struct spinlock *l, UNUSED uint64_t waited_ns)
{
}
#endif

#define PATIENCE_NS (20 * NS_PER_US) /* many times longer than any lock is held */
#define LOOK_NS     (NS_PER_S / 10)  /* from one look at a lock to the next, at most */

static inline __attribute__((always_inline)) bool try_lock(struct spinlock *l, uint64_t me)
{
    uint64_t turn = __atomic_load_n(&l->turn, __ATOMIC_RELAXED), unowned = 0;

    if ((turn && turn != me) || __atomic_load_n(&l->owner, __ATOMIC_RELAXED) ||
        !__atomic_compare_exchange_n(&l->owner, &unowned, me, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    if (turn == me)
        __atomic_store_n(&l->turn, 0, __ATOMIC_RELAXED);
    return true;
}

static void claim_turn(struct spinlock *l, uint64_t me)
{
    uint64_t none = 0;

    __atomic_compare_exchange_n(&l->turn, &none, me, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Where the clock jumps between two looks the machine stood still, and the lock's owner, too: that
 * is not waiting. Apart, so that a lock that is free costs no registers. */
static __attribute__((noinline)) void wait_for(struct spinlock *l, uint64_t me)
{
    uint64_t last_ns = arch_clock_ns(), waited_ns = 0;

    do {
        uint64_t now_ns = arch_clock_ns();
        waited_ns += MIN(now_ns - last_ns, (uint64_t)LOOK_NS);
        last_ns = now_ns;
        if (waited_ns >= PATIENCE_NS)
            claim_turn(l, me);
        spin_stop_point();
        check_timeout(l, waited_ns);
        arch_cpu_relax();
    } while (!try_lock(l, me));
}

_Static_assert(CPU_MAX <= 64, "cpu.kicks has a bit for each CPU");

static void send_kicks(struct cpu *self)
{
    while (self->kicks) {
        struct cpu *target = &cpus[__builtin_ctzll(self->kicks)];
        self->kicks &= self->kicks - 1;
        arch_ipi_send(target, IPI_RESCHED);
    }
}

void spin_kick_later(const struct cpu *target)
{
    ASSERT(this_cpu()->spin_depth);
    this_cpu()->kicks |= (uint64_t)1 << target->index;
}

static void have_taken(struct spinlock *l)
{
    this_cpu()->spin_depth++;
    note_taken(l);
}

void spin_lock_irqoff(struct spinlock *l)
{
    uint64_t me = this_cpu()->index + 1;

    spin_stop_point();
    check_order(l);
    if (!try_lock(l, me))
        wait_for(l, me);
    have_taken(l);
}

bool spin_try_lock(struct spinlock *l, bool *irq)
{
    *irq = arch_irq_save();
    spin_stop_point();
    check_order(l);
    if (try_lock(l, this_cpu()->index + 1)) {
        have_taken(l);
        return true;
    }
    arch_irq_restore(*irq);
    return false;
}

void spin_unlock_irqoff(struct spinlock *l)
{
    struct cpu *self = this_cpu();

    note_released(l);
    self->spin_depth--;
    __atomic_store_n(&l->owner, 0, __ATOMIC_RELEASE);
    if (!self->spin_depth && self->kicks)
        send_kicks(self);
}

bool spin_lock(struct spinlock *l)
{
    bool irq = arch_irq_save();

    spin_lock_irqoff(l);
    return irq;
}

void spin_unlock(struct spinlock *l, bool irq)
{
    spin_unlock_irqoff(l);
    arch_irq_restore(irq);
}
