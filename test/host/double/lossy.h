/*
 * Two ends of TCP, both of one lwIP, joined by a wire that loses packets, delivers them late,
 * twice, out of order and with a wrong bit, as a seed draws it. Streams of bytes go both ways.
 */
#pragma once
#include <stdint.h>

#define LOSSY_CONNECTIONS 4

/* What a run is like; all is drawn from a seed by lossy_draw(). */
struct lossy {
    uint64_t seed;
    unsigned connections;        /* 1 to LOSSY_CONNECTIONS */
    uint32_t bytes;              /* of the longest stream */
    unsigned loss, twice, wrong; /* of 1000 packets; of the lost ones at most three in a row */
    unsigned delay_ms, jitter_ms, mtu;
    unsigned refuse;          /* of 1000 deliveries to a program, those that it refuses */
    unsigned short_of_memory; /* of 1000 steps, those where an allocation will fail */
};

/* Draws a run. */
struct lossy lossy_draw(uint64_t seed);
/* Lets it go on until all connections have ended. Returns NULL, or what is wrong: a stream that is
 * not whole and in order, a connection that does not end, memory that is left. */
const char *lossy_run(const struct lossy *l);
