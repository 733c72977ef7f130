/*
 * The coherence protocol.
 *
 * In a chip a line is in the L2, in the L3 or in neither, and is shared (other chips may have it),
 * exclusive (no other chip has it) or modified. In a core the L1s hold some of the L2's lines;
 * `holders` of the L2 line has a bit for each L1 that does. An L1 line may be written without a
 * request (it is exclusive or modified) only in a data L1 that is the sole holder on a chip that
 * has the line exclusively. Its state and writer are then newer than the L2's, which gets them when
 * the L1 loses the line or the right to write it (l1_report).
 */
#include <stdlib.h>
#include <string.h>
#include "test/machine/cache.h"

/* The holder bit tells an L1 for data from one for instructions. */
enum l1_kind { L1_DATA, L1_CODE };
#define NO_SOURCE CACHE_SOURCES

static inline unsigned chip_of(const struct cache *c, unsigned core)
{
    return core / c->topology->cores_per_chip;
}

static inline uint32_t holder_bit(const struct cache *c, unsigned core, enum l1_kind kind)
{
    return 1u << (core % c->topology->cores_per_chip * 2 + kind);
}

/* Returns the L1 that a holder bit of an L2 line of the chip stands for. */
static inline struct cache_array *holder_l1(const struct cache *c, unsigned chip, unsigned bit)
{
    struct cache_array *l1 = bit % 2 == L1_CODE ? c->l1i : c->l1d;
    return &l1[chip * c->topology->cores_per_chip + bit / 2];
}

/* Copies what the L1 knows of the line to the L2 line. */
static void l1_report(const struct cache_line *l1_line, struct cache_line *l2_line)
{
    if (line_state(l1_line) != LINE_MODIFIED)
        return;
    l2_line->key = line_key(line_number(l2_line), LINE_MODIFIED);
    l2_line->writer = l1_line->writer;
}

/* Takes the line from all L1s of the chip, except those in `keep`. */
static void l1_drop(struct cache *c, unsigned chip, struct cache_line *l2_line, uint32_t keep)
{
    for (uint32_t left = l2_line->holders & ~keep; left; left &= left - 1) {
        struct cache_array *l1 = holder_l1(c, chip, (unsigned)__builtin_ctz(left));
        struct cache_line *l = array_peek(l1, line_number(l2_line));
        l1_report(l, l2_line);
        array_remove(l1, l);
    }
    l2_line->holders &= keep;
}

/* Takes the right to write the line from the L1s of the chip. An L1 that has it is the sole
 * holder. */
static void l1_share(struct cache *c, unsigned chip, struct cache_line *l2_line)
{
    if (!is_pow2(l2_line->holders))
        return;
    struct cache_array *l1 = holder_l1(c, chip, (unsigned)__builtin_ctz(l2_line->holders));
    struct cache_line *l = array_peek(l1, line_number(l2_line));
    l1_report(l, l2_line);
    *l = (struct cache_line){.key = line_key(line_number(l), LINE_SHARED),
                             .writer = l2_line->writer};
}

/* Enters the L2 line into an L1 that does not have it. */
static void l1_fill(struct cache *c, unsigned core, enum l1_kind kind, struct cache_line *l2_line,
                    enum line_state state)
{
    struct cache_array *l1 = kind == L1_CODE ? &c->l1i[core] : &c->l1d[core];
    struct cache_line line = {.key = line_key(line_number(l2_line), state),
                              .writer = l2_line->writer};
    struct cache_line victim;

    array_insert(l1, line, &victim);
    l2_line->holders |= holder_bit(c, core, kind);
    if (victim.key != LINE_INVALID) {
        struct cache_line *below = array_peek(&c->l2[chip_of(c, core)], line_number(&victim));
        l1_report(&victim, below);
        below->holders &= ~holder_bit(c, core, kind);
    }
}

static uint8_t *lines_counted(const struct cache *c, unsigned chip, uint64_t number)
{
    return &c->lines_on_chip[number & (c->buckets - 1)][chip];
}

static void chip_has_gained(struct cache *c, unsigned chip, uint64_t number)
{
    uint8_t *count = lines_counted(c, chip, number);
    *count += *count < UINT8_MAX;
}

static void chip_has_lost(struct cache *c, unsigned chip, uint64_t number)
{
    uint8_t *count = lines_counted(c, chip, number);
    *count -= *count < UINT8_MAX;
}

/* Enters a line into an L2 of a chip that does not have it. The L2's victim goes to the L3. */
static struct cache_line *l2_fill(struct cache *c, unsigned chip, struct cache_line line)
{
    struct cache_line victim;
    struct cache_line *entered = array_insert(&c->l2[chip], line, &victim);

