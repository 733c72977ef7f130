/* What the parts of placement by sharing know of each other: place.c chooses chips, place_core.c CPUs within them. */
#pragma once
#include "sched/sharing/policy/assign.h"

enum place_unit_kind { UNIT_CLUSTER, UNIT_SILENT, UNIT_SINGLE };

/* Threads that move together. */
struct place_unit {
    enum place_unit_kind kind;
    int key;       /* cluster, or last cluster of silent threads */
    int chip;      /* chosen for all of it, or PLACE_NONE        */
    unsigned from; /* silent: the chip its threads are on       */
    unsigned size;
    uint64_t load;
};

/* A CPU for every thread on the chip chosen for it, in p->chip_of; the units of p->order[units] in that order. */
void place_on_cpus(struct placement *p, const struct place_input *in, unsigned units);
