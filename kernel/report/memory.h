/* How memory is used, and what policies have decided since, as events: stream.c's thread records
 * them. */
#pragma once
#include "kernel/lib/base.h"

/* If they were asked for and it is time: pools of processes, policies and prefetching where they
 * have changed, the tracker. Sets when it is next, or UINT64_MAX. Thread context. */
void memory_record(uint64_t *next_ns);
