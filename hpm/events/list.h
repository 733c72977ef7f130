/* Lists all that a PMU can count, by name: the generic names, the metrics, its vendor's events and
 * their parts. */
#pragma once
#include "hpm/events/event.h"

enum event_listed_kind { EVENT_LISTED_GENERIC, EVENT_LISTED_METRIC, EVENT_LISTED_VENDOR };
struct event_listed {
    enum event_listed_kind kind;
    char text[EVENT_TEXT_MAX];  /* for event_parse, or the name of a metric */
    const char *about;          /* of a generic name or metric; else "" */
    const char *unit;           /* of a metric; else "" */
    char means[EVENT_TEXT_MAX]; /* the vendor's event of a generic name; else "" */
    uint32_t counters;          /* programmable counters that can count the event */
    bool fixed;                 /* the event has a fixed counter */
};
/* Writes the next name behind *cursor to `out` and moves *cursor; 0 is before the first. Returns
 * false if there are no more. */
bool event_list(const struct event_pmu *pmu, uint32_t *cursor, struct event_listed *out);
