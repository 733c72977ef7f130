/*
 * A table from 64-bit keys to what has them, several of one key included: a hash table with chains
 * of keys, each with a ring of its nodes. Nodes are parts of what they stand for, so that putting
 * never fails; the table grows by memory that its owner gives. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

struct demux_node {
    struct demux_node *next;           /* another key of the bucket; of a ring's first only */
    struct demux_node *after, *before; /* of the same key: a ring; NULL: in no table */
    uint64_t key;
};

#define DEMUX_BITS_MIN 6

struct demux {
    struct demux_node **buckets; /* 1 << bits */
    uint64_t factor;             /* odd: spreads keys */
    size_t keys;                 /* different ones in the table */
    unsigned bits;
};

/* Initialises a table with `1 << bits` buckets, which are NULL and become its own. `factor`: a
 * random number, so that none can choose keys for one bucket. */
void demux_init(struct demux *d, struct demux_node **buckets, unsigned bits, uint64_t factor);
/* Returns whether more buckets would help: twice as many. */
bool demux_is_full(const struct demux *d);
/* Moves all to twice as many buckets, which are NULL. Returns the old ones. */
struct demux_node **demux_grow(struct demux *d, struct demux_node **buckets);
/* Puts a node that is in no table. */
void demux_put(struct demux *d, struct demux_node *n, uint64_t key);
/* Takes a node out. */
void demux_drop(struct demux *d, struct demux_node *n);
/* Returns the first node of a key, or NULL; the one after another of its key, or NULL. */
struct demux_node *demux_first(const struct demux *d, uint64_t key);
struct demux_node *demux_after(const struct demux *d, const struct demux_node *n);

/* The two ends of a connection, in any order of bytes. */
struct demux_ends {
    uint32_t remote_ip, own_ip;
    uint16_t remote_port, own_port;
};
/* Secret random numbers by which ends become a key. */
struct demux_secret {
    uint64_t word[4];
};
/* Returns a key of ends: two different ones have the same with a chance of 2^-32 for who does not
 * know the secret (multilinear hashing; Lemire and Kaser, "Strongly universal string hashing is
 * fast", 2014). */
uint64_t demux_key(const struct demux_secret *s, const struct demux_ends *e);
/* Returns one of `n`, at least 1, by ends: as drawn at random, also for ends that count up (the
 * finaliser of MurmurHash3; Appleby, 2011; a product alone steps evenly and may leave one out). */
unsigned demux_choose(const struct demux_secret *s, const struct demux_ends *e, unsigned n);
