/*
 * Demand-zero: a page comes into being when it is first touched.  The frame is taken and zeroed without the
 * space's lock; whoever loses the race for a page gives its frame back, so there is exactly one.
 */
#include "mm/space.h"

static bool allowed(const struct region *r, enum fault_access access)
{
    static const unsigned need[] = {
        [FAULT_READ] = PROT_R | PROT_W | PROT_X, [FAULT_WRITE] = PROT_W, [FAULT_EXEC] = PROT_X};

    return r && !r->dying && (r->prot & need[access]);
}

/* 0: the page is there, -EAGAIN: it needs a frame, -EFAULT: it may not be. */
static int lookup_locked(struct space *s, vaddr_t va, enum fault_access access, struct region **region)
{
    paddr_t pa;
    unsigned prot;

    *region = regions_find(&s->regions, va);
    if (!allowed(*region, access))
        return -EFAULT;
    if (arch_space_query(&s->arch, va, &pa, &prot))
        return -EAGAIN;
    /* A change of the region's rights may not have come to this page yet: no need to fault until it has. */
    if (prot != space_page_prot((*region)->prot)) {
        arch_space_protect(&s->arch, va, space_page_prot((*region)->prot));
        arch_tlb_flush(&s->arch, va, 1);
    }
    return 0;
}

static int install_locked(struct space *s, struct region *region, vaddr_t va, paddr_t frame)
{
    int err = arch_space_map(&s->arch, va, frame, space_page_prot(region->prot));

    if (err)
        return err;
    region_touch(region, va);
    s->resident_pages++;
    return 0;
}

/* 0 and *used when frame is now the page at va; 0 without it when somebody else was faster. */
static int install(struct space *s, vaddr_t va, enum fault_access access, paddr_t frame, bool *used)
{
    struct region *region;
    bool irq = spin_lock(&s->lock);
    int err = lookup_locked(s, va, access, &region);

    if (err == -EAGAIN) {
        err = install_locked(s, region, va, frame);
        *used = !err;
    }
    spin_unlock(&s->lock, irq);
    return err;
}

int space_fault(struct space *s, vaddr_t va, enum fault_access access)
{
    struct region *region;
    paddr_t frame;
    bool used = false;

    va = ALIGN_DOWN(va, PAGE_SIZE);
    bool irq = spin_lock(&s->lock);
    s->faults++;
    int err = lookup_locked(s, va, access, &region);
    spin_unlock(&s->lock, irq);
    if (err != -EAGAIN)
        return err;
    if (frame_alloc_zeroed(&frame))
        return -ENOMEM;
    err = install(s, va, access, frame, &used);
    if (!used)
        frame_free(frame, 0);
    return err;
}

/* The page at va, whatever the region's protection, and whether it is code.  0, -EFAULT: nothing mapped there, -ENOMEM. */
static int make_resident_locked(struct space *s, vaddr_t va, paddr_t *pa, bool *code)
{
    struct region *region = regions_find(&s->regions, va);
    unsigned prot;

    if (!region || region->dying)
        return -EFAULT;
    *code = region->prot & PROT_X;
    if (arch_space_query(&s->arch, va, pa, &prot) == 0)
        return 0;
    int err = frame_alloc_zeroed(pa);
    if (err)
        return err;
    err = install_locked(s, region, va, *pa);
    if (err)
        frame_free(*pa, 0);
    return err;
}

int space_fill(struct space *s, vaddr_t va, const void *src, size_t n)
{
    const char *from = src;

    while (n) {
        uint64_t offset = va & PAGE_MASK;
        size_t part = MIN(n, (size_t)(PAGE_SIZE - offset));
        paddr_t pa;
        bool code = false, irq = spin_lock(&s->lock);
        int err = make_resident_locked(s, va - offset, &pa, &code);
        if (!err)
            memcpy((char *)phys_to_virt(pa) + offset, from, part);
        if (!err && code)
            arch_code_written(phys_to_virt(pa));
        spin_unlock(&s->lock, irq);
        if (err)
            return err;
        va += part;
        from += part;
        n -= part;
    }
    return 0;
}
