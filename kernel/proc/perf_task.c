/* Perf events and threads: which are counted, what children inherit, other programs, ends. */
#include "kernel/mem/mem.h"
#include "kernel/proc/perf_internal.h"

static uint32_t nodes; /* atomic: of all events */

static struct perf_node *make_node(struct perf_event *e, struct thread *t)
{
    if (__atomic_add_fetch(&nodes, 1, __ATOMIC_RELAXED) > PERF_NODES_MAX) {
        __atomic_sub_fetch(&nodes, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    struct perf_node *n = kmalloc(sizeof(*n));
    if (!n) {
        __atomic_sub_fetch(&nodes, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    n->event = e;
    n->thread = t;
    return n;
}

/* Enters a node among those of its event and its thread. perf_lock held. */
static void enter_locked(struct perf_node *n)
{
    list_push_back(&n->event->nodes, &n->in_event);
    if (!n->thread)
        return;
    n->event->had_threads = true;
    n->next = n->thread->perf;
    n->in_thread = &n->thread->perf;
    if (n->next)
        n->next->in_thread = &n->next;
    n->thread->perf = n;
}

/* Ends a node's counting and takes it out. perf_lock held; the caller frees it. */
static void leave_locked(struct perf_node *n)
{
    perf_end_locked(n);
    list_remove(&n->in_event);
    if (!n->thread)
        return;
    *n->in_thread = n->next;
    if (n->next)
        n->next->in_thread = n->in_thread;
}

static void free_node(struct perf_node *n)
{
    __atomic_sub_fetch(&nodes, 1, __ATOMIC_RELAXED);
    kfree(n);
}

int perf_attach(struct perf_event *e, struct thread *t)
{
    struct perf_node *n = make_node(e, t);

    if (!n)
        return -ENOMEM;
    bool irq = spin_lock(&perf_lock);
    enter_locked(n);
    spin_unlock(&perf_lock, irq);
    return 0;
}

void perf_detach(struct perf_event *e)
{
    for (;;) {
        struct perf_node *n = NULL;
        bool irq = spin_lock(&perf_lock);
        if (!list_empty(&e->nodes)) {
            n = container_of(e->nodes.next, struct perf_node, in_event);
            leave_locked(n);
        }
        spin_unlock(&perf_lock, irq);
        if (!n)
            return;
        free_node(n);
    }
}

/* Takes the first of a thread's nodes out, of those whose event goes at an execve, or of all. */
static struct perf_node *take_node(struct thread *t, bool at_exec)
{
    bool irq = spin_lock(&perf_lock);
    struct perf_node *n = t->perf;

    while (n && at_exec && !n->event->attr.remove_on_exec)
        n = n->next;
    if (n)
        leave_locked(n);
    if (n && list_empty(&n->event->nodes))
        poll_changed(&n->event->changes, POLLHUP);
    spin_unlock(&perf_lock, irq);
    return n;
}

static void leave(struct thread *t, bool at_exec)
{
    struct perf_node *n;

    while ((n = take_node(t, at_exec)))
        free_node(n);
}

static bool inherits(const struct perf_event *e, const struct thread *like, const struct thread *t)
{
    return e->attr.inherit && (!e->attr.inherit_thread || like->process == t->process);
}

/* The thread's counts are all 0 until it runs, and counted from there. */
int perf_inherit(const struct thread *like, struct thread *t)
{
    int err = 0;

    if (!__atomic_load_n(&like->perf, __ATOMIC_RELAXED)) {
        perf_told_begin(like, t);
        return 0;
    }
    bool irq = spin_lock(&perf_lock);
    for (const struct perf_node *from = like->perf; from && !err; from = from->next) {
        if (!inherits(from->event, like, t))
            continue;
        struct perf_node *n = make_node(from->event, t);
        err = n ? 0 : -ENOMEM;
        if (!n)
            break;
        enter_locked(n);
        if (from->counts)
            perf_begin_locked(n);
    }
    spin_unlock(&perf_lock, irq);
    if (err)
        leave(t, false);
    else
        perf_told_begin(like, t);
    return err;
}

void perf_leave(struct thread *t)
{
    perf_told_end(t);
    if (__atomic_load_n(&t->perf, __ATOMIC_RELAXED))
        leave(t, false);
}

/* Returns an event that waits for the thread's execve, which it does no longer. */
static struct perf_event *take_waiting(struct thread *t)
{
    bool irq = spin_lock(&perf_lock);
    struct perf_node *n = t->perf;

    while (n && !n->event->waits_exec)
        n = n->next;
    struct perf_event *e = n ? n->event : NULL;
    if (e)
        e->waits_exec = false;
    spin_unlock(&perf_lock, irq);
    return e;
}

/* Calls `step` for the leaders of events that perf_exec() enables. */
static void for_beginning(void (*step)(struct perf_event *))
{
    list_for_each (it, &perf_events) {
        struct perf_event *e = container_of(it, struct perf_event, all);
        if (e->begins)
            step(e);
    }
}

static void pause_to_begin(struct perf_event *e)
{
    perf_pause(e->leader);
}

static void enable(struct perf_event *e)
{
    e->on = true;
    e->on_ns = arch_clock_ns();
}

static void seat(struct perf_event *e)
{
    perf_seat(e->leader);
}

static void begin(struct perf_event *e)
{
    perf_begin(e->leader);
    e->begins = false;
}

/* Enables the events that wait for it. */
static void begin_waiting(struct thread *self)
{
    struct perf_event *e;

    gate_enter(&sessions_gate);
    while ((e = take_waiting(self)))
        e->begins = true;
    /* All that takes time comes first, so that all begin together. */
    for_beginning(pause_to_begin);
    for_beginning(enable);
    for_beginning(seat);
    for_beginning(begin);
    gate_leave(&sessions_gate);
}

void perf_exec(struct thread *self)
{
    if (__atomic_load_n(&self->perf, __ATOMIC_RELAXED)) {
        leave(self, true);
        begin_waiting(self);
    }
    perf_told_exec(self);
}

void perf_enable_own(const struct thread *self, bool on)
{
    gate_enter(&sessions_gate);
    list_for_each (it, &perf_events) {
        struct perf_event *e = container_of(it, struct perf_event, all);
        if (e->owner != self->tid || e->on == on)
            continue;
        perf_pause(e->leader);
        e->on_ns = on ? arch_clock_ns() : e->on_ns;
        e->on = on;
        perf_resume(e->leader);
    }
    gate_leave(&sessions_gate);
}
