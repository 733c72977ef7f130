/*
 * Large arrays of the kernel's own: frames from anywhere, mapped in a row into a window of the VMAP area, with an unmapped page
 * between two.  Areas lie in a list by address; there are few of them.
 */
#include "mm/mm.h"
#include "mm/vmap.h"
#include "kernel/list.h"

#define WINDOW_BASE  (VMAP_BASE + 64 * GIB)
#define WINDOW_BYTES (256 * GIB)
#define BATCH        32

struct area {
    struct list link;
    vaddr_t base;
    uint64_t size; /* mapped, or being mapped */
};

static struct list areas = {&areas, &areas}; /* vmap_lock: by address */

/* The lowest gap that is large enough. */
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

static void unmap(vaddr_t va, vaddr_t end)
{
    while (va < end) {
        paddr_t frames[BATCH];
        unsigned n = 0;
        vaddr_t from = va;
        bool irq = spin_lock(&vmap_lock);
        for (; va < end && n < BATCH; va += PAGE_SIZE)
            if (arch_space_unmap(NULL, va, &frames[n]) == 0)
                n++;
        spin_unlock(&vmap_lock, irq);
        tlb_shootdown(NULL, from, (va - from) >> PAGE_SHIFT);
        while (n)
            frame_free(frames[--n], 0);
    }
}

static void release(struct area *a)
{
    unmap(a->base, a->base + a->size);
    bool irq = spin_lock(&vmap_lock);
    list_remove(&a->link);
    spin_unlock(&vmap_lock, irq);
    kfree(a);
}

void *area_alloc(uint64_t bytes)
{
    if (!bytes || bytes > WINDOW_BYTES)
        return NULL;
    struct area *a = kmalloc(sizeof(*a));
    if (!a)
        return NULL;
    a->size = ALIGN_UP(bytes, PAGE_SIZE);
    bool irq = spin_lock(&vmap_lock);
    int err = place_locked(a);
    spin_unlock(&vmap_lock, irq);
    if (err) {
        kfree(a);
        return NULL;
    }
    for (vaddr_t va = a->base; va < a->base + a->size; va += PAGE_SIZE) {
        if (map_page(va)) {
            release(a);
            return NULL;
        }
    }
    return (void *)a->base;
}

static struct area *find(vaddr_t base)
{
    struct area *found = NULL;
    bool irq = spin_lock(&vmap_lock);

    list_for_each (it, &areas) {
        struct area *a = container_of(it, struct area, link);
        if (a->base == base)
            found = a;
    }
    spin_unlock(&vmap_lock, irq);
    ASSERT(found);
    return found;
}

void area_free(void *p)
{
    if (p)
        release(find((vaddr_t)p));
}
