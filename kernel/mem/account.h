/*
 * Kernel memory that a process has taken: its threads' stacks, page tables, regions, sessions of
 * the counters, its pool's tables. Each piece is charged before it is allocated and uncharged when
 * it is free again, on any thread; the sum is bounded (mem.kernel), so that no process alone can
 * take the memory that the others' system calls need.
 */
#pragma once
#include "kernel/lib/base.h"

struct memory_account {
    uint64_t used, limit; /* bytes; used: atomic */
};

/* mem.kernel: bytes of a process; 0: a part of memory. */
extern uint64_t mem_kernel;

/* Its limit is as mem.kernel says now or, of a process that another one starts, that one's
 * account's (like). */
void memory_account_init(struct memory_account *a, const struct memory_account *like);
/* 0 or -EDQUOT: that would be more than its limit. Any context, as the next two. */
int memory_charge(struct memory_account *a, uint64_t bytes);
void memory_uncharge(struct memory_account *a, uint64_t bytes);
/* Returns whether memory_charge of that many bytes would fail now. */
bool memory_account_full(const struct memory_account *a, uint64_t bytes);
