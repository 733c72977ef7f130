/* The breakdown's figures as events: which of a PMU's events counts each, if any. */
#pragma once
#include "hpm/policy/context.h"
#include "hpm/events/event.h"

/* The event of figure number e (EVENT_*) on this PMU. False: none that programmable counters
 * count. */
bool figure_event(const struct event_pmu *pmu, unsigned figure, struct event *out);
