/* A replacement policy under random operations, beside a model of the resident pages. */
#pragma once
#include "mm/policy/replace/replace.h"

/* One operation that the mechanism may do; drawn by replace_random_step(). */
struct replace_random {
    const struct replace_ops *ops;
    void *state;
    uint8_t *resident; /* [room] the model */
    uint32_t nodes, room, frames, count;
    uint64_t random;
};

struct replace_random replace_random_start(const struct replace_ops *ops, uint32_t nodes,
                                           uint32_t room, uint32_t frames, const char *first,
                                           uint64_t seed);
/* Draws and does one operation, then compares with the model and checks the policy. */
void replace_random_step(struct replace_random *r);
void replace_random_end(struct replace_random *r);
