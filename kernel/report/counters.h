/* Where cycles went, as events: stream.c's thread records them. */
#pragma once
#include "kernel/lib/base.h"

/* If they were asked for and it is time: what each CPU and each process has had since boot. Sets
 * when it is next, or UINT64_MAX. Thread context. */
void counters_record(uint64_t *next_ns);
