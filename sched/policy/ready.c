/* See ready.h. Each operation takes a bounded number of steps, for any number of threads. */
#include "sched/policy/ready.h"

static struct ready_thread *thread_of(struct list *link)
{
    return container_of(link, struct ready_thread, link);
}

void ready_init(struct ready_queue *q)
{
    *q = (struct ready_queue){0};
    for (unsigned p = 0; p < PRIO_COUNT; p++) {
        q->level[p].now = READY_BUCKETS * READY_BUCKET; /* so that no tag is negative */
        for (unsigned b = 0; b < READY_BUCKETS; b++)
            list_init(&q->level[p].bucket[b]);
    }
}

/* ---- One priority ---------------------------------------------------------------------------- */

static unsigned bucket_of(uint64_t tag)
{
    return tag / READY_BUCKET % READY_BUCKETS;
}

/* Returns the bucket where the calendar begins: no thread has an earlier tag. */
static unsigned first_bucket(const struct ready_level *l)
{
    return bucket_of(l->now - READY_CREDIT - READY_BUCKET);
}

static uint64_t rotate_right(uint64_t bits, unsigned by)
{
    return bits >> by | bits << (-by % 64);
}

/* Returns the non-empty bucket with the earliest tags. */
static unsigned earliest(const struct ready_level *l)
{
    unsigned first = first_bucket(l);

    return (first + (unsigned)__builtin_ctzll(rotate_right(l->full, first))) % READY_BUCKETS;
}

static unsigned latest(const struct ready_level *l)
{
    unsigned first = first_bucket(l);

    return (first + log2_floor(rotate_right(l->full, first))) % READY_BUCKETS;
}

/* Returns the non-empty bucket before `bucket`, or READY_BUCKETS. */
static unsigned bucket_before(const struct ready_level *l, unsigned bucket)
{
    unsigned first = first_bucket(l), place = (bucket - first) % READY_BUCKETS;
    uint64_t before = rotate_right(l->full, first) & (((uint64_t)1 << place) - 1);

    return before ? (first + log2_floor(before)) % READY_BUCKETS : READY_BUCKETS;
}

