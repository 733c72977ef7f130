/*
 * Random bytes for programs: getrandom, AT_RANDOM, /dev/urandom. Each process has a stream of its
 * own, whose key is made of the boot's secret, the process's pid and the number of streams made
 * before; so two runs of the simulated machine draw the same bytes, whichever process draws first.
 * Boot argument `entropy`.
 *
 * Each request replaces the stream's key, so bytes drawn before cannot be computed from it (RFC
 * 8439's block function, used as in D. J. Bernstein's "Fast-key-erasure random-number generators").
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/lib/chacha20.h"

struct entropy_stream {
    struct spinlock lock;             /* rank LOCK_ENTROPY */
    uint32_t key[CHACHA20_KEY_WORDS]; /* lock: of the next request */
};

extern uint64_t entropy_wanted; /* boot argument `entropy`: a seed; 0: none was given */

/* Makes the secret that all streams come from: of the boot argument; else, if `repeat`, a constant;
 * else of the processor's generator, or without one of the clock's jitter, which is said in a line.
 * Boot CPU, once, after arch_init_irq(), before any stream. */
void entropy_start(bool repeat);
/* Initialises a stream for a process. Any context. */
void entropy_stream_init(struct entropy_stream *s, uint32_t pid);
/* Draws n random bytes; NULL: of the kernel's own stream. Holds the stream's lock for one block,
 * whatever n; the bytes are made after it. Any context that holds no lock of rank LOCK_ENTROPY or
 * higher. */
void entropy_bytes(struct entropy_stream *s, void *out, size_t n);
