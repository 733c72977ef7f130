/* The balanced tree of regions, for region.c. Neither checks for overlaps. */
#pragma once
#include "mm/policy/region/region.h"

void tree_insert(struct regions *r, struct region *x);
void tree_remove(struct regions *r, struct region *x);
/* Called after x's edges have moved. */
void tree_moved(struct regions *r, struct region *x);
/* Panics on a broken invariant. Returns the number of nodes. */
uint32_t tree_check(const struct regions *r);
