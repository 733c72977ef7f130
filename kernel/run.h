/* Runs the applications of a boot, one after the other or side by side, as the command line
 * says. */
#pragma once
#include "kernel/core/cmdline.h"

/* Runs all commands. Returns the first exit status that is not 0, else 0. Thread context. */
unsigned run_commands(const struct cmdline *line);
