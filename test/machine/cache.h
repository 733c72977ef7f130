/*
 * The caches of a simulated multiprocessor: an L1 for data and one for instructions in each core,
 * an L2 in each chip that includes them, an L3 in each chip that takes the L2's victims (a line is
 * in one of the two), and MESI between the chips. Every access returns its source and its cost,
 * which depends on the source alone.
 *
 * Rules to know when reading results:
 *   - A store needs the line exclusively. If the chip has it shared, the other chips' copies are
 *     invalidated and the access is an upgrade: served by the remote cache if one still had a copy,
 *     else by the chip's own (a snoop filter answers). An atomic read-modify-write is one store:
 *     one read for ownership.
 *   - Any chip with a copy, clean or not, supplies it rather than memory. An L2 is preferred to an
 *     L3.
 *   - The first reader of a line that no chip has gets it exclusively, and can write it later
 *     without a request.
 *   - A second core of a chip is served by its L2, even if the line is modified in the first core's
 *     L1.
 *   - Writing back is free: no CPU waits for it.
 *   - The caches hold a tag of the line's last writer. It is forgotten when the line leaves all
 *     caches.
 *
 * An access must not cross a line: the caller splits it. One thread at a time. Cores are numbered
 * through all chips.
 */
#pragma once
#include "test/machine/cache_array.h"

#define CACHE_NO_WRITER 0 /* unknown to the caches */

struct cache_result {
    uint8_t source;    /* enum cache_source */
    bool upgrade  : 1; /* the chip had the line shared, and needed it exclusively */
    bool modified : 1; /* served by a cache with a newer copy than memory's; not set for L1 hits */
    uint16_t latency;  /* stall cycles, by the topology's table */
    /* last writer before this access, or CACHE_NO_WRITER; not set for L1 hits */
    uint32_t writer;
};

struct cache {
    const struct topology *topology;
    unsigned line_shift;
    struct cache_array *l1d; /* per core */
    struct cache_array *l1i; /* per core */
    struct cache_array *l2;  /* per chip */
    struct cache_array *l3;  /* per chip; ways 0: there is none */

    /* Snoop filter: the number of lines each chip has, by line number modulo `buckets`. A chip with
     * none is not searched. A count that reaches 255 stays there. */
    uint64_t buckets; /* a power of two */
    uint8_t (*lines_on_chip)[TOPOLOGY_MAX_CHIPS];
};

/* Creates empty caches. The topology has passed topology_check() and outlives them. NULL: no
 * memory. */
struct cache *cache_create(const struct topology *t);
void cache_destroy(struct cache *c);

/* Empties all caches. */
void cache_reset(struct cache *c);

/* Drops these bytes of memory from all caches: a device has written them. */
void cache_discard(struct cache *c, paddr_t pa, uint64_t bytes);

/* Returns the invariant that is broken, or NULL. Slow: walks all lines. */
const char *cache_check(const struct cache *c);

/* The parts of the accesses below that are not inlined. */
struct cache_result cache_load_slow(struct cache *c, unsigned core, uint64_t number);
struct cache_result cache_fetch_slow(struct cache *c, unsigned core, uint64_t number);
struct cache_result cache_store_slow(struct cache *c, unsigned core, uint64_t number,
                                     uint32_t writer);

/* Returns the most recent line of the line number's set. L1 sets are a power of two
 * (topology_check), so a shift and a mask find it. */
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

/* A store or an atomic read-modify-write. writer: any tag but CACHE_NO_WRITER, kept with the
 * line. */
static inline struct cache_result cache_store(struct cache *c, unsigned core, paddr_t pa,
                                              uint32_t writer)
{
    uint64_t number = pa >> c->line_shift;
    struct cache_line *l = cache_l1_front(&c->l1d[core], number);
    /* Exclusive and modified lines, which differ in bit 0 only, may be written. */
    if (__builtin_expect((l->key | 1) == line_key(number, LINE_MODIFIED), 1)) {
        l->key = line_key(number, LINE_MODIFIED);
        l->writer = writer;
        return (struct cache_result){0};
    }
    return cache_store_slow(c, core, number, writer);
}
