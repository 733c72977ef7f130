/*
 * A CPU's log of page accesses: a ring of entries, which hardware may write to by itself, and a
 * ring of batches, which tell the threads of the entries. One producer, the CPU itself with
 * interrupts off; one consumer at a time, on any CPU.
 *
 * A batch contains what one thread accessed in a stretch, in order, and when the stretch ended. A
 * thread's batches on one CPU are in order; on several CPUs they are in the order of their times,
 * since a thread's batch has ended when it leaves a CPU. So a consumer that always takes the
 * earliest batch of all logs gets every thread's accesses in order, and those of different threads
 * about as they happened.
 *
 * Nothing is overwritten: the producer looks for room first. Pure, except for the atomic counters
 * between the two sides.
 */
#pragma once
#include "kernel/lib/base.h"

/* An entry: the page's number, whether it was a store, and the number of the address space. */
#define PAGE_ENTRY_PAGE        (((uint64_t)1 << 36) - 1)
#define PAGE_ENTRY_WRITE       ((uint64_t)1 << 36)
#define PAGE_ENTRY_SPACE_SHIFT 48
#define PAGE_SPACES            4096 /* numbers of address spaces; 0: none */

/* Laid out as the hardware has it (struct machine_path_ring): a header, then the entries,
 * contiguous. */
struct page_ring {
    uint64_t head; /* entries ever appended; the producer's */
    uint64_t lost; /* by the hardware, since power-on */
    uint64_t tail; /* atomic: entries ever taken; written by the consumer, read by the hardware */
    uint64_t reserved[13];
    uint64_t entry[];
};

struct page_batch {
    uint64_t end;  /* its entries end before this one, and begin where the batch before ends */
    uint64_t time; /* ticks when it ended */
    uint32_t tid;
    uint16_t space;
};

#define PAGE_BATCHES 1024 /* a power of two */

struct page_log {
    /* The producer's side. */
    struct page_ring *ring;
    uint64_t size;  /* entries, a power of two */
    uint64_t begun; /* where the open batch begins */
    uint64_t lost;  /* entries for which there was no room */
    uint16_t cpu;
    uint64_t batch_head; /* atomic: batches ever ended */
    /* The consumer's side. */
    uint64_t batch_tail ALIGNED(CACHE_LINE); /* atomic: batches ever taken */
    struct page_batch batch[PAGE_BATCHES];
};

/* The entries of a batch, oldest first; in two parts if the ring's end is between them. */
struct page_run {
    const uint64_t *entry[2];
    size_t count[2];
    uint64_t time;
    uint32_t tid;
    uint16_t space, cpu;
};

/* Makes the log of CPU `cpu`. `ring` has room for `size` entries, a power of two. */
void page_log_init(struct page_log *l, uint16_t cpu, struct page_ring *ring, uint64_t size);

/* Producer: returns whether there is room for n more entries and their batch. */
static inline bool page_log_has_room(const struct page_log *l, uint64_t n)
{
    return l->ring->head + n - __atomic_load_n(&l->ring->tail, __ATOMIC_ACQUIRE) <= l->size &&
           l->batch_head - __atomic_load_n(&l->batch_tail, __ATOMIC_ACQUIRE) < PAGE_BATCHES;
}

/* Producer: appends an entry; there must be room. */
static inline void page_log_append(struct page_log *l, uint64_t entry)
{
    l->ring->entry[l->ring->head & (l->size - 1)] = entry;
    l->ring->head++;
}

/* Producer: drops the open batch and counts its entries as lost. */
static inline void page_log_drop_batch(struct page_log *l)
{
    l->lost += l->ring->head - l->begun;
    l->ring->head = l->begun;
}

/* Producer: ends the open batch, of this thread; an empty one is not kept. Hardware appends entries
 * without regard to batches, so a batch without room is dropped. */
static inline void page_log_end_batch(struct page_log *l, uint32_t tid, uint16_t space,
                                      uint64_t time)
{
    if (l->ring->head == l->begun)
        return;
    if (l->batch_head - __atomic_load_n(&l->batch_tail, __ATOMIC_ACQUIRE) == PAGE_BATCHES) {
        page_log_drop_batch(l);
        return;
    }
    l->batch[l->batch_head & (PAGE_BATCHES - 1)] =
        (struct page_batch){.end = l->ring->head, .time = time, .tid = tid, .space = space};
    l->begun = l->ring->head;
    __atomic_store_n(&l->batch_head, l->batch_head + 1, __ATOMIC_RELEASE);
}

/* Returns the entries that wait for the consumer; may be out of date. Any context. */
static inline uint64_t page_log_waiting(const struct page_log *l)
{
    return l->begun - __atomic_load_n(&l->ring->tail, __ATOMIC_RELAXED);
}

/* Consumer: returns the log with the earliest batch that waits and ended by `end`, or NULL. Logs
 * that are NULL are left out. */
struct page_log *page_log_earliest(struct page_log *const *logs, unsigned n, uint64_t end);
/* Consumer: page_log_next returns the next batch, which must exist; it is valid until
 * page_log_taken. */
void page_log_next(const struct page_log *l, struct page_run *out);
void page_log_taken(struct page_log *l);

/* Panics if an invariant is broken. Neither side may be active. */
void page_log_check(const struct page_log *l);
