/* Where programs of Linux have allocated memory, as apps/sdk/allocations.c logs it for programs
 * that it is loaded into. One thread at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct allocation {
    uint64_t start, bytes;
    uint64_t site; /* where the call returns to */
};

/* Makes the log's file, before the program starts, with room for `capacity` allocations. Returns
 * whether it could be made: errno. */
bool allocations_begin(uint64_t capacity);
/* Reads the log, and removes the file. Returns whether there is one that can be read. */
bool allocations_read(void);
/* Finds the allocations of a process in [start, end), in the order of addresses: of those that had
 * the same memory one after the other the last. Stores up to `room`; returns their number. */
size_t allocations_in(uint32_t pid, uint64_t start, uint64_t end, struct allocation *out,
                      size_t room);
/* Allocations in all, and those that the log had no room for. */
uint64_t allocations_count(void), allocations_left_out(void);
void allocations_end(void);
