/* See account.h. */
#include "kernel/mem/account.h"
#include "kernel/mem/mem.h"

#define DEFAULT_PART 4 /* a quarter of memory */

uint64_t mem_kernel;

static uint64_t limit_wanted(void)
{
    struct frame_stats frames;

    if (mem_kernel)
        return mem_kernel;
    frame_stats(&frames);
    return frames.total_pages * PAGE_SIZE / DEFAULT_PART;
}

struct memory_account *memory_account_make(const struct memory_account *like)
{
    struct memory_account *a = kmalloc(sizeof(*a));

    if (a)
        *a = (struct memory_account){.limit = like ? like->limit : limit_wanted(), .refs = 1};
    return a;
}

struct memory_account *memory_account_get(struct memory_account *a)
{
    __atomic_fetch_add(&a->refs, 1, __ATOMIC_RELAXED);
    return a;
}

void memory_account_put(struct memory_account *a)
{
    if (a && __atomic_sub_fetch(&a->refs, 1, __ATOMIC_ACQ_REL) == 0)
        kfree(a);
}

bool memory_account_full(const struct memory_account *a, uint64_t bytes)
{
    uint64_t used = __atomic_load_n(&a->used, __ATOMIC_RELAXED);

    return used > a->limit || bytes > a->limit - used;
}

int memory_charge(struct memory_account *a, uint64_t bytes)
{
    uint64_t used = __atomic_load_n(&a->used, __ATOMIC_RELAXED);

    do
        if (used > a->limit || bytes > a->limit - used)
            return -EDQUOT;
    while (!__atomic_compare_exchange_n(&a->used, &used, used + bytes, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
    return 0;
}

void memory_uncharge(struct memory_account *a, uint64_t bytes)
{
    uint64_t before = __atomic_fetch_sub(&a->used, bytes, __ATOMIC_RELAXED);

    ASSERT(before >= bytes);
}
