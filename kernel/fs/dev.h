/* The files of /dev that need nothing else of the kernel. */
#pragma once
#include "kernel/fs/tree.h"

/* Fills /dev. At boot. Panics without memory. */
void dev_fill(struct tree *dev);
