/*
 * A CPU's buffer of attributed samples: one producer, the CPU itself with interrupts off; one consumer at a time, on any
 * CPU.  A full buffer drops the newest sample, never a stored one, and the producer counts the loss.
 */
#pragma once
#include "hpm/hpm.h"

struct sample_ring {
    struct hpm_sample *slots;
    uint64_t size; /* power of two */
    uint64_t head; /* samples ever stored; the producer's   */
    uint64_t tail; /* samples ever taken; the consumer's    */
} ALIGNED(CACHE_LINE);

/* Where the next sample goes, to be followed by ring_commit; NULL: it is full. */
static inline struct hpm_sample *ring_room(struct sample_ring *r)
{
    return r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) == r->size
               ? NULL
               : &r->slots[r->head & (r->size - 1)];
}

static inline void ring_commit(struct sample_ring *r)
{
    __atomic_store_n(&r->head, r->head + 1, __ATOMIC_RELEASE);
}

static inline bool ring_push(struct sample_ring *r, const struct hpm_sample *s)
{
    struct hpm_sample *at = ring_room(r);

    if (!at)
        return false;
    *at = *s;
    ring_commit(r);
    return true;
}

static inline bool ring_pop(struct sample_ring *r, struct hpm_sample *s)
{
    if (r->tail == __atomic_load_n(&r->head, __ATOMIC_ACQUIRE))
        return false;
    *s = r->slots[r->tail & (r->size - 1)];
    __atomic_store_n(&r->tail, r->tail + 1, __ATOMIC_RELEASE);
    return true;
}

/* Up to max of them; one publication for all. */
static inline size_t ring_pop_many(struct sample_ring *r, struct hpm_sample *out, size_t max)
{
    uint64_t waiting = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) - r->tail;
    size_t n = MIN(waiting, (uint64_t)max);

    for (size_t done = 0, part; done < n; done += part) {
        uint64_t at = (r->tail + done) & (r->size - 1);
        part = MIN(n - done, (size_t)(r->size - at));
        memcpy(out + done, r->slots + at, part * sizeof *out);
    }
    __atomic_store_n(&r->tail, r->tail + n, __ATOMIC_RELEASE);
    return n;
}
