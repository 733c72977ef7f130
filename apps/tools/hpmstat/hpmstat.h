/* Between the files of hpmstat. */
#pragma once
#include <stdbool.h>
#include "apps/libc/hpm.h"

/* What is read, and of which time since hpmstat began. */
struct reading {
    const char *name, *title; /* of the program; of what is printed as text */
    double from_ms, to_ms;
    bool total; /* from the beginning, else since the last reading of the same */
    struct sys_hpm_read what;
};

/* breakdown.c: where the machine's cycles go counts from now on. false: there are no counters. */
bool breakdown_begin(void);
/* Prints where cycles went, or keeps it for a series. 0, or -ESRCH: the process or thread is no
 * more; -ENOMEM. */
int breakdown_take(const struct reading *r, bool keep);
/* A line for each that was kept. */
void breakdown_print_series(void);

/* list.c: prints what can be counted on this machine, of that what has the word in its name or
 * description. The exit status: 1 if it is nothing. */
int list_print(const char *word);
