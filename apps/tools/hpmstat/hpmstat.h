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

enum { VALUES_MAX = 64 };
enum {
    FORMAT_TEXT,
    FORMAT_SERIES,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_LOG, /* and those that follow are logs */
    FORMAT_LOG_CSV,
    FORMAT_LOG_JSON
};

/* values.c: has the turns of the session's names printed with the first values. */
void values_tell_turns(int session);
/* Has the kernel look at automatic weights. Returns whether there are any; false before
 * values_tell_turns. */
bool values_weigh(int session);
/* Prints the values of a session, or keeps them for a series. Returns 0; -ESRCH: the process or
 * thread has ended; -ENOMEM. */
int values_take(const struct reading *r, unsigned format);
void values_print_series(void);
/* Begins a record, in csv or json, with the columns that say of what and when a reading is. */
void values_begin_record(unsigned format, const char *kind, const struct reading *r);

/* frequency.c: adds the value `frequency` behind the n values of a reading, where it is a total and
 * the frequency is known; there is room for one more. Returns the number of values. */
int frequency_add(const struct reading *r, struct sys_hpm_value *values, int n);

/* breakdown.c: starts counting where the machine's cycles go. Returns false if there are no
 * counters. */
bool breakdown_begin(void);
/* Prints where cycles went, or keeps it for a series. Returns 0; -ESRCH: the process or thread has
 * ended; -ENOMEM. */
int breakdown_take(const struct reading *r, unsigned format);
/* Prints a line for each reading that was kept. */
void breakdown_print_series(void);

/* cost.c: begins to look at what counting costs. */
void cost_begin(void);
/* Prints it, but for a series or a log, if the machine's cycles can be read: they may be hidden, or
 * not counted. */
void cost_print(unsigned format);

/* log.c: starts the log of a session. Returns 0 or an error of hpm_log(), with the reason in
 * `why`. */
int log_begin(int session, const struct sys_hpm_log *what, char *why, size_t size);
/* Takes the records that wait. To be called often enough that the CPUs have room for more. */
void log_take(void);
/* Prints all records as differences, with times since `began_ns` of CLOCK_MONOTONIC, and what they
 * and what none tells add up to, beside the final reading `what`. format: of a log. */
void log_print(const struct sys_hpm_read *what, uint64_t began_ns, unsigned format);

/* list.c: prints, not as a series, the events and metrics of this machine that have `word` in name
 * or description. Returns the exit status: 1 if there are none. */
int list_print(const char *word, unsigned format);
