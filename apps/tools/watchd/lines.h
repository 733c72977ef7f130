/*
 * Cache lines that travel between chips, and the threads that use them: sampled accesses that
 * another chip's cache served. While the sharing detector has those samples (sched.policy=cluster)
 * its shMaps tell the same, and nothing is sampled here.
 */
#pragma once
#include "apps/tools/watchd/machine.h"
#include "apps/tools/watchd/text.h"

/* Takes the samples since the last call, and forgets old ones slowly. */
void lines_take(const struct machine *m);
/* Writes "lines":{...}: the most contended lines, and why there are none. */
void lines_show(struct text *t, const struct machine *m);
