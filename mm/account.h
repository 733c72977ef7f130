/*
 * Kernel memory that a process has taken: its threads' stacks, page tables, regions, sessions of the counters.  Each piece is charged
 * before it is allocated and uncharged when it is free again, whoever frees it; what there may be of it at a time is bounded (mem.kernel),
 * so that no process alone can take what the others' system calls need.
 */
#pragma once
#include "kernel/base.h"

struct memory_account {
    uint64_t used, limit; /* bytes; used: atomic */
};

/* Its limit is as mem.kernel says now or, of a process that another one starts, that one's account's (like). */
void memory_account_init(struct memory_account *a, const struct memory_account *like);
/* 0 or -EDQUOT: that would be more than its limit.  Any context, as the next two. */
int memory_charge(struct memory_account *a, uint64_t bytes);
void memory_uncharge(struct memory_account *a, uint64_t bytes);
/* Could not so much be charged now? */
bool memory_account_full(const struct memory_account *a, uint64_t bytes);
