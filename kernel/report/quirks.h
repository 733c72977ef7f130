/* What is peculiar about this machine and matters: a line for each, on the console. */
#pragma once

/* Thread context, all CPUs started. Each line begins with prefix. */
void quirks_print(const char *prefix);
