/* Walks page tables of any shape; see pt.h. */
#include "kernel/arch/pt.h"
#include "kernel/arch/arch.h"

static uint64_t *table_at(paddr_t table)
{
    return phys_to_virt(table);
}

static unsigned index_at(const struct pt *pt, unsigned level, vaddr_t va)
{
    return (va >> pt->format->level[level].shift) & (PT_ENTRIES - 1);
}

static uint64_t span_at(const struct pt *pt, unsigned level)
{
    return (uint64_t)1 << pt->format->level[level].shift;
}

/* The table below *slot, made if there is none.  0, -ENOMEM, or -EEXIST when a leaf is in the way. */
static int descend(struct pt *pt, uint64_t *slot, unsigned level, unsigned prot, uint64_t **out)
{
    const struct pt_format *f = pt->format;

    if (!f->present(*slot)) {
        paddr_t frame;
        int err = pt->frames->alloc(&frame);
        if (err)
            return err;
        f->store(slot, f->table(frame, prot));
    } else if (f->is_leaf(*slot, level)) {
        return -EEXIST;
    }
    *out = table_at(f->address(*slot, level));
    return 0;
}

static bool leaf_fits(const struct pt *pt, unsigned level, vaddr_t va, paddr_t pa, uint64_t size)
{
    uint64_t span = span_at(pt, level);

    return pt->format->level[level].leaf && IS_ALIGNED(va | pa, span) && size >= span;
}

/* Maps one leaf, the largest possible; *span is what it covers. */
static int map_leaf(struct pt *pt, vaddr_t va, paddr_t pa, uint64_t size, unsigned prot, uint64_t *span)
{
    const struct pt_format *f = pt->format;
    uint64_t *table = table_at(pt->root);
    unsigned level = 0;

    while (!leaf_fits(pt, level, va, pa, size)) {
        int err = descend(pt, &table[index_at(pt, level, va)], level, prot, &table);
        if (err)
            return err;
        level++;
    }
    uint64_t *slot = &table[index_at(pt, level, va)];
    if (f->present(*slot))
        return -EEXIST;
    f->store(slot, f->leaf(pa, prot, level));
    *span = span_at(pt, level);
    return 0;
}

int pt_map(struct pt *pt, vaddr_t va, paddr_t pa, uint64_t size, unsigned prot)
{
    paddr_t end = (paddr_t)1 << pt->format->physical_bits;

    ASSERT(IS_ALIGNED(va | pa | size, PAGE_SIZE));
    if (pa > end || size > end - pa)
        return -ERANGE;
    while (size) {
        uint64_t span;
        int err = map_leaf(pt, va, pa, size, prot, &span);
        if (err)
            return err;
        va += span;
        pa += span;
        size -= span;
    }
    return 0;
}

/* The leaf that maps va and its level, or NULL. */
static uint64_t *find_leaf(const struct pt *pt, vaddr_t va, unsigned *level)
{
    const struct pt_format *f = pt->format;
    uint64_t *table = table_at(pt->root);

    for (unsigned l = 0; l < f->levels; l++) {
        uint64_t *slot = &table[index_at(pt, l, va)];
        if (!f->present(*slot))
            return NULL;
        if (f->is_leaf(*slot, l)) {
            *level = l;
            return slot;
        }
        table = table_at(f->address(*slot, l));
    }
    return NULL;
}

/* As find_leaf, for a 4 KB page: 0, -ENOENT, or -EINVAL for a larger leaf. */
static int find_page(const struct pt *pt, vaddr_t va, uint64_t **slot)
{
    unsigned level;

    *slot = find_leaf(pt, va, &level);
    if (!*slot)
        return -ENOENT;
    return level == pt->format->levels - 1 ? 0 : -EINVAL;
}

int pt_unmap(struct pt *pt, vaddr_t va, paddr_t *pa)
{
    uint64_t *slot;
    int err = find_page(pt, va, &slot);

    if (err)
        return err;
    *pa = pt->format->address(*slot, pt->format->levels - 1);
    pt->format->store(slot, 0);
    return 0;
}

int pt_protect(struct pt *pt, vaddr_t va, unsigned prot)
{
    const struct pt_format *f = pt->format;
    uint64_t *slot;
    int err = find_page(pt, va, &slot);

    if (err)
        return err;
    f->store(slot, f->leaf(f->address(*slot, f->levels - 1), prot, f->levels - 1));
    return 0;
}

int pt_query(const struct pt *pt, vaddr_t va, paddr_t *pa, unsigned *prot)
{
    unsigned level;
    const uint64_t *slot = find_leaf(pt, va, &level);

    if (!slot)
        return -ENOENT;
    *pa = pt->format->address(*slot, level) + ALIGN_DOWN(va & (span_at(pt, level) - 1), PAGE_SIZE);
    *prot = pt->format->prot(*slot);
    return 0;
}

int pt_prepare(struct pt *pt, vaddr_t va, unsigned prot)
{
    uint64_t *below;

    return descend(pt, &table_at(pt->root)[index_at(pt, 0, va)], 0, prot, &below);
}

static void free_below(struct pt *pt, uint64_t entry, unsigned level)
{
    const struct pt_format *f = pt->format;

    if (!f->present(entry) || f->is_leaf(entry, level))
        return;
    paddr_t table = f->address(entry, level);
    for (unsigned i = 0; level + 2 < f->levels && i < PT_ENTRIES; i++)
        free_below(pt, table_at(table)[i], level + 1);
    pt->frames->free(table);
}

void pt_free_tables(struct pt *pt, unsigned first, unsigned end)
{
    uint64_t *root = table_at(pt->root);

    for (unsigned i = first; i < end; i++) {
        free_below(pt, root[i], 0);
        pt->format->store(&root[i], 0);
    }
}
