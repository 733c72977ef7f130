/*
 * An instance of lwIP: its lock, what others ask of it, its timers. lwIP has no locks of its own:
 * all of its functions are called, and all of its objects read, with the instance's lock held,
 * rank LOCK_NET; sockets' locks are taken while it is held.
 *
 * Threads that transfer data do not wait for the lock. They leave a task, and the thread that
 * holds the lock does it (as in Oyama, Taura, Yonezawa, "Executing parallel programs with
 * synchronization bottlenecks efficiently", 1999, and Hendler et al., "Flat combining", 2010).
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/net/lwip/address.h"

/* Something to be done with the instance's lock held. Part of what it is about. */
struct net_task {
    struct net_task *next; /* [A] in the instance's list */
    uint32_t wanted;       /* [A] bits of what is to be done; NET_TASK_LISTED */
    /* Does it. `wanted`: bits that were posted since it ran last. The task may be posted again
     * meanwhile. Instance's lock held. */
    void (*run)(struct net_task *t, uint32_t wanted);
    /* Keeps what it is part of while it is in the list, and lets it go. With the instance's lock
     * held or not. */
    void (*keep)(struct net_task *t);
    void (*let_go)(struct net_task *t);
};
#define NET_TASK_LISTED ((uint32_t)1 << 31)

/* Starts the instance, unless it runs already. Thread context, no lock held. Returns 0 or
 * -ENOMEM. */
int net_start(void);
/* Takes the lock, and gives it back; then packets to this host itself are delivered. Thread
 * context. */
bool net_lock(void);
void net_unlock(bool irq);
/* Has the bits done: by the caller, before this returns, or by another thread that holds the lock.
 * Thread context, no spinlock held. */
void net_post(struct net_task *t, uint32_t wanted);
/* The same by a task or a callback of lwIP: done before the lock is given back, in a later turn.
 * Instance's lock held. */
void net_post_locked(struct net_task *t, uint32_t wanted);

/* ---- Memory (memory.c) ----------------------------------------------------------------------- */
/* Bytes that lwIP has, and what it may have at most. */
extern uint64_t net_memory;
uint64_t net_memory_used(void);
uint64_t net_memory_limit(void);
uint64_t net_memory_refused(void); /* requests of lwIP beyond it */

/* ---- What it counts (figures.c) -------------------------------------------------------------- */
struct net_end {
    struct net_address own, peer;
    uint8_t state;    /* NET_* */
    uint64_t to_send; /* bytes that are not acknowledged */
};
/* Stores the first `room` connections that no socket has: those that wait for their last packets,
 * and those whose handshake is not complete. Returns how many there are. Thread context. */
unsigned net_ends(struct net_end *out, unsigned room);
/* A figure of lwIP since boot, with the names that it has on Linux (/proc/net/snmp). Those of a
 * group follow each other. */
struct net_figure {
    const char *group, *name;
    uint64_t n;
};
/* Reads figure `index`, from 0 on. Returns false if there is none. Any context. */
bool net_figure(unsigned index, struct net_figure *out);