    if (victim.key != LINE_INVALID) {
        l1_drop(c, chip, &victim, 0);
        if (c->l3[chip].ways)
            array_insert(&c->l3[chip], victim, &victim);
        if (victim.key != LINE_INVALID)
            chip_has_lost(c, chip, line_number(&victim));
    }
    return entered;
}

/* Returns the line in the chip's L2, after moving it there from the L3 if necessary, or NULL. */
static struct cache_line *chip_find(struct cache *c, unsigned chip, uint64_t number,
                                    enum cache_source *source)
{
    struct cache_line *l = array_touch(&c->l2[chip], number);
    *source = CACHE_LOCAL_L2;
    if (l)
        return l;

    *source = CACHE_LOCAL_L3;
    l = array_peek(&c->l3[chip], number);
    if (!l)
        return NULL;
    struct cache_line line = *l;
    array_remove(&c->l3[chip], l);
    return l2_fill(c, chip, line);
}

/*
 * Makes the line shared in the other chips, or invalid if the asking chip wants it exclusively.
 * Returns the source that serves it, or NO_SOURCE if no other chip has it. *from: the line as the
 * serving chip had it.
 */
static enum cache_source snoop(struct cache *c, unsigned asking, uint64_t number, bool exclusively,
                               struct cache_line *from)
{
    enum cache_source source = NO_SOURCE;

    for (unsigned chip = 0; chip < c->topology->chips; chip++) {
        if (chip == asking || *lines_counted(c, chip, number) == 0)
            continue;
        struct cache_array *array = &c->l2[chip];
        struct cache_line *l = array_peek(array, number);
        if (l) {
            source = CACHE_REMOTE_L2;
            if (exclusively)
                l1_drop(c, chip, l, 0);
            else
                l1_share(c, chip, l);
        } else {
            array = &c->l3[chip];
            l = array_peek(array, number);
            if (!l)
                continue;
            if (source == NO_SOURCE)
                source = CACHE_REMOTE_L3;
        }
        *from = *l;
        if (exclusively) {
            array_remove(array, l);
            chip_has_lost(c, chip, number);
        } else {
            l->key = line_key(number, LINE_SHARED);
        }
    }
    return source;
}

static enum cache_source memory_of(const struct cache *c, unsigned chip, uint64_t number)
{
    bool local = topology_home(c->topology, number << c->line_shift) == chip;
    return local ? CACHE_LOCAL_MEMORY : CACHE_REMOTE_MEMORY;
}

/* Enters the line into the chip's L2, from another chip or from memory. */
static struct cache_line *chip_fetch(struct cache *c, unsigned chip, uint64_t number,
                                     bool exclusively, enum cache_source *source,
                                     struct cache_line *from)
{
    enum line_state state = exclusively ? LINE_EXCLUSIVE : LINE_SHARED;

    *from = (struct cache_line){.key = line_key(number, LINE_EXCLUSIVE), .writer = CACHE_NO_WRITER};
    *source = snoop(c, chip, number, exclusively, from);
    if (*source == NO_SOURCE) {
        *source = memory_of(c, chip, number);
        state = LINE_EXCLUSIVE;
    }
    chip_has_gained(c, chip, number);
    return l2_fill(c, chip,
                   (struct cache_line){.key = line_key(number, state), .writer = from->writer});
}

static struct cache_result served(const struct cache *c, enum cache_source source,
                                  const struct cache_line *from)
{
    return (struct cache_result){
        .source = (uint8_t)source,
        .modified = line_state(from) == LINE_MODIFIED,
        .latency = c->topology->latency[source],
        .writer = from->writer,
    };
}

static struct cache_result read_slow(struct cache *c, unsigned core, enum l1_kind kind,
                                     uint64_t number)
{
    unsigned chip = chip_of(c, core);
    enum cache_source source;
    struct cache_line from;
    struct cache_line *l = chip_find(c, chip, number, &source);

    if (l) {
        l1_share(c, chip, l);
        from = *l;
    } else {
        l = chip_fetch(c, chip, number, false, &source, &from);
    }
    bool own = kind == L1_DATA && l->holders == 0 && line_state(l) != LINE_SHARED;
    l1_fill(c, core, kind, l, own ? LINE_EXCLUSIVE : LINE_SHARED);
    return served(c, source, &from);
}

struct cache_result cache_load_slow(struct cache *c, unsigned core, uint64_t number)
{
    if (array_touch(&c->l1d[core], number))
        return (struct cache_result){.source = CACHE_L1};
    return read_slow(c, core, L1_DATA, number);
}

