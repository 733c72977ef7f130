/*
 * Programs that are started by requests, one at a time: their output, which goes to the console
 * unless watchd is quiet, and how they have ended. The latest PROGRAMS_KEPT are remembered.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "apps/tools/watchd/text.h"

enum { PROGRAMS_KEPT = 8 };

/* Takes the console as its own, before any program is started. quiet: output does not go there. */
void programs_begin(bool quiet);
/* Starts a program. words: its name and arguments, on lines of their own or, if there is one line,
 * separated by blanks; assignments of boot arguments may stand in front, and hold from now on.
 * Returns the number of the run, or an error with the reason in `why`; -EBUSY: one runs. Changes
 * `words`. */
int programs_start(char *words, char *why, size_t size);
/* Ends a process; 0: the one that was started here. Returns 0, or an error with the reason in
 * `why`. */
int programs_stop(uint32_t pid, char *why, size_t size);
/* Writes the latest run as an object, or null: none was started. */
void programs_show(struct text *t);
/* Writes all runs that are remembered, as an array. */
void programs_list(struct text *t);
/* Write the output of a run from a byte on, and its RESULT lines. Number 0: the latest. Return
 * false if it is not remembered. */
bool programs_output(struct text *t, uint32_t number, uint64_t from);
bool programs_results(struct text *t, uint32_t number);
