/* Values of a session as columns of a record, whatever tool's. */
#pragma once
#include "kernel/proc/abi.h"

/* Adds a count or metric to the record that has begun: value, unit (of a metric), low and high (of
 * 95 %; of a count), sure, seen_pct, counted events in counted_in of of_length, fitted. A value
 * that was never counted is nothing. */
void record_value(const struct sys_hpm_value *v);
/* Returns why a metric has no value, in words. trouble: SYS_METRIC_. */
const char *value_trouble(uint32_t trouble);
