/* A CPU's ring of attributed samples. The producer is the CPU itself, interrupts off; there is one
 * consumer at a time, on any CPU. A full ring drops the newest sample, never a stored one, and the
 * producer counts the loss. */
#pragma once
#include "hpm/policy/sample.h"

struct chain_table;
struct dump_ring;
struct sample_ring {
    struct hpm_sample *slots;
    uint64_t size; /* power of two */
    uint64_t head; /* samples ever stored; the producer's */
    uint64_t tail; /* samples ever taken; the consumer's */
    /* Of the samples' calls, the producer's; NULL: they are not wanted. */
    struct chain_table *chains;
    struct dump_ring *dumps; /* as chains */
} ALIGNED(CACHE_LINE);

static inline bool ring_full(const struct sample_ring *r)
{
    return r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) == r->size;
}

/* Returns where the next sample is to be written, if the ring is not full; ring_commit follows. */
static inline struct hpm_sample *ring_next(const struct sample_ring *r)
{
    return &r->slots[r->head & (r->size - 1)];
}

/* Returns the free entries from there on that are contiguous; 0: the ring is full. */
static inline size_t ring_room(const struct sample_ring *r)
{
    uint64_t free = r->size - (r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE));

    return MIN(free, r->size - (r->head & (r->size - 1)));
}

static inline void ring_commit(struct sample_ring *r, size_t n)
{
    __atomic_store_n(&r->head, r->head + n, __ATOMIC_RELEASE);
}

/* Word by word: the compiler copies a structure of this size by a call. */
static inline void sample_copy(struct hpm_sample *to, const struct hpm_sample *from)
{
    typedef uint64_t __attribute__((may_alias)) word;
    word *t = (word *)to;
    const word *f = (const word *)from;

    _Static_assert(sizeof *to == 8 * sizeof *t, "the words below");
    t[0] = f[0], t[1] = f[1], t[2] = f[2], t[3] = f[3], t[4] = f[4], t[5] = f[5], t[6] = f[6],
    t[7] = f[7];
}

static inline bool ring_push(struct sample_ring *r, const struct hpm_sample *s)
{
    if (ring_full(r))
        return false;
    sample_copy(ring_next(r), s);
    ring_commit(r, 1);
    return true;
}

/* For the consumer: the number of samples, sample number i, and that the first n have been
 * taken. */
static inline size_t ring_waiting(const struct sample_ring *r)
{
    return __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) - r->tail;
}

static inline const struct hpm_sample *ring_at(const struct sample_ring *r, size_t i)
{
    return &r->slots[(r->tail + i) & (r->size - 1)];
}

/* Returns the entries from number i on that are contiguous. */
static inline size_t ring_in_row(const struct sample_ring *r, size_t i)
{
    return r->size - ((r->tail + i) & (r->size - 1));
}

static inline void ring_taken(struct sample_ring *r, size_t n)
{
    __atomic_store_n(&r->tail, r->tail + n, __ATOMIC_RELEASE);
}

static inline bool ring_pop(struct sample_ring *r, struct hpm_sample *s)
{
    if (!ring_waiting(r))
        return false;
    sample_copy(s, ring_at(r, 0));
    ring_taken(r, 1);
    return true;
}
