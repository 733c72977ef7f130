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
};

static inline bool ring_push(struct sample_ring *r, const struct hpm_sample *s)
{
    if (r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) == r->size)
        return false;
    r->slots[r->head & (r->size - 1)] = *s;
    __atomic_store_n(&r->head, r->head + 1, __ATOMIC_RELEASE);
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
