/*
 * Dumps: the program's registers and the top of its stack as a sample was taken, for those who find
 * the callers afterwards, as perf does by DWARF. The interrupt that takes the sample copies them,
 * as far as the stack is in memory.
 */
#pragma once
#include "hpm/sampling.h"

struct arch_frame;
struct dump_ring;

/* Makes an empty ring of a CPU, for dumps of up to `stack_bytes` bytes of stack. Returns 0 or
 * -ENOMEM. Thread context. */
int dumps_make(struct dump_ring **out, uint32_t stack_bytes);
void dumps_free(struct dump_ring *r); /* NULL: does nothing */
/* Dumps what the program has in `frame`. Returns the dump's number, from 1; 0: the ring is full.
 * This CPU, interrupts off. */
uint64_t dump_here(struct dump_ring *r, const struct arch_frame *frame);
/* For the consumer, one at a time: the dump of this number; and that it, and those before, are
 * used no more. */
const struct hpm_dump *dump_at(const struct dump_ring *r, uint64_t number);
void dump_taken(struct dump_ring *r, uint64_t number);
