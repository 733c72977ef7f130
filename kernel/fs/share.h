/* A folder of the host in the tree, as the boot argument `share` asks for it. */
#pragma once
#include "kernel/core/cmdline.h"

extern const struct arg share_args[];

/* Mounts the folder that the argument names, if it names one. Thread context, at boot, after
 * fs_start(). Returns 0, or an error, and the reason was printed. */
int share_start(void);
/* Prints a line about a folder that is mounted. At the end of a run. */
void share_report(void);
