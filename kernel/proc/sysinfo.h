/* What the machine is, as programs see it. */
#pragma once
#include "kernel/proc/abi.h"
#include "hpm/policy/breakdown.h"

void sysinfo_read(struct sys_info *out);
void sysinfo_breakdown(const struct hpm_breakdown *from, struct sys_breakdown *to);
