/* Entering and flushing translations. The ways of a set are in order of recency, invalid ones
 * last. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "test/machine/tlb.h"

int tlb_init(struct tlb *t, struct geometry g)
{
    *t = (struct tlb){.sets = g.sets, .ways = g.ways};
    t->entries = malloc((size_t)g.sets * g.ways * sizeof(*t->entries));
    if (!t->entries)
        return -ENOMEM;
    tlb_flush_all(t);
    return 0;
}

void tlb_free(struct tlb *t)
{
    free(t->entries);
    t->entries = NULL;
}

static struct tlb_entry *move_to_front(struct tlb_entry *set, uint32_t way, struct tlb_entry e)
{
    memmove(set + 1, set, way * sizeof(*set));
    set[0] = e;
    return set;
}

const struct tlb_entry *tlb_lookup_slow(struct tlb *t, vaddr_t va, uint16_t space)
{
    struct tlb_entry *set = tlb_set(t, va);
    uint64_t own = tlb_key(va, space);
    uint64_t global = tlb_key_global(va);

    for (uint32_t way = 0; way < t->ways; way++)
        if (set[way].key == own || set[way].key == global)
            return move_to_front(set, way, set[way]);
    return NULL;
}

bool tlb_holds(const struct tlb *t, vaddr_t va, uint16_t space)
{
    const struct tlb_entry *set = tlb_set(t, va);

    for (uint32_t way = 0; way < t->ways; way++)
        if (set[way].key == tlb_key(va, space) || set[way].key == tlb_key_global(va))
            return true;
    return false;
}

const struct tlb_entry *tlb_insert(struct tlb *t, vaddr_t va, uint16_t space, bool global,
                                   paddr_t pa, bool io)
{
    struct tlb_entry *set = tlb_set(t, va);
    struct tlb_entry e = {
        .key = global ? tlb_key_global(va) : tlb_key(va, space),
        .frame = (pa & ~(paddr_t)PAGE_MASK) | (io ? TLB_IO : 0),
    };

    tlb_flush_page(t, va, space);
    return move_to_front(set, t->ways - 1, e);
}

/* Invalidates the entries of a set with the given key, not counting the bits of `ignore`. The
 * others keep their order. */
static void flush_matching(struct tlb *t, struct tlb_entry *set, uint64_t key, uint64_t ignore)
{
    uint32_t kept = 0;
    for (uint32_t way = 0; way < t->ways; way++)
        if (set[way].key == TLB_INVALID || (set[way].key & ~ignore) != key)
            set[kept++] = set[way];
    while (kept < t->ways)
        set[kept++].key = TLB_INVALID;
}

static void flush_everywhere(struct tlb *t, uint64_t key, uint64_t ignore)
{
    for (uint32_t set = 0; set < t->sets; set++)
        flush_matching(t, t->entries + (size_t)set * t->ways, key, ignore);
}

#define ANY_PAGE  (TLB_KEY_PAGES << TLB_KEY_SHIFT)
#define ANY_SPACE (TLB_KEY_GLOBAL - 1)

void tlb_flush_all(struct tlb *t)
{
    memset(t->entries, 0xff, (size_t)t->sets * t->ways * sizeof(*t->entries));
}

void tlb_flush_nonglobal(struct tlb *t)
{
    flush_everywhere(t, 0, ANY_PAGE | ANY_SPACE);
}

void tlb_flush_space(struct tlb *t, uint16_t space)
{
    flush_everywhere(t, space, ANY_PAGE);
}

void tlb_flush_page(struct tlb *t, vaddr_t va, uint16_t space)
{
    flush_matching(t, tlb_set(t, va), tlb_key(va, space), 0);
    flush_matching(t, tlb_set(t, va), tlb_key_global(va), 0);
}

void tlb_flush_page_all(struct tlb *t, vaddr_t va)
{
    flush_matching(t, tlb_set(t, va), tlb_key(va, 0), ANY_SPACE | TLB_KEY_GLOBAL);
}

const char *tlb_check(const struct tlb *t)
{
    for (uint32_t i = 0; i < t->sets * t->ways; i++) {
        const struct tlb_entry *e = &t->entries[i];
        const struct tlb_entry *set = t->entries + i / t->ways * t->ways;
        if (e->key == TLB_INVALID)
            continue;
        if (e > set && e[-1].key == TLB_INVALID)
            return "an invalid entry is in front of a valid one";
        if ((e->key >> TLB_KEY_SHIFT & (t->sets - 1)) != i / t->ways)
            return "an entry is in the wrong set";
        for (const struct tlb_entry *f = set; f < e; f++)
            if (f->key == e->key)
                return "an entry is twice in its set";
    }
    return NULL;
}
