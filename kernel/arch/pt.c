/* Walks page tables of any format. See pt.h. */
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

/* Returns the table below *slot, and makes it if there is none. Returns 0, -ENOMEM, or -EEXIST: a
 * leaf is there. */
static int descend(struct pt *pt, uint64_t *slot, unsigned level, unsigned prot, uint64_t **out)
{
    const struct pt_format *f = pt->format;

    if (!f->present(*slot)) {
        paddr_t frame;
        int err = pt->frames->alloc(pt->frames, &frame);
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

/* Maps one leaf of the largest possible size, which *span returns. */
static int map_leaf(struct pt *pt, vaddr_t va, paddr_t pa, uint64_t size, unsigned prot,
                    uint64_t *span)
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

/* Returns the leaf that maps `va`, and its level; or NULL. */
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

/* Finds the leaf of a 4 KB page. Returns 0; -ENOENT; -EINVAL: a larger leaf. */
static int find_page(const struct pt *pt, vaddr_t va, uint64_t **slot)
{
    unsigned level;

    *slot = find_leaf(pt, va, &level);
    if (!*slot)
        return -ENOENT;
    return level == pt->format->levels - 1 ? 0 : -EINVAL;
}

/* Replaces an entry. Returns the old one, with all marks of the processor. */
static uint64_t exchange(const struct pt *pt, uint64_t *slot, uint64_t entry)
{
    uint64_t old;

    do
        old = __atomic_load_n(slot, __ATOMIC_RELAXED);
    while (!pt->format->replace(slot, old, entry));
    return old;
}

int pt_unmap(struct pt *pt, vaddr_t va, paddr_t *pa)
{
    uint64_t *slot;
    int err = find_page(pt, va, &slot);

    if (!err)
        *pa = pt->format->address(exchange(pt, slot, 0), pt->format->levels - 1);
    return err;
}

int pt_evict(struct pt *pt, vaddr_t va, uint32_t number, paddr_t *pa, unsigned *marks)
{
    const struct pt_format *f = pt->format;
    uint64_t *slot;
    int err = find_page(pt, va, &slot);

    if (err)
        return err;
    uint64_t old = exchange(pt, slot, f->number(number));
    *pa = f->address(old, f->levels - 1);
    *marks = f->marks(old);
    return 0;
}

int pt_protect(struct pt *pt, vaddr_t va, unsigned prot)
{
    const struct pt_format *f = pt->format;
    uint64_t *slot, old;
    int err = find_page(pt, va, &slot);

    if (err)
        return err;
    do
        old = __atomic_load_n(slot, __ATOMIC_RELAXED);
    while (!f->replace(slot, old, f->protect(old, prot)));
    return 0;
}

int pt_mark(struct pt *pt, vaddr_t va, unsigned clear, unsigned set, unsigned *were)
{
    const struct pt_format *f = pt->format;
    uint64_t *slot, old, entry;
    int err = find_page(pt, va, &slot);

    if (err)
        return err;
    do {
        old = __atomic_load_n(slot, __ATOMIC_RELAXED);
        entry = f->mark(old, (f->marks(old) & ~clear) | set);
    } while (entry != old && !f->replace(slot, old, entry));
    *were = f->marks(old);
    return 0;
}

/* Returns the table of the last level for `va`, or NULL. */
static uint64_t *last_table(const struct pt *pt, vaddr_t va)
{
    const struct pt_format *f = pt->format;
    uint64_t *table = table_at(pt->root);

    for (unsigned l = 0; l + 1 < f->levels; l++) {
        uint64_t entry = table[index_at(pt, l, va)];
        if (!f->present(entry) || f->is_leaf(entry, l))
            return NULL;
        table = table_at(f->address(entry, l));
    }
    return table;
}

int pt_forget(struct pt *pt, vaddr_t va)
{
    uint64_t *table = last_table(pt, va);
    uint64_t *slot = table ? &table[index_at(pt, pt->format->levels - 1, va)] : NULL;
    uint32_t number;

    if (!slot || !pt->format->is_number(*slot, &number))
        return -ENOENT;
    pt->format->store(slot, 0);
    return 0;
}

int pt_reserve(struct pt *pt, vaddr_t va)
{
    uint64_t *table = table_at(pt->root);
    int err = 0;

    for (unsigned l = 0; !err && l + 1 < pt->format->levels; l++)
        err = descend(pt, &table[index_at(pt, l, va)], l, PROT_USER, &table);
    return err;
}

int pt_put_number(struct pt *pt, vaddr_t va, uint32_t number)
{
    const struct pt_format *f = pt->format;
    uint64_t *table = last_table(pt, va);
    uint64_t *slot = table ? &table[index_at(pt, f->levels - 1, va)] : NULL;
    uint32_t other;

    if (!slot)
        return -ENOENT;
    if (f->present(*slot) || f->is_number(*slot, &other))
        return -EEXIST;
    f->store(slot, f->number(number));
    return 0;
}

vaddr_t pt_skip(const struct pt *pt, vaddr_t va, vaddr_t end)
{
    const struct pt_format *f = pt->format;

    while (va < end) {
        const uint64_t *table = table_at(pt->root);
        unsigned l = 0;
        for (; l + 1 < f->levels; l++) {
            uint64_t entry = table[index_at(pt, l, va)];
            if (!f->present(entry) || f->is_leaf(entry, l))
                break;
            table = table_at(f->address(entry, l));
        }
        if (l + 1 == f->levels)
            return va;
        va = ALIGN_DOWN(va, span_at(pt, l)) + span_at(pt, l);
    }
    return end;
}

static struct arch_page page_of(const struct pt *pt, uint64_t entry)
{
    const struct pt_format *f = pt->format;
    struct arch_page page = {.kind = ARCH_PAGE_NONE};

    if (f->present(entry))
        page = (struct arch_page){ARCH_PAGE_HERE, f->marks(entry), f->prot(entry), 0,
                                  f->address(entry, f->levels - 1)};
    else if (f->is_number(entry, &page.number))
        page.kind = ARCH_PAGE_OUT;
    return page;
}

unsigned pt_look(const struct pt *pt, vaddr_t va, unsigned n, struct arch_page *out)
{
    const uint64_t *table = last_table(pt, va);
    unsigned first = index_at(pt, pt->format->levels - 1, va), some = 0;

    ASSERT(n <= PT_ENTRIES - first);
    for (unsigned i = 0; i < n; i++) {
        out[i] = table ? page_of(pt, __atomic_load_n(&table[first + i], __ATOMIC_RELAXED))
                       : (struct arch_page){.kind = ARCH_PAGE_NONE};
        some += out[i].kind != ARCH_PAGE_NONE;
    }
    return some;
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
    const uint64_t *entries = table_at(table);
    for (unsigned i = 0; level + 2 < f->levels && i < PT_ENTRIES; i++)
        if (entries[i])
            free_below(pt, entries[i], level + 1);
    pt->frames->free(pt->frames, table);
}

void pt_free_tables(struct pt *pt, unsigned first, unsigned end)
{
    uint64_t *root = table_at(pt->root);

    for (unsigned i = first; i < end; i++) {
        if (!root[i])
            continue;
        free_below(pt, root[i], 0);
        pt->format->store(&root[i], 0);
    }
}
