/* Programs on large arrays, run on the host: apps/common/spmd.h. */
#pragma once
#include "apps/common/spmd.h"

enum { PROGRAM_WORDS_MAX = 16 };

/* Begins the program with these arguments, blanks between them. What spmd_begin returns. */
int program_begin(struct spmd_run *run, const struct spmd_program *program, const char *arguments);
/* Runs it to the end of its check; spmd_end is due. */
void program_run(struct spmd_run *run, const struct spmd_program *program, const char *arguments);
