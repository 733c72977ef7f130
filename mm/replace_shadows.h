/*
 * Experts' shadows: what each policy would have resident, and miss, of a sample of the pages in a memory as much smaller
 * (miniature simulation, Waldspurger 2017).  One node of each 2^shift that follow each other is drawn; as nodes are numbered by
 * first use, the draws are spread over the program's pages.  Internal to mm/replace_*.c.
 */
#pragma once
#include "mm/replace_list.h"

enum {
    SHADOWS_MAX = 8,
    SHADOWS_PAGES_MIN = 1024, /* fewest nodes to sample, where there are as many */
    SHADOWS_SHIFT_MAX = 6,
};

struct shadows {
    uint32_t nodes, frames; /* of the real memory */
    uint32_t shift, small;  /* small: frames of each shadow */
    uint32_t experts;
    uint32_t resident[SHADOWS_MAX];
    uint32_t spare;
    uint64_t seed;
};

/* memory: shadows_bytes(), aligned to 8; the struct may be elsewhere.  expert: NULL-terminated, at most SHADOWS_MAX. */
size_t shadows_bytes(const struct replace_ops *const *expert, uint32_t nodes);
void shadows_init(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t nodes,
                  uint32_t frames, uint64_t seed);
/* The memory was moved to where it now is.  True: the sample is another, and the shadows are empty. */
bool shadows_grow(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t nodes);
/* A use of a sampled page.  Returns the experts that miss, a bit each. */
uint32_t shadows_use(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t node);
void shadows_forget(struct shadows *s, void *memory, const struct replace_ops *const *expert, uint32_t node);
void shadows_resize(struct shadows *s, void *memory, const struct replace_ops *const *expert,
                    uint32_t frames);
/* Whether the expert would have a sampled page resident. */
bool shadows_resident(const struct shadows *s, const void *memory, const struct replace_ops *const *expert,
                      uint32_t i, uint32_t node);
const char *shadows_check(const struct shadows *s, const void *memory,
                          const struct replace_ops *const *expert);

/* The node of a run that is drawn, counted from its first. */
static inline uint32_t shadows_drawn(const struct shadows *s, uint32_t node)
{
    uint64_t drawn =
        ((node >> s->shift) + s->seed + 1) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */

    return drawn >> 40 & ((1u << s->shift) - 1);
}

static inline bool shadows_sampled(const struct shadows *s, uint32_t node)
{
    return shadows_drawn(s, node) == (node & ((1u << s->shift) - 1));
}
