/* Limits of a process, as Linux's getrlimit(2) has them. */
#pragma once
#include "kernel/file/file.h"
#include <linux/resource.h>

struct process;

#define LIMIT_FILES_MAX ((uint64_t)FILES_LIMIT_MAX) /* RLIMIT_NOFILE's largest value */

/* Sets p's limits: its parent's, or of a first process the default ones. Before others know p. */
void limits_init(struct process *p, struct process *parent);
/* Returns a limit in force, UINT64_MAX: none. Takes p's lock; any context with locks of lower
 * ranks. */
uint64_t process_limit(struct process *p, unsigned resource);
