/*
 * The log of allocations that programs write and c2c reads: a file of a head, then records in
 * blocks. A thread takes a block at a time and writes its records there, so that threads do not
 * contend for the lines of the log. Little-endian. Vigil's C library writes it, and for programs of
 * Linux a library that stands before their own (apps/sdk/allocations.c).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "apps/libc/names.h"

#define ALLOCATIONS_PATH  "/dev/shm/vigil.allocations"
#define ALLOCATIONS_MAGIC 0x32636f6c6c616776u /* "vgalloc2" */
/* Vigil's own programs look for the file if this is in their environment. */
#define ALLOCATIONS_ASK "VIGIL_ALLOCATIONS"

enum {
    ALLOCATIONS_BLOCK = 32, /* records */
    ALLOCATIONS_LINE = 128, /* bytes of a cache line, at most */
    ALLOCATIONS_GROUPS = 16 /* of threads, which count what had no room */
};

struct allocations_head {
    uint64_t magic;
    uint64_t capacity; /* records that the file has room for: blocks */
    uint64_t given;    /* atomic: records of the blocks that threads have taken, or wanted */
    uint64_t reserved[13];
    /* Atomic: allocations that had no room, on a line for each group of threads. */
    uint64_t left_out[ALLOCATIONS_GROUPS][ALLOCATIONS_LINE / sizeof(uint64_t)];
};

struct allocations_record {
    uint64_t start, bytes;
    uint64_t site; /* where the call returns to */
    uint64_t time; /* by a clock of the CPUs */
    uint32_t pid;
    uint32_t whole; /* 1: the record is written */
};

/* Opens the log if there is its file. Once, at the program's start. Without a file, or with a
 * broken one, nothing is noted. */
void allocation_log_begin(void) VIGIL(allocation_log_begin);
/* The process was forked, by the calling thread: its records are of the caller from now on. */
void allocation_log_forked(void) VIGIL(allocation_log_forked);
/* Atomic. NULL: nothing is logged. */
extern struct allocations_head *allocation_log VIGIL(allocation_log);
/* Notes that `bytes` at `at` were given to the code at `site`, if there is a log. Returns `at`; of
 * NULL nothing is noted. Any thread. */
void *allocation_note(void *at, size_t bytes, uint64_t site) VIGIL(allocation_note);
