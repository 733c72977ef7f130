/* What the files of c2c share. */
#pragma once
#include "apps/tools/c2c/lines.h"
#include "apps/tools/measuring/recording.h"

enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

struct c2c_report {
    const char *program;
    uint32_t pid;
    double ms;
    unsigned format;
    size_t lines, rows; /* shown at most, rows of each line */
    struct lines_found found;
    const struct lines *all;
    struct sys_sample_account account; /* of the accesses that other chips' caches served */
    uint64_t lost_near;
    uint64_t busy;         /* cycles of the machine that were not idle; 0: unknown */
    char cost[FIGURE_MAX]; /* in percent, or "unknown" */
    double cost_pct;       /* the same, or NAN */
    unsigned cpus, chips, chip_cpus, chip_cores; /* of the first chip */
    bool sites;         /* allocations are known (measuring/allocations.h) */
    double near_cycles; /* of an access that the own chip serves; 0: none were recorded */
};

/* Prints all of it. */
void c2c_show(const struct c2c_report *r);
