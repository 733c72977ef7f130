/* Which events contain which by definition, as data: no part of one can be more than it. */
#pragma once
#include "hpm/events/event.h"
#include "hpm/events/fit.h"

#define EVENT_NESTS_MAX 64

/*
 * The sets among these events of that PMU: a whole, and parts that have nothing in common. Of an
 * event in both modes those in one of them, and what the PMU's definitions say. A whole comes
 * before the sets that have its parts as wholes, as fit_events wants them. Returns how many there
 * are in out, at most EVENT_NESTS_MAX. Any context.
 */
unsigned event_nests(const struct event_pmu *pmu, const struct event *event, unsigned events,
                     struct fit_set out[EVENT_NESTS_MAX]);
