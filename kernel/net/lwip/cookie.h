/*
 * SYN cookies (Bernstein 1996; RFC 4987, 3.6): the first number of an answer to a SYN says what the
 * SYN said, so that nothing is kept until the answer is acknowledged. Pure.
 *
 * A cookie is, from its highest bit: five bits of the time, in units of 65 s; three that choose the
 * length of segments; 24 of a keyed hash of both ends, the peer's first number, the time and the
 * length. It is good for one to two units.
 */
#pragma once
#include "kernel/lib/siphash.h"
#include "kernel/net/lwip/demux.h"

/* Returns the cookie for a SYN from `e`, whose number is `first` and which takes segments of
 * `segment` bytes, at `ms`. */
uint32_t cookie_make(const struct siphash_key *k, const struct demux_ends *e, uint32_t first,
                     uint32_t segment, uint32_t ms);
/* Returns the length of segments for what acknowledges a cookie, at most what the SYN said; 0: it
 * is none, or an old one. */
uint16_t cookie_check(const struct siphash_key *k, const struct demux_ends *e, uint32_t first,
                      uint32_t cookie, uint32_t ms);
