/*
 * One set-associative array of cache lines. The ways of a set are in order of recency, most recent
 * first. So replacement is exact LRU without clocks that could wrap, and the likeliest line is
 * looked at first. The meaning of a line's state and holders is in cache.c.
 *
 * Invariant: a set holds its valid lines first, each once, and then invalid ones.
 */
#pragma once
#include "test/machine/topology.h"

/* A line's key is its number (address / line size) with its MESI state. Physical addresses have at
 * most 52 bits, so no line has the number of LINE_INVALID. */
enum line_state { LINE_SHARED = 1, LINE_EXCLUSIVE = 2, LINE_MODIFIED = 3 };
#define LINE_INVALID UINT64_MAX

struct cache_line {
    uint64_t key;     /* number << 2 | enum line_state, or LINE_INVALID */
    uint32_t writer;  /* tag of the last store to the line */
    uint32_t holders; /* L2 only: the chip's L1s that hold the line, see cache.c */
};

struct cache_array {
    struct cache_line *lines;
    uint64_t set_mask;   /* sets - 1 if sets is a power of two, else 0 */
    uint64_t reciprocal; /* of sets, rounded up to 2^-64 */
    uint32_t sets;
    uint32_t ways;
    uint32_t way_shift; /* a set has 1 << way_shift lines of memory */
};

static inline uint64_t line_key(uint64_t number, enum line_state state)
{
    return number << 2 | (uint64_t)state;
}

static inline uint64_t line_number(const struct cache_line *l)
{
    return l->key >> 2;
}

static inline enum line_state line_state(const struct cache_line *l)
{
    return (enum line_state)(l->key & 3);
}

/*
 * Returns the set of a line: consecutive lines go to consecutive sets. The remainder of a division
 * by a constant of 32 bits takes two multiplications (Lemire, Kaser and Kurz, "Faster remainder by
 * direct computation", 2019). Lines beyond 2^32 are folded.
 */
static inline uint64_t array_set_index(const struct cache_array *a, uint64_t number)
{
    if (a->set_mask)
        return number & a->set_mask;
    uint64_t fraction = a->reciprocal * (uint32_t)(number ^ number >> 32);
    return (uint64_t)(((unsigned __int128)fraction * a->sets) >> 64);
}

static inline struct cache_line *array_set(const struct cache_array *a, uint64_t number)
{
    return a->lines + (array_set_index(a, number) << a->way_shift);
}

/* Returns 0 or -ENOMEM. */
int array_init(struct cache_array *a, struct geometry g);
void array_free(struct cache_array *a);
void array_clear(struct cache_array *a);

/* Returns the line, or NULL. Leaves recency alone. */
struct cache_line *array_peek(const struct cache_array *a, uint64_t number);

/* Returns the line, now the most recent of its set, or NULL. */
struct cache_line *array_touch(struct cache_array *a, uint64_t number);

/* Puts a line that is not in the array in front of its set. *victim: the line pushed out, or one
 * with key LINE_INVALID. */
struct cache_line *array_insert(struct cache_array *a, struct cache_line line,
                                struct cache_line *victim);

/* Removes a line found by array_peek() or array_touch(). Pointers into its set are invalid
 * afterwards. */
void array_remove(struct cache_array *a, struct cache_line *line);
