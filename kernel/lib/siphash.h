/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of short inputs, for what others must
 * not be able to predict or to forge. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

struct siphash_key {
    uint64_t word[2];
};

/* Returns the hash of n words, which stand for bytes in little-endian order. */
uint64_t siphash(const struct siphash_key *k, const uint64_t *words, size_t n);
