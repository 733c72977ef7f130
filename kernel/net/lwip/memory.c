/*
 * Memory of lwIP's objects, bounded in all; see instance.h and arch/cc.h. An instance gets leave
 * for many bytes at a time, so that it need not touch what others write each time.
 */
#include "kernel/mem/mem.h"
#include "kernel/net/lwip/instance.h"
#include "kernel/net/lwip/room.h"
#include "lwip/opt.h"

#define GRANT (64 * KIB)

/* Bytes of its objects, and that it may have. Written with the instance's lock held. */
static uint64_t used, granted, refused;

/* In front of each piece. */
struct head {
    uint64_t bytes;
} ALIGNED(16);

uint64_t net_instance_memory(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

uint64_t net_instance_refused(void)
{
    return __atomic_load_n(&refused, __ATOMIC_RELAXED);
}

/* Returns whether that many bytes more are granted. */
static bool may_have(uint64_t bytes)
{
    uint64_t more = bytes > granted - used ? bytes - (granted - used) : 0;

    if (more && net_memory_grant(more + GRANT))
        granted += more + GRANT;
    else if (more && net_memory_grant(more))
        granted += more;
    else if (more)
        return false;
    return true;
}

/* What all instances have; of the others, what they were granted. */
static uint64_t of_all(void)
{
    return net_memory_granted() - (granted - used);
}

bool lwip_is_short(void)
{
    return net_is_short(net_memory_limit(), of_all());
}

void *lwip_malloc(size_t bytes)
{
    struct head *h;

    if (!net_has_room(net_memory_limit(), of_all(), bytes) || !may_have(bytes) ||
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
    if (granted - used > 2 * GRANT) {
        granted -= GRANT;
        net_memory_return(GRANT);
    }
}
