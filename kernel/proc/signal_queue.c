/* See signal_queue.h. */
#include "kernel/proc/signal_queue.h"
#include <asm/signal.h>

#define CAUSED_BY_INSTRUCTIONS                                                             \
    (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGTRAP) | \
     SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGSYS))

void signal_queue_init(struct signal_queue *q)
{
    q->set = 0;
    list_init(&q->entries);
}

bool signal_queue_add(struct signal_queue *q, int number, struct signal_entry *e)
{
    bool owned = e && e->taken;

    if (number < SIGNAL_REALTIME && q->set & SIGNAL_BIT(number) && !owned)
        return false;
    q->set |= SIGNAL_BIT(number);
    if (e) {
        e->info.si_signo = number;
        e->queue = q;
        list_push_back(&q->entries, &e->link);
    }
    return true;
}

int signal_queue_next(const struct signal_queue *q, uint64_t set)
{
    uint64_t ready = q->set & set;

    if (ready & CAUSED_BY_INSTRUCTIONS)
        ready &= CAUSED_BY_INSTRUCTIONS;
    return ready ? __builtin_ctzll(ready) + 1 : 0;
}

struct signal_entry *signal_queue_take(struct signal_queue *q, int number)
{
    struct signal_entry *first = NULL;
    bool more = false;

    list_for_each (it, &q->entries) {
        struct signal_entry *e = container_of(it, struct signal_entry, link);
        if (e->info.si_signo != number)
            continue;
        more = first;
        if (more)
            break;
        first = e;
    }
    if (first) {
        list_remove(&first->link);
        first->queue = NULL;
    }
    if (!more)
        q->set &= ~SIGNAL_BIT(number);
    return first;
}

void signal_queue_remove(struct signal_entry *e)
{
    struct signal_queue *q = e->queue;
    bool more = false;

    if (!q)
        return;
    list_remove(&e->link);
    e->queue = NULL;
    list_for_each (it, &q->entries)
        more |= container_of(it, struct signal_entry, link)->info.si_signo == e->info.si_signo;
    if (!more)
        q->set &= ~SIGNAL_BIT(e->info.si_signo);
}

void signal_queue_drop(struct signal_queue *q, uint64_t set, struct list *out)
{
    for (int number; (number = signal_queue_next(q, set));) {
        struct signal_entry *e = signal_queue_take(q, number);
        if (e)
            list_push_back(out, &e->link);
    }
}
