/* Corrections of libpfm4's tables of Intel's events. pmu: the family's name, which is that of its
 * first PMU. */
#pragma once
#include "tools/events/source.h"

void intel_correct_event(const char *pmu, struct source_event *e);
/* Called before the part is one of e's. perf_metrics: Ice Lake and later. counters: all
 * programmable ones. */
void intel_correct_part(const char *pmu, bool perf_metrics, const struct source_event *e,
                        struct source_unit *u, uint32_t counters);
/* Returns why the event cannot have these counters, or NULL. */
const char *intel_trouble(uint64_t config, const struct event_limit *l);
/* halves: only the four fields of the first level. */
struct source_event intel_perf_metrics(bool halves, unsigned variants);
