/* Bodies that attract one another; see barnes.c. */
#pragma once
#include "apps/workloads/barnes/tree.h"

struct barnes {
    uint64_t bodies, steps, opening; /* bodies; steps of a round; opening, in percent */
    struct tree tree;
};

extern const struct spmd_program barnes_program;
extern struct barnes barnes_state;
