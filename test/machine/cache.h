/*
 * The caches of a simulated multiprocessor: an L1 for data and one for instructions per core, an L2
 * per chip that includes them, an L3 per chip that takes what the L2 evicts (a line is in one of
 * the two), and MESI between the chips. Every access says who served it and what it cost; the cost
 * depends on the source alone.
 *
 * Rules worth knowing when reading results:
 * - A store needs the line exclusively. If the chip has it shared, the other chips' copies are
 * invalidated
 * and the access is an upgrade: served by the remote cache when one still had a copy, else by its
 * own (a snoop filter answers). An atomic read-modify-write is one store: one read for ownership.
 * - Any chip with a copy, clean or not, supplies it rather than memory; an L2 is preferred to an
 * L3.
 * - The first reader of a line that nobody has gets it exclusively and can write later without
 * asking.
 * - A second core of a chip is served by its L2, also when the line is modified in the first core's
 * L1.
 * - Writing back is free: nothing waits for it.
 * - The caches hold a tag of whoever wrote a line last; it is forgotten when the line leaves all
 * caches.
 *
 * An access must not cross a line: the caller splits it. One thread at a time; cores are numbered
 * through all chips.
 */
#pragma once
#include "test/machine/cache_array.h"

#define CACHE_NO_WRITER 0 /* nobody, as far as the caches remember */

struct cache_result {
    uint8_t source;    /* enum cache_source */
    bool upgrade  : 1; /* the chip had the line shared and needed it exclusively */
    bool modified : 1; /* served by a cache that had it newer than memory; not given for L1 hits */
    uint16_t latency;  /* stall cycles: the topology's figure for the source */
    /* last writer before this access; CACHE_NO_WRITER if unknown; not given for L1 hits */
    uint32_t writer;
};

struct cache {
    const struct topology *topology;
    unsigned line_shift;
    struct cache_array *l1d; /* per core */
    struct cache_array *l1i; /* per core */
    struct cache_array *l2;  /* per chip */
    struct cache_array *l3;  /* per chip; ways 0 where there is none */

    /* Snoop filter: how many lines each chip has of those whose numbers are equal modulo `buckets`;
     * a chip with none is not searched. A count that reaches 255 stays there. */
    uint64_t buckets; /* a power of two */
    uint8_t (*lines_on_chip)[TOPOLOGY_MAX_CHIPS];
};

/* NULL if there is no memory. The topology must have passed topology_check() and outlive the
 * caches. */
struct cache *cache_create(const struct topology *t);
void cache_destroy(struct cache *c);

/* All caches empty again. */
void cache_reset(struct cache *c);

/* A device wrote these bytes of memory: no cache has them any more. */
void cache_discard(struct cache *c, paddr_t pa, uint64_t bytes);

/* NULL, or what is wrong. Slow: walks everything. */
const char *cache_check(const struct cache *c);

/* The parts of the accesses below that are not inline. */
struct cache_result cache_load_slow(struct cache *c, unsigned core, uint64_t number);
struct cache_result cache_fetch_slow(struct cache *c, unsigned core, uint64_t number);
struct cache_result cache_store_slow(struct cache *c, unsigned core, uint64_t number,
                                     uint32_t writer);

/* L1 sets are a power of two (topology_check), so the most recent line of a set is a shift and a
 * mask away.
 */
static inline struct cache_line *cache_l1_front(const struct cache_array *l1, uint64_t number)
{
    return l1->lines + ((number & l1->set_mask) << l1->way_shift);
}

static inline struct cache_result cache_load(struct cache *c, unsigned core, paddr_t pa)
{
    uint64_t number = pa >> c->line_shift;
    if (__builtin_expect(line_number(cache_l1_front(&c->l1d[core], number)) == number, 1))
        return (struct cache_result){0};
    return cache_load_slow(c, core, number);
}

static inline struct cache_result cache_fetch(struct cache *c, unsigned core, paddr_t pa)
{
    uint64_t number = pa >> c->line_shift;
    if (__builtin_expect(line_number(cache_l1_front(&c->l1i[core], number)) == number, 1))
        return (struct cache_result){0};
    return cache_fetch_slow(c, core, number);
}

/* Also an atomic read-modify-write. writer: any tag but CACHE_NO_WRITER, kept with the line. */
static inline struct cache_result cache_store(struct cache *c, unsigned core, paddr_t pa,
                                              uint32_t writer)
{
    uint64_t number = pa >> c->line_shift;
    struct cache_line *l = cache_l1_front(&c->l1d[core], number);
    /* Exclusive and modified differ in bit 0 only, and may both be written. */
    if (__builtin_expect((l->key | 1) == line_key(number, LINE_MODIFIED), 1)) {
        l->key = line_key(number, LINE_MODIFIED);
        l->writer = writer;
        return (struct cache_result){0};
    }
    return cache_store_slow(c, core, number, writer);
}
