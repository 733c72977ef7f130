/*
 * Descriptors in flight: files that packets have. A socket that is in flight may be in a queue of a
 * socket that is in flight, and so on in a circle: then no process can ever receive it, though it
 * is referenced. Such circles are found when sockets are closed, and before a limit refuses
 * something.
 *
 * A socket is a candidate if all references to its file are in flight. Those that a packet has in a
 * queue that is no candidate's can be received, and so can what is in their queues; the rest is
 * garbage. rights_turn is held by what puts files in flight, takes them, or looks for circles; so
 * candidates stay candidates meanwhile: no descriptor leads to them.
 */
#include "kernel/mem/mem.h"
#include "kernel/net/socket/unix.h"
#include <linux/fcntl.h>

#define FILE_BYTES 256 /* charged for a file in flight */

struct mutex rights_turn = MUTEX(rights_turn, "descriptors in flight");
static struct list flights = {&flights, &flights}; /* [R] sockets, by in_all_flights */

/* Returns the socket of this family that a file is, or NULL. */
static struct unix_socket *flying_socket(const struct file *f)
{
    struct socket *s = f->flags & O_PATH ? NULL : socket_of(f);

    return s && s->family == &unix_family ? unix_of(s) : NULL;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static int charge_once(struct unix_socket *u, unsigned n, uint32_t most)
{
    uint32_t now = __atomic_add_fetch(&u->s.account->passed, n, __ATOMIC_RELAXED);
    int err = now > most                                              ? -ETOOMANYREFS
              : memory_charge(u->s.account, (uint64_t)n * FILE_BYTES) ? -ENOBUFS
                                                                      : 0;

    if (err)
        __atomic_fetch_sub(&u->s.account->passed, n, __ATOMIC_RELAXED);
    return err;
}

int unix_charge_rights(struct unix_socket *u, const struct socket_rights *r,
                       const struct socket_caller *by)
{
    uint32_t most = __atomic_load_n(&by->files->limit, __ATOMIC_RELAXED);
    int err = charge_once(u, r->n, most);

    if (err) {
        unix_collect();
        err = charge_once(u, r->n, most);
    }
    return err;
}

void unix_uncharge_rights(struct unix_socket *u, unsigned n)
{
    __atomic_fetch_sub(&u->s.account->passed, n, __ATOMIC_RELAXED);
    memory_uncharge(u->s.account, (uint64_t)n * FILE_BYTES);
}

/* ---- Leaving and arriving -------------------------------------------------------------------- */

void unix_rights_leave(const struct unix_packet *p)
{
    for (unsigned i = 0; i < p->rights->n; i++) {
        struct unix_socket *u = flying_socket(p->rights->file[i]);
        if (!u)
            continue;
        if (!u->in_flight++)
            list_push_back(&flights, &u->in_all_flights);
        u->file = p->rights->file[i];
    }
}

/* The files of a packet that is in no queue any more are in flight no more. rights_turn held. */
static void land(const struct unix_packet *p)
{
    for (unsigned i = 0; i < p->rights->n; i++) {
        struct unix_socket *u = flying_socket(p->rights->file[i]);
        if (u && !--u->in_flight)
            list_remove(&u->in_all_flights);
    }
}

void unix_rights_land(const struct unix_packet *p)
{
    mutex_lock(&rights_turn);
    land(p);
    mutex_unlock(&rights_turn);
}

struct socket_rights *unix_rights_arrive(struct unix_packet *p, bool looked_at)
{
    struct socket_rights *r = p->rights;

