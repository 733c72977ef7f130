/* What curves of misses by memory say, of spaces that are watched: for those that divide memory. */
#pragma once
#include "mm/policy/curve/mrc.h"
#include "mm/space.h"

extern uint64_t mem_epoch_ms; /* of curves */

/* How many epochs of s, which has a curve, have ended. One in which nothing was delivered for as
 * long as two ends now, if somebody watches: who does nothing misses nothing. Not while it is
 * delivered. */
uint32_t track_curve_epochs(struct space *s);
/* How often s, which has this curve, would have missed in an epoch with so many pages; scaled up
 * where pages are sampled. Not while it is delivered. */
uint64_t track_curve_misses(const struct space *s, enum mrc_policy policy, uint32_t pages);
/* First uses of pages in the last epoch, if they were most of its accesses, else 0; and the pages
 * that the curve knows. Not while it is delivered. */
uint64_t track_curve_first_uses(const struct space *s);
uint64_t track_curve_pages(const struct space *s);
/* Has its curve seen the page in this epoch, or the one before? It knows one page of 2^shift. Not
 * while it is delivered. */
bool track_curve_tells(const struct space *s, uint64_t page);
unsigned track_curve_shift(const struct space *s);
/* track.c: calls f for each space that has a curve, while nothing is delivered. f must not sleep.
 * Thread context, no lock held. */
void track_each_curve(void (*f)(struct space *s, void *arg), void *arg);
