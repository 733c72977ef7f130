/* What the memory subsystem knows of frames beyond mem.h: page descriptors, and self-checks. */
#pragma once
#include "kernel/mem/buddy.h"

struct page *frame_page(paddr_t pa);
paddr_t frame_address(const struct page *page);
struct page *frame_page_number(uint32_t number);
uint32_t frame_number(const struct page *page);
/* Panics on a broken invariant. Any context; slow: milliseconds with interrupts off. */
void frame_check(void);
/* Checks each block by itself, and each size of heap objects, with interrupts on in between. */
void frame_check_blocks(void);
void heap_check(void);
