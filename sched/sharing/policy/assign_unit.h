/* What the parts of placement by sharing know of each other: assign.c chooses chips, assign_cores.c
 * CPUs within them. */
#pragma once
#include "sched/sharing/policy/assign.h"

enum assign_unit_kind { UNIT_CLUSTER, UNIT_SILENT, UNIT_SINGLE };

/* Threads that move together. */
struct assign_unit {
    enum assign_unit_kind kind;
    int key;       /* cluster, or last cluster of silent threads */
    int chip;      /* chosen for all of it, or ASSIGN_NONE */
    unsigned from; /* silent: the chip its threads are on */
    unsigned size;
    uint64_t load;
};

/* A CPU for every thread on the chip chosen for it, in p->chip_of; the units of p->order[units] in
 * that order. */
void assign_on_cpus(struct placement *p, const struct assign_input *in, unsigned units);
