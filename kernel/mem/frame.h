/* What the files of mm know of frames beyond mm.h: the descriptor of each page, and the allocator's
 * self-check. */
#pragma once
#include "kernel/mem/buddy.h"

struct page *frame_page(paddr_t pa);
paddr_t frame_address(const struct page *page);
struct page *frame_page_number(uint32_t number);
uint32_t frame_number(const struct page *page);
/* Panic on a broken invariant. Any context; slow: milliseconds with interrupts off. */
void frame_check(void);
/* The same of each block by itself, interrupts on in between; and of each size of objects. */
void frame_check_blocks(void);
void heap_check(void);
