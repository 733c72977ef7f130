/*
 * Spinlocks, taken with interrupts off so that an interrupt handler may take the same lock. Nobody
 * sleeps, copies user memory or sends a TLB shootdown while holding one (cpu->spin_depth says how
 * many are held). Debug builds check the order: a lock may only be taken while all held ones have a
 * lower rank.
 */
#pragma once
#include "kernel/lib/base.h"

/* Outermost first. Two locks of one rank are taken in address order. */
enum lock_rank {
    LOCK_SPACE = 1, /* mm: an address space's regions and page tables */
    LOCK_POOLS,     /* mm: the list of pools */
    LOCK_POOL,      /* mm: a pool's nodes and policy */
    LOCK_SWAP,      /* mm: swap slots; who waits to read or write */
    LOCK_NUMBERS,   /* mm: numbers of address spaces */
    LOCK_PROC,      /* proc: process table, a process's threads */
    LOCK_FUTEX,     /* proc: futex buckets */
    LOCK_SHARING,   /* sched: sharing detector */
    LOCK_BLOCK,     /* dev: a block device's requests */
    LOCK_GATE,      /* sched: a gate's owner and waiters */
    LOCK_THREAD,    /* sched: wait queues of kernel threads */
    LOCK_TIMER,     /* timers of a CPU: held while a sleeper is woken */
    LOCK_RUNQUEUE,  /* sched: a run queue */
    LOCK_HPM,       /* hpm: contexts, buffers */
    LOCK_ASID,      /* arch: address-space identifiers */
    LOCK_MSI,       /* arch: message interrupts, their controller */
    LOCK_VMAP,      /* mm: kernel page tables */
    LOCK_HEAP,      /* mm: heap size classes */
    LOCK_FRAME,     /* mm: buddy allocator */
    LOCK_CONSOLE,   /* console output */
};

struct spinlock {
    uint64_t owner; /* the lock: index of the CPU that has it + 1, 0 when free */
    /* CPU that has waited long + 1: nobody else takes the lock now; 0 when there is none */
    uint64_t turn;
    enum lock_rank rank;
    const char *name;
};

#define SPINLOCK(rank_, name_)           \
    {                                    \
        .rank = (rank_), .name = (name_) \
    }

void spin_init(struct spinlock *l, enum lock_rank rank, const char *name);
/* Interrupts go off; the returned state goes back to spin_unlock. */
bool spin_lock(struct spinlock *l);
void spin_unlock(struct spinlock *l, bool irq);
/* Takes it only if that needs no waiting, and then interrupts go off. */
bool spin_try_lock(struct spinlock *l, bool *irq);
/* For use where interrupts are off already. */
void spin_lock_irqoff(struct spinlock *l);
void spin_unlock_irqoff(struct spinlock *l);
bool spin_held(const struct spinlock *l); /* by this CPU */
struct cpu;
/* Sends that CPU IPI_RESCHED when this one, which holds a spinlock, holds none any more. What runs
 * there then may want the same locks, and under a hypervisor it can take the place of this CPU, and
 * spin until it has to give way. */
void spin_kick_later(const struct cpu *target);
/* Before what can fault, wait for I/O or wait for a process. Debug builds panic if this CPU holds a
 * spinlock or its thread a gate (sched/sched.h), and name it and `doing`. Thread context. */
#ifdef DEBUG
void may_wait(const char *doing);
/* Before a sleep in which guard, NULL or held, is let go. Debug builds panic if the thread holds a
 * gate and does not wait for another one. Interrupts off. */
void may_sleep(const struct spinlock *guard);
#else
static inline void may_wait(UNUSED const char *doing)
{
}
static inline void may_sleep(UNUSED const struct spinlock *guard)
{
}
#endif
/* In a panic: who takes a lock, or waits for one, from now on calls others first, which returns
 * only on CPUs that go on. */
void spin_panic_mode(void (*others)(void));
/* The same for what needs no lock any more: stops here, or goes on. */
void spin_stop_point(void);
