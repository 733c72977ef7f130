/* The applications of a boot: started as the command line says, one after the other or side by
 * side. */
#pragma once
#include "kernel/core/cmdline.h"

/* Runs all commands; returns the first exit status that is not 0, else 0. Thread context. */
unsigned run_commands(const struct cmdline *line);
