/* The loop of stores, in loop.S of each architecture. */
#pragma once
#include <stdint.h>

enum { STORES = 8, STORE_LINE = 128 };

/*
 * Stores a word into each line from `from` to `to`, a multiple of STORES lines, `passes` times, at
 * least one. Eight stores run in turn, each followed by a jump, so that an interrupt can come
 * between two stores also where it comes only between blocks of code.
 */
void store_loop(char *from, const char *to, uint64_t passes);
/* Addresses of the eight stores, and of the loop's end. */
extern const uint64_t store_sites[STORES + 1];
