/* See block_faults.h. */
#include "block_faults.h"

/* The mixing function of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* Returns a random number for a request and a purpose, without state that CPUs would have to
 * share. */
static uint64_t draw_number(const struct block_faults *f, uint64_t serial, unsigned purpose)
{
    return mix(mix(f->seed + purpose * 0x9e3779b97f4a7c15) + (serial + 1) * 0x9e3779b97f4a7c15);
}

static bool one_of(const struct block_faults *f, uint64_t serial, unsigned purpose, uint64_t n)
{
    return n && draw_number(f, serial, purpose) % n == 0;
}

struct block_fate block_fate(const struct block_faults *f, uint64_t serial, bool write)
{
    enum { FAIL, LOSE, DELAY };

    return (struct block_fate){
        .fail = one_of(f, serial, FAIL, write ? f->fail_writes : f->fail_reads),
        .lose = one_of(f, serial, LOSE, f->lose),
        .delay_ns = draw_number(f, serial, DELAY) % (f->delay_us * NS_PER_US + 1),
    };
}
