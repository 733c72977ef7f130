/* Disks as files of /dev. */
#pragma once
#include "kernel/fs/pseudo.h"
#include "kernel/fs/tree.h"

/* Adds the disks that there are to /dev. At boot, after block_start(). Panics without memory. */
void disk_fill(struct tree *dev);
/* Prints /proc/diskstats: requests and sectors of each disk. A struct pseudo_row's print. */
void disk_print(struct pseudo_text *t, const uint32_t *n);
