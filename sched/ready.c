/* See ready.h.  A list for each priority, and a bitmap of those that are not empty. */
#include "sched/ready.h"

static struct ready_thread *thread_of(struct list *link)
{
    return container_of(link, struct ready_thread, link);
}

void ready_init(struct ready_queue *q)
{
    *q = (struct ready_queue){0};
    for (unsigned p = 0; p < PRIO_COUNT; p++)
        list_init(&q->level[p].queue);
}

void ready_add(struct ready_queue *q, struct ready_thread *t, enum ready_how how, uint64_t since_ns)
{
    struct ready_level *level = &q->level[t->prio];

    ASSERT(list_empty(&t->link) && t->prio < PRIO_COUNT);
    (how == READY_PREEMPTED ? list_push_front : list_push_back)(&level->queue, &t->link);
    if (!(q->occupied >> t->prio & 1) && how != READY_PREEMPTED)
        level->passed_over_ns = since_ns;
    if (how == READY_PREEMPTED)
        q->turn = PRIO_IDLE;
    q->occupied |= 1u << t->prio;
}

void ready_remove(struct ready_queue *q, struct ready_thread *t)
{
    ASSERT(!list_empty(&t->link));
    list_remove(&t->link);
    if (list_empty(&q->level[t->prio].queue))
        q->occupied &= ~(1u << t->prio);
}

/* The priority passed over longest of those below prio that were for too long, or prio. */
static unsigned starved_below(const struct ready_queue *q, unsigned prio, uint64_t now_ns, uint64_t starve_ns)
{
    unsigned found = prio;
    uint64_t since_ns = UINT64_MAX;

    for (unsigned p = 0; p < prio; p++) {
        uint64_t passed_over_ns = q->level[p].passed_over_ns;
        if (q->occupied >> p & 1 && now_ns >= passed_over_ns + starve_ns && passed_over_ns < since_ns) {
            found = p;
            since_ns = passed_over_ns;
        }
    }
    return found;
}

struct ready_thread *ready_take(struct ready_queue *q, uint64_t now_ns, uint64_t starve_ns)
{
    q->level[q->turn].passed_over_ns = now_ns;
    q->turn = PRIO_IDLE;
    q->granted = false;
    if (!q->occupied)
        return NULL;
    unsigned best = log2_floor(q->occupied), prio = starved_below(q, best, now_ns, starve_ns);
    struct ready_thread *t = ready_first(q, prio);
    q->granted = prio != best;
    q->turn = prio;
    ready_remove(q, t);
    return t;
}

bool ready_preempts(const struct ready_queue *q, const struct ready_thread *running,
                    const struct ready_thread *t)
{
    return !q->granted && t->prio > running->prio;
}

bool ready_slice_over(struct ready_queue *q, const struct ready_thread *running, uint64_t now_ns,
                      uint64_t starve_ns)
{
    q->level[running->prio].passed_over_ns = now_ns;
    return q->occupied >> running->prio ||
           starved_below(q, running->prio, now_ns, starve_ns) != running->prio;
}

struct ready_thread *ready_first(const struct ready_queue *q, unsigned prio)
{
    return q->occupied >> prio & 1 ? thread_of(q->level[prio].queue.next) : NULL;
}

struct ready_thread *ready_last(const struct ready_queue *q)
{
    return q->occupied ? thread_of(q->level[log2_floor(q->occupied)].queue.prev) : NULL;
}

struct ready_thread *ready_before(const struct ready_queue *q, const struct ready_thread *t)
{
    if (t->link.prev != &q->level[t->prio].queue)
        return thread_of(t->link.prev);
    uint32_t below = q->occupied & ((1u << t->prio) - 1);
    return below ? thread_of(q->level[log2_floor(below)].queue.prev) : NULL;
}

unsigned ready_check(const struct ready_queue *q)
{
    unsigned count = 0;

    for (unsigned p = 0; p < PRIO_COUNT; p++) {
        ASSERT(list_empty(&q->level[p].queue) == !(q->occupied >> p & 1));
        list_for_each (it, &q->level[p].queue) {
            ASSERT(thread_of(it)->prio == p && it->next->prev == it);
            count++;
        }
    }
    return count;
}
