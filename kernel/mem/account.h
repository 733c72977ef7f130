/*
 * Accounts for the kernel memory of a process: its threads' stacks, page tables, regions, sessions
 * of the counters, its pool's tables, its sockets and what they have sent. Each piece is charged
 * before it is allocated and uncharged when it is free again, on any thread. The sum is bounded
 * (mem.kernel), so that no process can take the memory that the system calls of others need.
 */
#pragma once
#include "kernel/lib/base.h"

struct memory_account {
    uint64_t used, limit; /* bytes; used: atomic */
    uint32_t refs;        /* atomic; 0: it is part of something else */
    uint32_t passed;      /* atomic: descriptors in messages that wait (kernel/net/socket) */
};

/* Boot argument mem.kernel: bytes for each process; 0: a part of memory. */
extern uint64_t mem_kernel;

/* Makes an account. Its limit is that of `like`, the account of the process that starts this one;
 * if NULL, mem.kernel. What outlives the process, as a socket that another one has, references it.
 * Returns NULL without memory. */
struct memory_account *memory_account_make(const struct memory_account *like);
struct memory_account *memory_account_get(struct memory_account *a);
void memory_account_put(struct memory_account *a); /* of NULL: nothing */
/* Charges `bytes`. Returns 0, or -EDQUOT if that exceeds the limit. Any context, as the next
 * two. */
int memory_charge(struct memory_account *a, uint64_t bytes);
void memory_uncharge(struct memory_account *a, uint64_t bytes);
/* Returns whether charging `bytes` would fail now. */
bool memory_account_full(const struct memory_account *a, uint64_t bytes);
