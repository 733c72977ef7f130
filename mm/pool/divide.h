/*
 * Memory is divided among pools as the boot argument mem.goal says.
 */
#pragma once
#include "kernel/lib/base.h"

struct pool;

/* paging_start: a thread divides memory anew once an epoch, if that is asked for and
 * pools are of one process each. */
void divide_start(void);
