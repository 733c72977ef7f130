/*
 * An instance of lwIP: its lock, what others ask of it, its timers. lwIP has no locks of its own:
 * all of its functions are called, and all of its objects read, with the instance's lock held,
 * rank LOCK_NET; sockets' locks are taken while it is held, other instances' are not.
 *
 * There are as many instances as the boot argument net.instances says. lwIP and the files that
 * files.mk names with it are linked once for each (tools/instances.sh), with all that they define:
 * a copy has variables of its own, and calls itself. Copy 0 has the names of the sources; it owns
 * UDP, and datagram.c calls it by them. Others, and network cards of any, are reached through
 * struct net_instance (instances.c).
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

struct cpuset;
struct net_end;
struct net_figure;
struct net_interface;
struct net_card;

/* ---- Within an instance (instance.c) --------------------------------------------------------- */
/* Starts the instance, the first time that it is called. Its timers run on those CPUs. `index` of
 * `count` instances. Thread context, no lock held. Returns 0 or -ENOMEM. */
int net_instance_start(unsigned index, unsigned count, const struct cpuset *cpus);
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

/* Bytes that lwIP has of this instance; its requests beyond what it may have (memory.c). */
uint64_t net_instance_memory(void);
uint64_t net_instance_refused(void);
/* net_ends(), net_figure(), net_loopback() of this instance (figures.c). */
unsigned net_instance_ends(struct net_end *out, unsigned room);
bool net_instance_figure(unsigned index, struct net_figure *out);
void net_instance_loopback(struct net_interface *out);
/* Makes a card of which `device`, `home`, `ip`, `gateway` are set an interface of this instance,
 * and opens it (card.c). Thread context, no lock held. Returns 0; -ENOMEM; or an error of
 * net_open(). */
int net_instance_add_card(struct net_card *c);
/* Reads what lwIP knows of it: up, running, addresses. Thread context, no lock held. */
void net_instance_read_card(struct net_card *c, struct net_interface *out);

/* ---- All instances (instances.c) ------------------------------------------------------------- */
#define NET_INSTANCES_MAX 8

struct net_stream;

struct net_end {
    struct net_address own, peer;
    uint8_t state;    /* NET_* */
    uint64_t to_send; /* bytes that are not acknowledged */
};

/* A figure of lwIP since boot, with the names that it has on Linux (/proc/net/snmp). Those of a
 * group follow each other. */
struct net_figure {
    const char *group, *name;
    uint64_t n;
};

/* An instance, seen from outside. Functions of streams as stream.h has them. */
struct net_instance {
    int (*start)(unsigned index, unsigned count, const struct cpuset *cpus);
    void (*post)(struct net_task *t, uint32_t wanted);
    uint64_t (*memory)(void), (*refused)(void);
    unsigned (*ends)(struct net_end *out, unsigned room);
    bool (*figure)(unsigned index, struct net_figure *out);
    void (*loopback)(struct net_interface *out);
    int (*add_card)(struct net_card *c);
    void (*read_card)(struct net_card *c, struct net_interface *out);
    void (*run)(struct net_task *t, uint32_t wanted); /* of tasks of streams */
    int (*bind)(struct net_stream *t, const struct net_address *own);
    void (*unbind)(struct net_stream *t); /* takes its PCB, of which lwIP has told nothing yet */
    int (*listen)(struct net_stream *t, unsigned backlog);
    int (*connect)(struct net_stream *t, const struct net_address *peer);
    void (*set_options)(struct net_stream *t);
    uint32_t (*segment)(struct net_stream *t);
};

/* Boot arguments net.instances (0: one for each chip), net.memory (0: a part of memory). */
extern uint64_t net_instances, net_memory;
/* Starts all instances, unless they run already. Thread context, no lock held. Returns 0 or
 * -ENOMEM. */
int net_start(void);
/* Returns how many there are, or will be. */
unsigned net_instance_count(void);
/* Returns one, by its number. */
const struct net_instance *net_instance(unsigned index);
/* Returns the number of that which CPUs of this chip use. */
unsigned net_instance_here(void);
/* Bytes that lwIP has, and what it may have at most. */
uint64_t net_memory_used(void);
uint64_t net_memory_limit(void);
uint64_t net_memory_refused(void); /* requests of lwIP beyond it */
/* Lets an instance have that many bytes more; takes them back. Any context. */
bool net_memory_grant(uint64_t bytes);
void net_memory_return(uint64_t bytes);
uint64_t net_memory_granted(void); /* to all */
/* Stores the first `room` connections that no socket has: those that wait for their last packets,
 * and those whose handshake is not complete. Returns how many there are. Thread context. */
unsigned net_ends(struct net_end *out, unsigned room);
/* Reads figure `index`, from 0 on. Returns false if there is none. Any context. */
bool net_figure(unsigned index, struct net_figure *out);
/* Adds what went over loopback. Thread context. */
void net_loopback(struct net_interface *out);
