/*
 * The vDSO: a shared object that the kernel brings along and shows in every space, so that programs
 * read the clock without a system call. A space has, from VDSO_BASE on, its page of data
 * (vdso_data.h) and its code; all spaces have the same frames.
 */
#pragma once
#include "kernel/arch/arch.h"

struct space; /* mm/mm.h */

#define VDSO_BASE      SHOWN_VDSO
#define VDSO_EHDR      (VDSO_BASE + PAGE_SIZE) /* where its ELF header is: AT_SYSINFO_EHDR */
#define VDSO_PAGES_MAX 4                       /* of code */

/* Makes the frames; date_ns: CLOCK_REALTIME where arch_clock_ns() is 0. At boot, once, before the
 * first process, with an allocator of frames. Panics without memory. */
void vdso_init(uint64_t date_ns);
/* Shows the vDSO in a space that has none yet. The end of the space ends it. Thread context, no
 * lock held. Returns 0, or an error of space_show(). */
int vdso_map(struct space *s);
/* Returns the address of a function in all spaces, or 0 if there is none of this name. Any context,
 * after vdso_init(). */
vaddr_t vdso_function(const char *name);
/* Returns the name of the function that an address of the code belongs to, and the offset in it, or
 * NULL. Any context, after vdso_init(). */
const char *vdso_function_at(vaddr_t va, uint64_t *offset);
