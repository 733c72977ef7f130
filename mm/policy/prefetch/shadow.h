/*
 * Pages that are waited for, up to a number of events: pages that were predicted, or that left
 * memory. A table of sets of four; where a set is full the oldest mark is dropped, and its outcome
 * stays unknown.
 */
#pragma once
#include "mm/policy/prefetch/prefetch.h"

enum { SHADOW_SETS = 256, SHADOW_WAYS = 4, SHADOW_FOR_MAX = 1 << 15 };

struct shadow_mark {
    uint64_t node : LRUSTACK_NODE_BITS;
    uint64_t since  : 16; /* events, modulo */
    uint64_t region : 6;
    uint64_t rank   : 4;
    uint64_t live   : 1;
};

struct shadow {
    uint32_t hand; /* the next set that shadow_expired() looks at */
    struct shadow_mark mark[SHADOW_SETS][SHADOW_WAYS];
};

/* Begins to wait for the page, unless it is waited for already. */
void shadow_put(struct shadow *s, struct shadow_mark mark);
/* Ends the wait for a page that came, and returns its mark in *out. Returns false if it was not
 * waited for. */
bool shadow_take(struct shadow *s, uint32_t node, struct shadow_mark *out);
/* Removes a mark that was waited for longer than `longest` events at event `now`. Returns false if
 * there is none in the next two sets. */
bool shadow_expired(struct shadow *s, uint32_t now, uint32_t longest, struct shadow_mark *out);
