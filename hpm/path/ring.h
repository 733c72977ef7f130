/*
 * A CPU's log of page accesses: a ring of entries, which hardware may write to by itself, and
 * beside it a ring of batches, which say whose they are. One producer, the CPU itself with
 * interrupts off; one consumer at a time, on any CPU.
 *
 * A batch is what one thread accessed in a stretch, in order, and when that ended. A thread's
 * batches on one CPU are in its order; on several, in the order of their times, since a thread
 * leaves a CPU with its batch ended. So whoever takes the earliest batch of all logs each time
 * gets every thread's accesses in that thread's order, and those of different threads about as they
 * happened.
 *
 * Nothing is overwritten: the producer looks for room first. Pure but for the atomic counters
 * between the two sides.
 */
#pragma once
#include "kernel/lib/base.h"

/* An entry: the page's number, was it a store, and the number of the address space. */
#define PAGE_ENTRY_PAGE        (((uint64_t)1 << 36) - 1)
#define PAGE_ENTRY_WRITE       ((uint64_t)1 << 36)
#define PAGE_ENTRY_SPACE_SHIFT 48
#define PAGE_SPACES            4096 /* numbers of address spaces; 0: none that is tracked */

/* As the hardware has it (struct machine_path_ring): a line, then the entries, in a row in
 * memory. */
struct page_ring {
    uint64_t head; /* entries ever appended; the producer's */
    uint64_t lost; /* by the hardware, since power-on */
    uint64_t tail; /* atomic: entries ever taken; the consumer's, for the hardware */
    uint64_t reserved[13];
    uint64_t entry[];
};

struct page_batch {
    uint64_t end;  /* its entries are before this one, and after those of the batch before */
    uint64_t time; /* ticks, when it ended */
    uint32_t tid;
    uint16_t space;
};

#define PAGE_BATCHES 1024 /* a power of two */

struct page_log {
    /* The producer's. */
    struct page_ring *ring;
    uint64_t size;  /* entries, a power of two */
    uint64_t begun; /* where the batch begins that is open */
    uint64_t lost;  /* entries for which there was no room */
    uint16_t cpu;
    uint64_t batch_head; /* atomic: batches ever ended */
    /* The consumer's. */
    uint64_t batch_tail ALIGNED(CACHE_LINE); /* atomic: batches ever taken */
    struct page_batch batch[PAGE_BATCHES];
};

/* Entries in a row that one thread has made, oldest first; in two parts where the ring ends in
 * between. */
struct page_run {
    const uint64_t *entry[2];
    size_t count[2];
    uint64_t time;
    uint32_t tid;
    uint16_t space, cpu;
};

/* cpu's log; ring has room for size entries, a power of two. */
void page_log_init(struct page_log *l, uint16_t cpu, struct page_ring *ring, uint64_t size);

/* The producer: is there room for n entries more, and a batch to hold them? */
static inline bool page_log_has_room(const struct page_log *l, uint64_t n)
{
    return l->ring->head + n - __atomic_load_n(&l->ring->tail, __ATOMIC_ACQUIRE) <= l->size &&
           l->batch_head - __atomic_load_n(&l->batch_tail, __ATOMIC_ACQUIRE) < PAGE_BATCHES;
}

/* The producer: one entry, where there is room. */
static inline void page_log_append(struct page_log *l, uint64_t entry)
{
    l->ring->entry[l->ring->head & (l->size - 1)] = entry;
    l->ring->head++;
}

/* The producer: what has been appended since the batch before is dropped, and counted as lost. */
static inline void page_log_drop_batch(struct page_log *l)
{
    l->lost += l->ring->head - l->begun;
    l->ring->head = l->begun;
}

/* The producer: what has been appended since the batch before is one, by this thread. Nothing:
 * there is none. Hardware appends without asking for a batch: where there is no room for one, it
 * is dropped. */
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

/* Entries that wait for the consumer; any context, may be out of date. */
static inline uint64_t page_log_waiting(const struct page_log *l)
{
    return l->begun - __atomic_load_n(&l->ring->tail, __ATOMIC_RELAXED);
}

/* The consumer: the log with the earliest batch that waits, if that ended by then, or NULL. n
 * logs; those that are NULL are left out. */
struct page_log *page_log_earliest(struct page_log *const *logs, unsigned n, uint64_t end);
/* The consumer: its next batch, which there is. Stays until page_log_taken. */
void page_log_next(const struct page_log *l, struct page_run *out);
void page_log_taken(struct page_log *l);

/* Panics on a broken invariant. Neither side is at work. */
void page_log_check(const struct page_log *l);
