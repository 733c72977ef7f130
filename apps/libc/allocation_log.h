/*
 * The log of allocations that programs write and c2c reads: a file of a head, then records, in the
 * order in which memory was given. Little-endian. Vigil's C library writes it, and for programs of
 * Linux a library that stands before their own (apps/sdk/allocations.c).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "apps/libc/names.h"

#define ALLOCATIONS_PATH  "/dev/shm/vigil.allocations"
#define ALLOCATIONS_MAGIC 0x31636f6c6c616776u /* "vgalloc1" */
/* Vigil's own programs look for the file if this is in their environment. */
#define ALLOCATIONS_ASK "VIGIL_ALLOCATIONS"

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

/* Opens the log if there is its file. Once, at the program's start. Without a file, or with a
 * broken one, nothing is noted. */
void allocation_log_begin(void) VIGIL(allocation_log_begin);
/* The process was forked: records are of the caller from now on. */
void allocation_log_forked(void) VIGIL(allocation_log_forked);
/* Atomic. NULL: nothing is logged. */
extern struct allocations_head *allocation_log VIGIL(allocation_log);
/* Notes that `bytes` at `at` were given to the code at `site`, if there is a log. Returns `at`; of
 * NULL nothing is noted. Any thread. */
void *allocation_note(void *at, size_t bytes, uint64_t site) VIGIL(allocation_note);
