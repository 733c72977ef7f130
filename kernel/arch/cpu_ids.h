/*
 * Finds the positions of CPUs from ids that consist of three fields, chip : core : thread. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

struct topology_bits {
    unsigned thread; /* width of the thread field */
    unsigned chip;   /* width of the thread and core fields */
};

struct topology_place {
    uint16_t chip, core, thread;
};

/* Numbers chips in the machine, cores in their chip and threads in their core, densely from 0 in
 * the order of their ids. */
void topology_place_all(struct topology_bits bits, const uint64_t *ids, size_t n,
                        struct topology_place *places);
