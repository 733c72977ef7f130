/* The log of allocations that a program of Linux writes (allocations.c) and c2c reads: a file of
 * this head, then records, in the order in which memory was given. Little-endian. */
#pragma once
#include <stdint.h>

#define ALLOCATIONS_PATH  "/dev/shm/vigil.allocations"
#define ALLOCATIONS_MAGIC 0x31636f6c6c616776u /* "vgalloc1" */

struct allocations_head {
    uint64_t magic;
    uint64_t capacity; /* records that the file has room for */
    uint64_t count;    /* atomic: allocations so far, those without room included */
    uint64_t reserved[5];
};

struct allocations_record {
    uint64_t start, bytes;
    uint64_t site; /* where the call returns to */
    uint32_t pid;
    uint32_t whole; /* 1: the record is written */
};
