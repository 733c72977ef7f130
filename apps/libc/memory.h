/*
 * Named regions of memory, and what the kernel knows of memory. The name of a region is the name
 * that the kernel's memory policies, accounts of samples and messages use for it.
 */
#pragma once
#include <stddef.h>
#include "apps/libc/names.h"
#include "kernel/proc/abi.h"

/* Maps whole pages of zeroed memory under a name, which is cut to 15 characters. Returns NULL if
 * there is no memory. */
void *memory_map(const char *name, size_t bytes) VIGIL(memory_map);

/* Maps a disk's contents for reading, by the disk's name. A page is read from the disk when it is
 * touched. Sets `bytes` to the size. Returns NULL if there is no such disk, or if it is the swap
 * disk. */
const void *memory_map_disk(const char *name, size_t *bytes) VIGIL(memory_map_disk);

/* Unmaps a whole mapping. */
void memory_unmap(void *at, size_t bytes) VIGIL(memory_unmap);

/* Advises how whole pages will be used (MADV_, sys/mman.h). Returns 0, -EINVAL, or -ENOMEM
 * if not all of them are mapped. */
int memory_advise(void *at, size_t bytes, int advice) VIGIL(memory_advise);

/* Reads the memory figures of process `pid`, the caller's if 0, or of files, if SYS_MEMORY_FILES.
 * Those of a child that has ended are its last ones. Returns 0, -ESRCH, or -ENOENT if no file is in
 * memory. */
int memory_read(int pid, struct sys_memory *out) VIGIL(memory_read);

/* Reads the curve of misses of process `pid`, likewise: how often it would miss with more or less
 * memory, as the tracker sees it. Returns 0, -ESRCH, or -ENOENT if there is no curve. */
int memory_curve(int pid, struct sys_curve *out) VIGIL(memory_curve);

/* Lists the regions of process `pid` by address, up to `room` of them. Returns the number of
 * regions, or -ESRCH. */
int memory_regions(int pid, struct sys_memory_region *out, size_t room) VIGIL(memory_regions);

/* Describes what lies at an address of process `pid`, the caller's if 0, or of the kernel: memory
 * by region, code by function, file and line, a bundled program's variables as functions without
 * file. Of a child that has ended code and variables are known.
 * Returns 0, ESRCH or EFAULT. */
int symbol_of(int pid, uint64_t address, struct sys_symbol *out) VIGIL(symbol_of);
