/* See ring.h. */
#include "hpm/path/ring.h"

void page_log_init(struct page_log *l, uint16_t cpu, struct page_ring *ring, uint64_t size)
{
    ASSERT(is_pow2(size));
    ring->head = ring->lost = ring->tail = 0;
    *l = (struct page_log){.ring = ring, .size = size, .cpu = cpu};
}

static const struct page_batch *next_batch(const struct page_log *l)
{
    if (l->batch_tail == __atomic_load_n(&l->batch_head, __ATOMIC_ACQUIRE))
        return NULL;
    return &l->batch[l->batch_tail & (PAGE_BATCHES - 1)];
}

struct page_log *page_log_earliest(struct page_log *const *logs, unsigned n, uint64_t end)
{
    struct page_log *earliest = NULL;

    for (unsigned i = 0; i < n; i++) {
        const struct page_batch *b = logs[i] ? next_batch(logs[i]) : NULL;
        if (!b || b->time > end || (earliest && b->time == end))
            continue;
        earliest = logs[i];
        end = b->time;
    }
    return earliest;
}

void page_log_next(const struct page_log *l, struct page_run *out)
{
    const struct page_batch *b = next_batch(l);
    uint64_t from = l->ring->tail & (l->size - 1);

    ASSERT(b && b->end - l->ring->tail <= l->size);
    size_t first = (size_t)MIN(b->end - l->ring->tail, l->size - from);
    *out = (struct page_run){
        .entry = {&l->ring->entry[from], l->ring->entry},
        .count = {first, (size_t)(b->end - l->ring->tail) - first},
        .time = b->time,
        .tid = b->tid,
        .space = b->space,
        .cpu = l->cpu,
    };
}

void page_log_taken(struct page_log *l)
{
    const struct page_batch *b = next_batch(l);

    ASSERT(b);
    __atomic_store_n(&l->ring->tail, b->end, __ATOMIC_RELEASE);
    __atomic_store_n(&l->batch_tail, l->batch_tail + 1, __ATOMIC_RELEASE);
}

void page_log_check(const struct page_log *l)
{
    uint64_t end = l->ring->tail, time = 0;

    ASSERT(l->ring->head - l->ring->tail <= l->size && l->ring->head >= l->begun);
    ASSERT(l->batch_head - l->batch_tail <= PAGE_BATCHES);
    for (uint64_t i = l->batch_tail; i != l->batch_head; i++) {
        const struct page_batch *b = &l->batch[i & (PAGE_BATCHES - 1)];
        ASSERT(b->end > end && b->time >= time);
        end = b->end;
        time = b->time;
    }
    ASSERT(end == l->begun);
}
