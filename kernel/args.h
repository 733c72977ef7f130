/* The boot arguments of the start itself, and the tables of all subsystems. */
#pragma once
#include "kernel/core/cmdline.h"

#define MEM_UNLIMITED (4 * GIB) /* mem_limit: use all memory */

extern uint64_t cpus_wanted, mem_limit, console_wanted;
extern const struct arg *const arg_tables[]; /* NULL-terminated */
