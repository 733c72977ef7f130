/* Memory of lwIP's objects, bounded in all; see instance.h and arch/cc.h. */
#include "kernel/mem/mem.h"
#include "kernel/net/lwip/instance.h"
#include "lwip/opt.h"

#define DEFAULT_PART 8 /* an eighth of memory */

uint64_t net_memory; /* boot argument net.memory; 0: a part of memory */
static uint64_t used, limit, refused;

/* In front of each piece. */
struct head {
    uint64_t bytes;
} ALIGNED(16);

uint64_t net_memory_limit(void)
{
    struct frame_stats frames;

    if (!limit) {
        frame_stats(&frames);
        limit = net_memory ? net_memory : frames.total_pages * PAGE_SIZE / DEFAULT_PART;
    }
    return limit;
}

uint64_t net_memory_used(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

uint64_t net_memory_refused(void)
{
    return __atomic_load_n(&refused, __ATOMIC_RELAXED);
}

void *lwip_malloc(size_t bytes)
{
    struct head *h;

    if (bytes > net_memory_limit() || used > limit - bytes ||
        !(h = kmalloc_unfilled(sizeof(*h) + bytes))) {
        __atomic_store_n(&refused, refused + 1, __ATOMIC_RELAXED);
        return NULL;
    }
    h->bytes = bytes;
    __atomic_store_n(&used, used + bytes, __ATOMIC_RELAXED);
    return h + 1;
}

void *lwip_calloc(size_t n, size_t bytes)
{
    void *p = lwip_malloc(n * bytes); /* lwIP asks for small ones of its own */

    if (p)
        memset(p, 0, n * bytes);
    return p;
}

void lwip_free(void *p)
{
    struct head *h = (struct head *)p - 1;

    if (!p)
        return;
    __atomic_store_n(&used, used - h->bytes, __ATOMIC_RELAXED);
    kfree(h);
}
