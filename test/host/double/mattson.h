/* Misses by memory size, exactly and naively: the oracle of miss-rate curves. */
#pragma once
#include <stdint.h>
#include "test/host/double/traces.h"

/* misses[M], M = 0..pages: accesses to pages used before that memory of M pages would not have
 * held. */
struct mattson {
    uint32_t pages;
    uint64_t cold;
    uint64_t *misses;
};

/* LRU: the depth of each access in a list of pages. */
struct mattson mattson_lru(const struct trace *t);
/* MRU: a memory of each size that is a multiple of step, run for itself; misses[] between them are
 * not set. */
struct mattson mattson_mru(const struct trace *t, uint32_t step);
void mattson_free(struct mattson *m);