struct cache_result cache_fetch_slow(struct cache *c, unsigned core, uint64_t number)
{
    if (array_touch(&c->l1i[core], number))
        return (struct cache_result){.source = CACHE_L1};
    return read_slow(c, core, L1_CODE, number);
}

struct cache_result cache_store_slow(struct cache *c, unsigned core, uint64_t number,
                                     uint32_t writer)
{
    unsigned chip = chip_of(c, core);
    uint32_t own_bit = holder_bit(c, core, L1_DATA);
    struct cache_line *mine = array_touch(&c->l1d[core], number);
    struct cache_line modified = {.key = line_key(number, LINE_MODIFIED), .writer = writer};

    if (mine && line_state(mine) != LINE_SHARED) {
        *mine = modified;
        return (struct cache_result){.source = CACHE_L1};
    }

    enum cache_source source;
    bool upgrade = false;
    struct cache_line from;
    struct cache_line *l = chip_find(c, chip, number, &source);
    if (l) {
        l1_drop(c, chip, l, own_bit);
        from = *l;
        upgrade = line_state(l) == LINE_SHARED;
    } else {
        l = chip_fetch(c, chip, number, true, &source, &from);
    }
    if (upgrade) {
        enum cache_source other = snoop(c, chip, number, true, &from);
        source = other == NO_SOURCE ? source : other;
    }

    struct cache_result result = served(c, source, &from);
    result.upgrade = upgrade;
    l->key = modified.key;
    l->writer = writer;
    if (mine)
        *mine = modified;
    else
        l1_fill(c, core, L1_DATA, l, LINE_MODIFIED);
    return result;
}

void cache_discard(struct cache *c, paddr_t pa, uint64_t bytes)
{
    if (bytes == 0)
        return;
    uint64_t last = (pa + bytes - 1) >> c->line_shift;
    struct cache_line from;
    for (uint64_t number = pa >> c->line_shift; number <= last; number++)
        snoop(c, c->topology->chips, number, true, &from);
}

static void arrays_destroy(struct cache_array *arrays, unsigned count)
{
    for (unsigned i = 0; arrays && i < count; i++)
        array_free(&arrays[i]);
    free(arrays);
}

static struct cache_array *arrays_create(unsigned count, struct geometry g)
{
    struct cache_array *arrays = calloc(count, sizeof(*arrays));
    for (unsigned i = 0; arrays && i < count; i++) {
        if (array_init(&arrays[i], g) == 0)
            continue;
        arrays_destroy(arrays, i);
        arrays = NULL;
    }
    return arrays;
}

/* Returns a power of two above the number of lines a chip has, and at most twice that number. */
static uint64_t buckets_for(const struct topology *t)
{
    uint64_t lines = (uint64_t)t->l2.sets * t->l2.ways + (uint64_t)t->l3.sets * t->l3.ways;
    return (uint64_t)2 << log2_floor(lines);
}

struct cache *cache_create(const struct topology *t)
{
    unsigned cores = topology_cores(t);
    struct cache *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->topology = t;
    c->line_shift = log2_floor(t->line_bytes);
    c->l1d = arrays_create(cores, t->l1d);
    c->l1i = arrays_create(cores, t->l1i);
    c->l2 = arrays_create(t->chips, t->l2);
    c->l3 = arrays_create(t->chips, t->l3);
    c->buckets = buckets_for(t);
    c->lines_on_chip = calloc(c->buckets, sizeof(*c->lines_on_chip));
    if (c->l1d && c->l1i && c->l2 && c->l3 && c->lines_on_chip)
        return c;
    cache_destroy(c);
    return NULL;
}

void cache_destroy(struct cache *c)
{
    unsigned cores = topology_cores(c->topology);
    arrays_destroy(c->l1d, cores);
    arrays_destroy(c->l1i, cores);
    arrays_destroy(c->l2, c->topology->chips);
    arrays_destroy(c->l3, c->topology->chips);
    free(c->lines_on_chip);
    free(c);
}

void cache_reset(struct cache *c)
{
    for (unsigned core = 0; core < topology_cores(c->topology); core++) {
        array_clear(&c->l1d[core]);
        array_clear(&c->l1i[core]);
    }
    for (unsigned chip = 0; chip < c->topology->chips; chip++) {
        array_clear(&c->l2[chip]);
        array_clear(&c->l3[chip]);
    }
    memset(c->lines_on_chip, 0, c->buckets * sizeof(*c->lines_on_chip));
}
