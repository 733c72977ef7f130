/*
 * Divides memory among pools, as the boot argument mem.goal says. The state is struct pool_share
 * (mm/pool.h), which says what guards each member.
 */
#pragma once
#include "kernel/lib/base.h"

struct pool;

/* Starts, if mem.goal asks for it, a thread that divides memory anew once an epoch among pools of
 * one process each. Called by paging_start. */
void divide_start(void);
