/* The loop of stores; loop.S of each architecture. */
#pragma once
#include <stdint.h>

enum { STORES = 8, STORE_LINE = 128 };

/*
 * Stores a word into each line from `from` to `to`, which are some times STORES lines apart, passes
 * times, at least one: eight instructions in turn, with a jump behind each, so that an interrupt
 * has to come between two of them where it comes between blocks of code only.
 */
void store_loop(char *from, const char *to, uint64_t passes);
/* Addresses of the eight, and of the loop's end. */
extern const uint64_t store_sites[STORES + 1];
