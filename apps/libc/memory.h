/*
 * Named regions of memory. What an array is called is what the kernel's memory policies, its
 * samples' accounts and its messages know it by.
 */
#pragma once
#include <stddef.h>
#include "apps/libc/names.h"
#include "kernel/proc/abi.h"

/* Zeroed memory in whole pages, under a name of up to 15 characters (a longer one is cut). NULL:
 * there is none. */
void *memory_map(const char *name, size_t bytes) VIGIL(memory_map);

/* A disk's contents by its name, to be read; what is touched is read from it. bytes: how much
 * there is. NULL: there is no such disk, or it is the one that is swapped to. */
const void *memory_map_disk(const char *name, size_t *bytes) VIGIL(memory_map_disk);

/* Gives it back, whole. */
void memory_unmap(void *at, size_t bytes) VIGIL(memory_unmap);

/* What is known of how it will be used, SYS_ADVICE_; whole pages. 0, or -EINVAL, -ENOMEM: not all
 * of it is mapped. */
int memory_advise(void *at, size_t bytes, int advice) VIGIL(memory_advise);

/* Memory of a process, 0: the own; one that was started here and has ended: as it was then. 0 or
 * -ESRCH. */
int memory_read(int pid, struct sys_memory *out) VIGIL(memory_read);

/* How often it would have missed with other memory, as trackers see it; the same. -ENOENT: nothing
 * is known. */
int memory_curve(int pid, struct sys_curve *out) VIGIL(memory_curve);

/* Its regions, by address: how many there are, the first room of them in out; -ESRCH. */
int memory_regions(int pid, struct sys_memory_region *out, size_t room) VIGIL(memory_regions);

/* Says what lies at an address of process `pid`, 0 being the caller's, or of the kernel: memory by
 * region, code by function, file and line. Of a child that has ended only its code is known.
 * Returns 0; ESRCH: no such process; EFAULT. */
int symbol_of(int pid, uint64_t address, struct sys_symbol *place) VIGIL(symbol_of);
