/* Which events contain others by definition, as data: no part can be more than its whole. */
#pragma once
#include "hpm/events/event.h"
#include "hpm/events/fit.h"

#define EVENT_NESTS_MAX 64

/* Finds the sets among these events of `pmu`: a whole, and parts that do not overlap. The parts of
 * an event in both modes are its counts in one mode; other sets are those of the PMU's definitions.
 * A whole comes before the sets that have its parts as wholes, as fit_events needs them. Returns
 * the number of sets in `out`, at most EVENT_NESTS_MAX. Any context. */
unsigned event_nests(const struct event_pmu *pmu, const struct event *event, unsigned events,
                     struct fit_set out[EVENT_NESTS_MAX]);
