/* The program that a reader starts: one at a time. */
#pragma once
#include <stdint.h>
#include "apps/tools/watchd/text.h"

/* Starts a program of the bundle. words: its name and arguments, separated by blanks; assignments
 * of boot arguments may stand in front, and hold from now on. Returns its pid, or an error with the
 * reason in `why`; -EBUSY: one runs. Changes `words`. */
int programs_start(char *words, char *why, size_t size);
/* Ends it. Returns 0, or -ESRCH: none runs. */
int programs_stop(void);
/* Writes {"pid":...,"running":...,"status":...,"command":...}, or null: none was started. */
void programs_show(struct text *t);
