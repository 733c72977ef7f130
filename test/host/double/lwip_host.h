/*
 * Where lwIP runs in tests on the host: memory that is counted, time that tests move, random
 * numbers from a seed.
 */
#pragma once
#include "lwip/pbuf.h"
#include "lwip/sys.h"
#include "kernel/lib/base.h"

extern uint32_t lwip_sys_now; /* what sys_now() returns */
extern uint64_t lwip_seed;    /* of lwip_random(), not 0 */
extern unsigned lwip_objects; /* that lwIP has allocated and not freed */
extern unsigned lwip_fail_at; /* that many allocations from now one fails; 0: none */
/* Bytes that it has, the most it had, and what it may have; without buffers of lwip_received(). */
extern size_t lwip_bytes, lwip_bytes_max, lwip_limit;

/* Initializes lwIP, once in a process. */
void lwip_host_start(void);
/* Lets `ms` ms pass, in steps of `step` ms, with timers and loopback. */
void lwip_pass(uint32_t ms, uint32_t step);
/* Ends all connections and listeners without a word, and lets timers run out. */
void lwip_end_all(void);
/* Returns a buffer with a copy of these bytes, in memory of that size: the sanitizer sees an access
 * beyond its end. It is freed as lwIP frees it; it counts in lwip_objects. */
struct pbuf *lwip_received(const void *bytes, size_t n);
