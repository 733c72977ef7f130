/*
 * The store buffer of one hardware thread. Stores leave it in order, each taking the time its line
 * needs to become writable. So the thread waits only when the buffer is full, or where it must be
 * empty: at a fence or an atomic operation.
 */
#pragma once
#include "kernel/lib/base.h"

#define STOREBUF_MAX 64 /* entries; a power of two */

struct storebuf {
    /* a ring: when each store leaves; never decreasing from oldest to newest */
    cycles_t done[STOREBUF_MAX];
    cycles_t last_done;  /* when the newest store leaves: the buffer is empty from then on */
    uint32_t head, tail; /* numbers of stores ever taken out and put in */
    uint32_t entries;
    uint32_t drain;
};

/* entries: 1 to STOREBUF_MAX; drain: the least cycles a store takes to leave. */
void storebuf_init(struct storebuf *s, unsigned entries, unsigned drain);

cycles_t storebuf_put_slow(struct storebuf *s, cycles_t now, cycles_t latency);

/* Issues a store now, with a line that takes `latency` cycles to get (0: L1 hit). Returns the
 * cycles the thread waits for a free entry. `now` must not go back by more than the calls
 * returned. */
static inline cycles_t storebuf_put(struct storebuf *s, cycles_t now, cycles_t latency)
{
    /* An L1 hit with no store before it leaves while the next instruction executes. */
    if (__builtin_expect(latency == 0 && s->last_done <= now, 1))
        return 0;
    return storebuf_put_slow(s, now, latency);
}

/* Returns the cycles until the buffer is empty, for a fence. */
static inline cycles_t storebuf_drain(const struct storebuf *s, cycles_t now)
{
    return s->last_done > now ? s->last_done - now : 0;
}
