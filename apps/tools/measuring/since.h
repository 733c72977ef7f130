/* Differences of breakdowns. */
#pragma once
#include "kernel/proc/abi.h"

/* Makes b the difference to the earlier reading `from` of the same object: figures are scaled by
 * the cycles counted since then, and fitted to each other. */
void breakdown_since(struct sys_breakdown *b, const struct sys_breakdown *from);