static struct ready_thread *last_of(const struct ready_level *l, unsigned bucket)
{
    return thread_of(l->bucket[bucket].prev);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

void ready_charge(struct ready_thread *t, uint64_t ran_ns, uint64_t slice_ns)
{
    if (slice_ns)
        t->used += MIN(ran_ns, slice_ns * 4) * READY_SLICE / slice_ns;
}

static void end_turn(struct ready_thread *t)
{
    t->start += t->used;
    t->used = 0;
}

static void serve_level(struct ready_level *l, uint64_t used, uint64_t now_ns)
{
    l->served += used;
    if (l->served < READY_SLICE)
        return;
    l->served = 0;
    l->passed_over_ns = now_ns;
}

/* Ends the running thread's turn, which counts as `counts` of a slice served to its priority. */
static void running_ends_turn(struct ready_queue *q, uint64_t counts, uint64_t now_ns)
{
    struct ready_level *l = &q->level[q->running->prio];

    serve_level(l, counts, now_ns);
    end_turn(q->running);
    if (!l->full) /* else the next thread's tag sets virtual time */
        l->now = MAX(l->now, q->running->start);
}

static uint64_t tag_in_bounds(const struct ready_level *l, uint64_t tag)
{
    return MIN(MAX(tag, l->now - READY_CREDIT), l->now + READY_DEBT);
}

static void set_tag(const struct ready_level *l, struct ready_thread *t, enum ready_how how)
{
    if (how == READY_NEW)
        t->start = l->now + READY_SLICE;
    else if (how != READY_PREEMPTED)
        end_turn(t);
    if ((how == READY_YIELDED || how == READY_NEW) && l->full)
        t->start = MAX(t->start, last_of(l, latest(l))->start);
    t->start = tag_in_bounds(l, t->start);
}

void ready_add(struct ready_queue *q, struct ready_thread *t, enum ready_how how, uint64_t since_ns)
{
    struct ready_level *l = &q->level[t->prio];

    ASSERT(list_empty(&t->link) && t->prio < PRIO_COUNT);
    if (t == q->running && how != READY_PREEMPTED)
        serve_level(l, how == READY_OVER ? READY_SLICE : t->used, since_ns);
    if (t == q->running)
        q->running = NULL;
    else if (!l->full)
        l->passed_over_ns = since_ns;
    set_tag(l, t, how);
    unsigned bucket = bucket_of(t->start);
    (how == READY_PREEMPTED ? list_push_front : list_push_back)(&l->bucket[bucket], &t->link);
    l->full |= (uint64_t)1 << bucket;
    q->occupied |= 1u << t->prio;
}

void ready_remove(struct ready_queue *q, struct ready_thread *t)
{
    struct ready_level *l = &q->level[t->prio];
    unsigned bucket = bucket_of(t->start);

    ASSERT(!list_empty(&t->link));
    list_remove(&t->link);
    if (list_empty(&l->bucket[bucket]))
        l->full &= ~((uint64_t)1 << bucket);
    if (!l->full)
        q->occupied &= ~(1u << t->prio);
}

/* Returns the priority below `prio` that has been passed over longest, if for starve_ns at least;
 * else prio. */
static unsigned starved_below(const struct ready_queue *q, unsigned prio, uint64_t now_ns,
                              uint64_t starve_ns)
{
    unsigned found = prio;
    uint64_t since_ns = UINT64_MAX;

    for (unsigned p = 0; p < prio; p++) {
        uint64_t passed_over_ns = q->level[p].passed_over_ns;
        if (q->occupied >> p & 1 && now_ns >= passed_over_ns + starve_ns &&
            passed_over_ns < since_ns) {
            found = p;
            since_ns = passed_over_ns;
        }
    }
    return found;
}

struct ready_thread *ready_take(struct ready_queue *q, uint64_t now_ns, uint64_t starve_ns)
{
    if (q->running)
        running_ends_turn(q, q->running->used, now_ns);
    q->running = NULL;
    q->granted = false;
    if (!q->occupied)
        return NULL;
    unsigned best = log2_floor(q->occupied), prio = starved_below(q, best, now_ns, starve_ns);
    struct ready_thread *t = ready_first(q, prio);
    ready_remove(q, t);
    q->level[prio].now = MAX(q->level[prio].now, t->start);
    q->granted = prio != best;
    q->running = t;
    return t;
}

bool ready_preempts(struct ready_queue *q, const struct ready_thread *t)
{
    struct ready_thread *r = q->running;

    if (!r || q->granted)
        return !r;
    if (t->prio != r->prio)
        return t->prio > r->prio;
    if (t->start + READY_PREEMPTS > r->start + r->used)
        return false;
    if (r->start < t->start + READY_BUCKET) {
        uint64_t later = t->start + READY_BUCKET - r->start;
        r->start += later;
        r->used -= later;
    }
    return true;
}

bool ready_slice_over(struct ready_queue *q, uint64_t now_ns, uint64_t starve_ns)
{
    unsigned prio = q->running->prio;

    if (q->occupied >> prio || starved_below(q, prio, now_ns, starve_ns) != prio)
        return true;
    running_ends_turn(q, READY_SLICE, now_ns);
    return false;
}

/* ---- Between queues -------------------------------------------------------------------------- */

void ready_transfer(struct ready_queue *from, const struct ready_queue *to, struct ready_thread *t)
{
    if (from->running == t)
        from->running = NULL;
    t->start += to->level[t->prio].now - from->level[t->prio].now;
}

void ready_set_priority(const struct ready_queue *q, struct ready_thread *t, uint8_t prio)
{
    t->start += q->level[prio].now - q->level[t->prio].now;
    t->prio = prio;
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct ready_thread *ready_first(const struct ready_queue *q, unsigned prio)
{
    const struct ready_level *l = &q->level[prio];

    return l->full ? thread_of(l->bucket[earliest(l)].next) : NULL;
}

struct ready_thread *ready_last(const struct ready_queue *q)
{
    const struct ready_level *l = q->occupied ? &q->level[log2_floor(q->occupied)] : NULL;

    return l ? last_of(l, latest(l)) : NULL;
}

struct ready_thread *ready_before(const struct ready_queue *q, const struct ready_thread *t)
{
    const struct ready_level *l = &q->level[t->prio];
    unsigned bucket = bucket_of(t->start), before = bucket_before(l, bucket);

    if (t->link.prev != &l->bucket[bucket])
        return thread_of(t->link.prev);
    if (before < READY_BUCKETS)
        return last_of(l, before);
    uint32_t below = q->occupied & ((1u << t->prio) - 1);
    l = below ? &q->level[log2_floor(below)] : NULL;
    return l ? last_of(l, latest(l)) : NULL;
}

static unsigned check_bucket(const struct ready_level *l, unsigned prio, unsigned bucket)
{
    unsigned count = 0;

    ASSERT(list_empty(&l->bucket[bucket]) == !(l->full >> bucket & 1));
    list_for_each (it, &l->bucket[bucket]) {
        const struct ready_thread *t = thread_of(it);
        ASSERT(t->prio == prio && bucket_of(t->start) == bucket && it->next->prev == it);
        ASSERT(t->start + READY_CREDIT + READY_BUCKET >= l->now && t->start <= l->now + READY_DEBT);
        count++;
    }
    return count;
}

unsigned ready_check(const struct ready_queue *q)
{
    unsigned count = 0;

    for (unsigned p = 0; p < PRIO_COUNT; p++) {
        ASSERT(!q->level[p].full == !(q->occupied >> p & 1));
        for (unsigned b = 0; b < READY_BUCKETS; b++)
            count += check_bucket(&q->level[p], p, b);
    }
    ASSERT(!q->running || list_empty(&q->running->link));
    return count;
}
