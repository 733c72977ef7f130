/*
 * Spinlocks. They are taken with interrupts off, so that an interrupt handler may take the same
 * lock. A CPU that holds one (cpu->spin_depth) does not sleep, copy user memory or send a TLB
 * shootdown. Debug builds check the order: a lock may only be taken while all locks held have a
 * lower rank.
 */
#pragma once
#include "kernel/lib/base.h"

/* Outermost first. Two locks of one rank are taken in the order of their addresses. */
enum lock_rank {
    LOCK_SPACE = 1, /* mm: an address space's regions and page tables */
    LOCK_FILES,     /* mm: the same of a space that has the pages of files */
    LOCK_POOLS,     /* mm: the list of pools */
    LOCK_POOL,      /* mm: a pool's nodes and policy */
    LOCK_LINEAGE,   /* mm: the spaces of a lineage */
    LOCK_SWAP,      /* mm: swap slots; threads that wait to read or write */
    LOCK_NUMBERS,   /* mm: numbers of address spaces */
    LOCK_PROC,      /* proc: process table, a process's threads */
    LOCK_TREE,      /* proc: parents, groups, sessions */
    LOCK_FUTEX,     /* proc: futex buckets */
    LOCK_WAITER,    /* proc: a thread that waits for a futex */
    LOCK_NET,       /* net: an instance of lwIP */
    LOCK_SOCKET,    /* net: a socket's state, queues, options */
    LOCK_FILE,      /* file: descriptors, positions, pipes */
    LOCK_FS,        /* fs: a tree of files */
    LOCK_POLL,      /* file: threads that wait for several files */
    LOCK_SOCKETS,   /* net: the list of all sockets */
    LOCK_SHARING,   /* sched: sharing detector */
    LOCK_BLOCK,     /* dev: a block device's requests */
    LOCK_NIC,       /* dev: a network device's transmit ring; its free buffers */
    LOCK_SHARE,     /* fs: a folder of the host: requests, fids, its vnodes */
    LOCK_GATE,      /* sched: a gate's owner and waiters */
    LOCK_THREAD,    /* sched: wait queues of kernel threads */
    LOCK_TIMER,     /* sched: timers of a CPU, held while a sleeper is woken */
    LOCK_RUNQUEUE,  /* sched: a run queue */
    LOCK_HPM,       /* hpm: contexts, buffers */
    LOCK_ASID,      /* arch: address-space identifiers */
    LOCK_MSI,       /* arch: message interrupts, their controller */
    LOCK_VMAP,      /* mm: kernel page tables */
    LOCK_HEAP,      /* mm: heap size classes */
    LOCK_FRAME,     /* mm: buddy allocator */
    LOCK_ENTROPY,   /* core: a stream of random bytes */
    LOCK_CONSOLE,   /* console output */
};

struct spinlock {
    uint64_t owner; /* index of the CPU that holds it + 1; 0: free */
    /* Index + 1 of a CPU that has waited long and takes the lock next; 0: there is none. */
    uint64_t turn;
    enum lock_rank rank;
    const char *name;
};

#define SPINLOCK(rank_, name_)           \
    {                                    \
        .rank = (rank_), .name = (name_) \
    }

void spin_init(struct spinlock *l, enum lock_rank rank, const char *name);
/* Disables interrupts and takes the lock. Returns the interrupt state for spin_unlock(). */
bool spin_lock(struct spinlock *l);
void spin_unlock(struct spinlock *l, bool irq);
/* Takes the lock and disables interrupts if that needs no waiting; returns false otherwise. */
bool spin_try_lock(struct spinlock *l, bool *irq);
/* For use where interrupts are already off. */
void spin_lock_irqoff(struct spinlock *l);
void spin_unlock_irqoff(struct spinlock *l);
bool spin_held(const struct spinlock *l); /* by this CPU */
struct cpu;
/* Sends `target` IPI_RESCHED as soon as this CPU, which holds a spinlock, holds none. Sent earlier,
 * the woken code might want the same locks: under a hypervisor it can displace this CPU and spin
 * until its own slice ends. */
void spin_kick_later(const struct cpu *target);
/* Called before code that can fault, wait for I/O or wait for a process. Debug builds panic if this
 * CPU holds a spinlock or its thread a gate (sched/sched.h); the message names it and `doing`.
 * Thread context. */
#ifdef DEBUG
void may_wait(const char *doing);
/* Called before a sleep that releases `guard`, which is held or NULL. Debug builds panic if the
 * thread holds a gate and is not waiting for another one. Interrupts off. */
void may_sleep(const struct spinlock *guard);
#else
static inline void may_wait(UNUSED const char *doing)
{
}
static inline void may_sleep(UNUSED const struct spinlock *guard)
{
}
#endif
/* Called in a panic: from now on, a CPU that takes a lock or waits for one first calls `others`,
 * which returns only on CPUs that may go on. */
void spin_panic_mode(void (*others)(void));
/* Does the same for code that needs no lock: stops the CPU, or returns. */
void spin_stop_point(void);
