/*
 * A policy that makes memory become a given set: pages outside it, *strays*, go first, the least recently used before
 * others; of the set, the most recently used goes.  The chooser's way of being MRU or ARC, whose sets do not come about by
 * themselves in a memory that another policy has filled.  Internal to mm/replace_*.c.
 */
#pragma once
#include "mm/replace_list.h"

extern const struct replace_ops replace_follow; /* touch and enter: the page is in the set */

/* A resident page that is not, or no longer, in the set; it was used after every other stray. */
void follow_stray(void *state, uint32_t node);
/* Whether there are strays that have not been offered for this eviction. */
bool follow_strays(const void *state);
/* A resident page of the set that leaves it next: a stray that goes before others.  And one that stays, after all. */
void follow_first(void *state, uint32_t node);
void follow_member(void *state, uint32_t node);
