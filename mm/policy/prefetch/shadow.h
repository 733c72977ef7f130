/*
 * Pages that are waited for, up to a number of events: what was foretold of them, or when they left
 * memory. A table of sets of four; where a set is full the oldest goes, and nothing becomes
 * known of it.
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
    uint32_t hand; /* set to be looked at next for what has been waited for too long */
    struct shadow_mark mark[SHADOW_SETS][SHADOW_WAYS];
};

/* Waits for the page from now on, unless it does already. */
void shadow_put(struct shadow *s, struct shadow_mark mark);
/* It has come: the mark, which is no longer there. False: it was not waited for. */
bool shadow_take(struct shadow *s, uint32_t node, struct shadow_mark *out);
/* Takes out a mark that was waited for longer than `longest` events, at the count `now`. False: in
 * the next two sets there is none. */
bool shadow_expired(struct shadow *s, uint32_t now, uint32_t longest, struct shadow_mark *out);
