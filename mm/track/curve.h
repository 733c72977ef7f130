/* What the curves of watched spaces tell, for the division of memory. All calls, except
 * track_each_curve, are made while nothing is delivered. */
#pragma once
#include "mm/policy/curve/mrc.h"
#include "mm/space.h"

extern uint64_t mem_epoch_ms; /* length of a curve's epoch */

/* Returns the number of epochs of s, which has a curve, that have ended. If s is watched and
 * nothing was delivered for two epochs, one ends now: a program that does nothing misses
 * nothing. */
uint32_t track_curve_epochs(struct space *s);
/* Returns the misses that s, which has this curve, would have had in an epoch with `pages` pages,
 * scaled up if pages are sampled. */
uint64_t track_curve_misses(const struct space *s, enum mrc_policy policy, uint32_t pages);
/* Return the first uses of pages in the last epoch if they were most of its accesses, else 0; and
 * the number of pages that the curve knows. */
uint64_t track_curve_first_uses(const struct space *s);
uint64_t track_curve_pages(const struct space *s);
/* Tells whether the curve has seen the page in this epoch or the one before; and of how many pages
 * it sees one, as a power of two. */
bool track_curve_tells(const struct space *s, uint64_t page);
unsigned track_curve_shift(const struct space *s);
/* track.c: calls f for each space that has a curve, while nothing is delivered. f must not block.
 * Thread context, no lock held. */
void track_each_curve(void (*f)(struct space *s, void *arg), void *arg);
