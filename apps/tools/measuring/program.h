/* A program that is measured: it runs beside the caller, which sleeps and looks until the program
 * has ended; and a tool's command line. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include "apps/common/args.h"

struct program {
    int pid; /* 0: none was started */
    pthread_t waiter;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool ended; /* lock */
    int status; /* lock */
    struct timespec began;
};

/* Parses a tool's command line: its own arguments, then "--", then a program and its arguments.
 * Returns the program's index in argv, or argc if there is none. Exits as args_parse_or_exit. */
int program_parse_or_exit(const struct args_table *table, int argc, char **argv);
/* Starts the program argv[0], or none if `argc` is 0, and the clock of program_ms(). Says why and
 * exits with 2 if the program cannot be started. */
void program_begin_or_exit(struct program *p, const struct args_table *table, char *const *argv,
                           int argc);
/* Opens the file that the tool's report goes to; "": standard output, and NULL is returned. Before
 * the program is started. Refuses the argument `out` and exits with 2 if it cannot be opened. */
FILE *program_open_report_or_exit(const struct args_table *table, const char *path);
/* Makes `report`, if there is one, what the calling thread prints to, each line in one write. The
 * program, started before, goes on with the tool's standard output. */
void program_report_to(FILE *report);
/* Sleeps for `ms`, or until the program has ended. Returns false if it has ended. */
bool program_sleep(struct program *p, uint64_t ms);
/* Returns the ms since program_begin_or_exit(). */
double program_ms(const struct program *p);
/* Sleeps until the program has ended. Returns its exit status, 0 without a program. */
int program_end(struct program *p);

/* The tools' argument `out`. */
#define PROGRAM_OUT(at)                                                                           \
    {                                                                                             \
        "out", ARGS_TEXT, at, 0, 255, NULL,                                                       \
            "the file that the report goes to, such as /dev/kmsg: among the kernel's lines; not " \
            "given: "                                                                             \
            "standard output"                                                                     \
    }
