/* See fs_kernel.c. */
#pragma once
#include "kernel/lib/base.h"

extern uint64_t fs_allocations_left; /* then there is no memory */
extern uint64_t fs_allocated;        /* pieces that are not freed */
extern unsigned fs_locks_held;
