/*
 * The kernel's own memory: frames, heap, stacks and areas; TLB shootdown.
 */
#pragma once
#include "kernel/arch/arch.h"
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

/* ---- Frames (frame.c): buddy allocator with per-CPU caches ----------------------------------- */
#define FRAME_ORDER_MAX 10 /* 4 MB blocks */
/* Adds the usable memory below `limit`; `info` must stay valid. */
void frame_init(const struct boot_info *info, paddr_t limit);
void frame_init_rest(void); /* adds the rest, once it is mapped */
/* Calls `run` for every run of memory that frames were made of, in order. Thread context or
 * boot. */
void frame_each_run(void (*run)(paddr_t base, paddr_t end, void *arg), void *arg);
/* contents undefined; returns 0 or -ENOMEM; any context */
int frame_alloc(unsigned order, paddr_t *out);
int frame_alloc_zeroed(paddr_t *out); /* allocates one page */
void frame_free(paddr_t pa, unsigned order);
struct frame_stats {
    uint64_t total_pages, free_pages;
};
void frame_stats(struct frame_stats *out);
extern const struct arch_frames frame_page_tables; /* for arch_space_init */

/* Returns approximately the number of free frames. Any context, without a lock. */
uint64_t frame_free_about(void);

/* ---- Kernel heap (heap.c): size classes over frames ------------------------------------------ */
/* Returns zeroed memory, or NULL without memory. Any context but interrupts. */
void *kmalloc(size_t size);
void *kmalloc_unfilled(size_t size); /* the same, contents undefined */
void kfree(void *p);
/* Allocates a kernel stack of `size` bytes, at most 60 KB, with an unmapped page below it. Returns
 * its lowest usable byte, or NULL without memory. kstack_free(): the stack is no longer used;
 * interrupts on, no spinlock held. */
void *kstack_alloc(size_t size);
void kstack_free(void *stack, size_t size);
/* Starts measuring how deep stacks are used. At boot, before the first stack. */
void kstack_measure(void);
/* Returns the largest number of bytes that any stack has had in use, interrupts included: of the
 * first CPU, of threads and of ended threads. *stacks: the number of present stacks. Thread
 * context. */
size_t kstack_deepest(unsigned *stacks);

/* Allocates a zeroed array, which need not be contiguous in physical memory. Returns NULL without
 * memory. area_free() accepts NULL. Interrupts on, no spinlock held, for both. */
void *area_alloc(uint64_t bytes);
void area_free(void *p);
/* Makes a larger area that is to replace `p` and is at least as long. Then area_replace() or free
 * it; `p` is used until then. */
void *area_extend(void *p, uint64_t bytes);
/* Replaces `p` by `larger`, which has its contents, and zeros behind them. `p` must only be freed,
 * and before `larger`. Takes constant time. Any context with locks of ranks below LOCK_VMAP
 * only. */
void area_replace(void *p, void *larger);

/* ---- TLB shootdown (tlb.c) ------------------------------------------------------------------- */
/* Called after pages of `space` were unmapped or their permissions reduced: every CPU forgets them
 * before this returns, or before it next runs in the space. n == 0: everything. Interrupts on, no
 * spinlock held. */
void tlb_shootdown(struct arch_space *space, vaddr_t va, size_t n);
void tlb_ipi(void); /* handles IPI_TLB */
