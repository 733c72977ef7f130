/* Shared by the files of hpmstat. */
#pragma once
#include <stdbool.h>
#include "apps/libc/hpm.h"

/* An object to read, and the time since hpmstat began. */
struct reading {
    const char *name, *title; /* name: of the program; title: keys of the line in a text */
    double from_ms, to_ms;
    bool total; /* from the beginning, else since the last reading of the object */
    struct sys_hpm_read what;
};

/* breakdown.c: starts counting where the machine's cycles go. Returns false if there are no
 * counters. */
bool breakdown_begin(void);
/* Prints where cycles went, or keeps it for a series. Returns 0; -ESRCH: the process or thread has
 * ended; -ENOMEM. */
int breakdown_take(const struct reading *r, bool keep);
/* Prints a line for each reading that was kept. */
void breakdown_print_series(void);

/* list.c: prints the events and metrics of this machine that have `word` in name or description.
 * Returns the exit status: 1 if there are none. */
int list_print(const char *word);
