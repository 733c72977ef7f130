/* Call chains of samples: the kernel's part (hpm/policy/chain.h). */
#pragma once
#include "hpm/policy/chain.h"

struct arch_frame;

/* Allocates an empty table; by_frames: of chains whose programs' parts are made by tables of
 * frames. Returns 0 or -ENOMEM. Thread context. */
int chains_make(struct chain_table **out, bool by_frames);
void chains_free(struct chain_table *t); /* NULL: does nothing */
/* Adds the samples whose chain was cut short, and that had none for lack of room, to totals; NULL:
 * none. Any context. */
void chains_account(const struct chain_table *t, uint64_t *cut, uint64_t *full);
/* What describes a program's frames: the table of a bundled program's symbols, which stays in
 * memory, or the files that the process has mapped; NULL: none. Without either frame pointers serve
 * in its place. */
struct chain_code {
    const void *symbols;
    const struct chain_images *images;
};
/* Returns the number of the chain that leads to what `frame` interrupted, with the CPU's in front;
 * 0: there is no frame, or no room in the table. This CPU, interrupts off. */
uint32_t chain_here(struct chain_table *t, const struct arch_frame *frame,
                    const struct chain_code *code, unsigned cpu);