    if (!r)
        return NULL;
    struct socket_rights *copy = looked_at ? kmalloc_unfilled(sizeof(*copy)) : NULL;
    mutex_lock(&rights_turn);
    if (copy) {
        *copy = *r;
        for (unsigned i = 0; i < r->n; i++)
            file_get(r->file[i]);
    } else if (!looked_at) {
        land(p);
        p->rights = NULL;
    }
    mutex_unlock(&rights_turn);
    if (!looked_at)
        unix_uncharge_rights(p->from, r->n);
    return looked_at ? copy : r;
}

/* ---- Looking for circles --------------------------------------------------------------------- */

typedef void visit_file(struct unix_socket *u, struct list *arg);

/* Calls `visit` for each candidate in packets of a queue. */
static void visit_queue(struct unix_socket *of, visit_file *visit, struct list *arg)
{
    bool irq = spin_lock(&of->s.lock);

    list_for_each (it, &of->queue) {
        const struct unix_packet *p = container_of(it, struct unix_packet, in_queue);
        for (unsigned i = 0; p->rights && i < p->rights->n; i++) {
            struct unix_socket *u = flying_socket(p->rights->file[i]);
            if (u && u->candidate)
                visit(u, arg);
        }
    }
    spin_unlock(&of->s.lock, irq);
}

/* Returns the connection behind `last` that waits at a candidate, where none is accepted; NULL: the
 * first. */
static struct unix_socket *next_pending(struct unix_socket *u, struct unix_socket *last)
{
    bool irq = spin_lock(&u->s.lock);
    struct list *next = last ? last->in_pending.next : u->pending.next;

    spin_unlock(&u->s.lock, irq);
    return next == &u->pending ? NULL : container_of(next, struct unix_socket, in_pending);
}

/* The same for the queue of a candidate, and of what waits there. */
static void visit_queues(struct unix_socket *u, visit_file *visit, struct list *arg)
{
    visit_queue(u, visit, arg);
    for (struct unix_socket *p = next_pending(u, NULL); p; p = next_pending(u, p))
        visit_queue(p, visit, arg);
}

static void count_inside(struct unix_socket *u, UNUSED struct list *arg)
{
    u->outside--;
}

static void reach(struct unix_socket *u, struct list *to_visit)
{
    if (u->reached)
        return;
    u->reached = true;
    list_push_back(to_visit, &u->to_visit);
}

/* Marks candidates, and counts the packets elsewhere that have them. */
static void find_candidates(void)
{
    list_for_each (it, &flights) {
        struct unix_socket *u = container_of(it, struct unix_socket, in_all_flights);
        u->candidate = __atomic_load_n(&u->file->refs, __ATOMIC_ACQUIRE) == u->in_flight;
        u->reached = false;
        u->outside = u->in_flight;
        list_init(&u->to_visit);
    }
    list_for_each (it, &flights) {
        struct unix_socket *u = container_of(it, struct unix_socket, in_all_flights);
        if (u->candidate)
            visit_queues(u, count_inside, NULL);
    }
}

/* Marks those that can be reached. */
static void find_reached(void)
{
    struct list to_visit;

    list_init(&to_visit);
    list_for_each (it, &flights) {
        struct unix_socket *u = container_of(it, struct unix_socket, in_all_flights);
        if (u->candidate && u->outside)
            reach(u, &to_visit);
    }
    for (struct list *l; (l = list_pop_front(&to_visit));)
        visit_queues(container_of(l, struct unix_socket, to_visit), reach, &to_visit);
}

/* Takes the packets with files out of a queue that nothing can read. */
static void purge_queue(struct unix_socket *u, struct list *garbage)
{
    bool irq = spin_lock(&u->s.lock);

    list_for_each_safe (it, next, &u->queue) {
        struct unix_packet *p = container_of(it, struct unix_packet, in_queue);
        if (!p->rights)
            continue;
        unix_remove_packet_locked(u, p);
        list_push_back(garbage, &p->in_queue);
    }
    spin_unlock(&u->s.lock, irq);
}

/* Takes the packets of all garbage. */
static void purge_all(struct list *garbage)
{
    list_for_each (it, &flights) {
        struct unix_socket *u = container_of(it, struct unix_socket, in_all_flights);
        if (!u->candidate || u->reached)
            continue;
        purge_queue(u, garbage);
        for (struct unix_socket *p = next_pending(u, NULL); p; p = next_pending(u, p))
            purge_queue(p, garbage);
    }
    list_for_each (it, garbage)
        land(container_of(it, struct unix_packet, in_queue));
}

void unix_collect(void)
{
    struct list garbage;

    if (__atomic_load_n(&flights.next, __ATOMIC_RELAXED) == &flights)
        return;
    list_init(&garbage);
    mutex_lock(&rights_turn);
    find_candidates();
    find_reached();
    purge_all(&garbage);
    mutex_unlock(&rights_turn);
    unix_free_packets(&garbage);
}
