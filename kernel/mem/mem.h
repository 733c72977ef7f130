/*
 * The kernel's own memory: frames, heap, stacks and areas, and the TLBs' copies of page tables.
 */
#pragma once
#include "kernel/arch/arch.h"
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

/* ---- Frames (frame.c): buddy allocator with per-CPU caches ---- */
#define FRAME_ORDER_MAX 10 /* 4 MB blocks */
/* usable memory below limit; info stays */
void frame_init(const struct boot_info *info, paddr_t limit);
void frame_init_rest(void); /* and the rest, once it is mapped */
/* Every run of memory that frames were made of, in order. Thread context or boot. */
void frame_each_run(void (*run)(paddr_t base, paddr_t end, void *arg), void *arg);
int frame_alloc(unsigned order, paddr_t *out); /* contents undefined; 0 or -ENOMEM; any context */
int frame_alloc_zeroed(paddr_t *out);          /* one page */
void frame_free(paddr_t pa, unsigned order);
struct frame_stats {
    uint64_t total_pages, free_pages;
};
void frame_stats(struct frame_stats *out);
extern const struct arch_frames frame_page_tables; /* for arch_space_init */

/* About so many are free. Any context, without a lock. */
uint64_t frame_free_about(void);

/* ---- Kernel heap (heap.c): size classes over frames ------------------------------------------ */
/* zeroed; NULL when out of memory; any context but interrupts */
void *kmalloc(size_t size);
void *kmalloc_unfilled(size_t size); /* the same, contents undefined */
void kfree(void *p);
/* A kernel stack of size bytes, at most 60 KB, with an unmapped page below it; returns its lowest
 * usable byte, NULL: no memory. kstack_free: interrupts on, no spinlock held, nobody uses the
 * stack. */
void *kstack_alloc(size_t size);
void kstack_free(void *stack, size_t size);
/* Boot, before the first: how deep stacks are used is to be known. */
void kstack_measure(void);
/* The most bytes that any stack has had in use, of the first CPU, of threads and of those that have
 * ended, interrupts included; *stacks: how many there are. Thread context. */
size_t kstack_deepest(unsigned *stacks);

/* An array of bytes zeroed, which need not be in a row in physical memory; NULL: no memory.
 * area_free: interrupts on, no spinlock held, as are both; NULL is fine. */
void *area_alloc(uint64_t bytes);
void area_free(void *p);
/* A larger area that is to take p's place, as long as all of p at least. It is to be freed, or
 * area_replace()d; p is used on until then. */
void *area_extend(void *p, uint64_t bytes);
/* What is in p now is in `larger`, with zeros behind it; p is only to be freed, and that before
 * `larger`.  Takes no time by their sizes; under locks that rank below LOCK_VMAP. */
void area_replace(void *p, void *larger);

/* ---- TLB shootdown (tlb.c) ------------------------------------------------------------------- */
/* Pages of space are gone or less permitted: every CPU forgets them before this returns, or before
 * it next runs in it. Interrupts on, no spinlock held. n == 0: everything. */
void tlb_shootdown(struct arch_space *space, vaddr_t va, size_t n);
void tlb_ipi(void); /* IPI_TLB */
