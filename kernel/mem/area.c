/*
 * Large arrays of the kernel: frames from anywhere, mapped contiguously into a window of the VMAP
 * area, with an unmapped page between two areas. A list holds the few areas there are, by address.
 *
 * To grow an area, its frames are mapped a second time, elsewhere, with more frames behind: nothing
 * is copied, and the old area can be used meanwhile.
 */
#include "kernel/mem/mem.h"
#include "kernel/mem/vmap.h"
#include "kernel/lib/list.h"

#define WINDOW_BASE  (VMAP_BASE + 64 * GIB)
#define WINDOW_BYTES (256 * GIB)
#define BATCH        32

struct area {
    struct list link;
    vaddr_t base;
    uint64_t size;   /* bytes mapped, or being mapped */
    uint64_t others; /* bytes at its beginning that are another area's memory */
};

static struct list areas = {&areas, &areas}; /* sorted by address; guarded by vmap_lock */

/* Gives `a` the lowest gap that is large enough. */
static int place_locked(struct area *a)
{
    vaddr_t at = WINDOW_BASE;
    struct list *before = &areas;

    list_for_each (it, &areas) {
        const struct area *other = container_of(it, struct area, link);
        before = it;
        if (other->base - at >= a->size + PAGE_SIZE)
            break;
        at = other->base + other->size + PAGE_SIZE;
        before = &areas;
    }
    if (WINDOW_BASE + WINDOW_BYTES - at < a->size + PAGE_SIZE)
        return -ENOMEM;
    a->base = at;
    list_insert_before(before, &a->link);
    return 0;
}

static int map_page(vaddr_t va)
{
    paddr_t pa;
    int err = frame_alloc(0, &pa);

    if (err)
        return err;
    memset(phys_to_virt(pa), 0, PAGE_SIZE);
    bool irq = spin_lock(&vmap_lock);
    err = arch_space_map(NULL, va, pa, PROT_R | PROT_W);
    spin_unlock(&vmap_lock, irq);
    if (err)
        frame_free(pa, 0);
    return err;
}

/* Maps the frame at `from` at `va`, too. */
static int map_again(vaddr_t va, vaddr_t from)
{
    paddr_t pa;
    unsigned prot;
    bool irq = spin_lock(&vmap_lock);
    int err =
        arch_space_query(NULL, from, &pa, &prot) ?: arch_space_map(NULL, va, pa, PROT_R | PROT_W);

    spin_unlock(&vmap_lock, irq);
    return err;
}

/* Unmaps [va, end), and frees the frames from `own` on. */
static void unmap(vaddr_t va, vaddr_t own, vaddr_t end)
{
    while (va < end) {
        paddr_t frames[BATCH];
        unsigned n = 0;
        vaddr_t from = va;
        bool irq = spin_lock(&vmap_lock);
        for (; va < end && n < BATCH; va += PAGE_SIZE)
            if (arch_space_unmap(NULL, va, &frames[n]) == 0 && va >= own)
                n++;
        spin_unlock(&vmap_lock, irq);
        tlb_shootdown(NULL, from, (va - from) >> PAGE_SHIFT);
        while (n)
            frame_free(frames[--n], 0);
    }
}

static void release(struct area *a)
{
    unmap(a->base, a->base + a->others, a->base + a->size);
    bool irq = spin_lock(&vmap_lock);
    list_remove(&a->link);
    spin_unlock(&vmap_lock, irq);
    kfree(a);
}

/* Makes an area that begins with the memory of `like`, or with none if NULL. Returns NULL without
 * memory. */
static struct area *make_area(uint64_t bytes, const struct area *like)
{
    struct area *a = bytes && bytes <= WINDOW_BYTES ? kmalloc(sizeof(*a)) : NULL;

    if (!a)
        return NULL;
    a->size = ALIGN_UP(bytes, PAGE_SIZE);
    a->others = like ? like->size : 0;
    bool irq = spin_lock(&vmap_lock);
    int err = place_locked(a);
    spin_unlock(&vmap_lock, irq);
    if (err) {
        kfree(a);
        return NULL;
    }
    for (uint64_t at = 0; at < a->size && !err; at += PAGE_SIZE)
        err = at < a->others ? map_again(a->base + at, like->base + at) : map_page(a->base + at);
    if (!err)
        return a;
    release(a);
    return NULL;
}

static struct area *find_area(const void *p)
{
    struct area *found = NULL;
    bool irq = spin_lock(&vmap_lock);

    list_for_each (it, &areas) {
        struct area *a = container_of(it, struct area, link);
        if (a->base == (vaddr_t)p)
            found = a;
    }
    spin_unlock(&vmap_lock, irq);
    ASSERT(found);
    return found;
}

void *area_alloc(uint64_t bytes)
{
    struct area *a = make_area(bytes, NULL);

    return a ? (void *)a->base : NULL;
}

void *area_extend(void *p, uint64_t bytes)
{
    const struct area *like = find_area(p);

    ASSERT(!like->others && ALIGN_UP(bytes, PAGE_SIZE) >= like->size);
    struct area *a = make_area(bytes, like);
    return a ? (void *)a->base : NULL;
}

void area_replace(void *p, void *larger)
{
    struct area *from = find_area(p), *to = find_area(larger);

    ASSERT(!from->others && to->others == from->size);
    from->others = from->size;
    to->others = 0;
}

void area_free(void *p)
{
    if (p)
        release(find_area(p));
}
