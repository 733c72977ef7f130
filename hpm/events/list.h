/* All that a PMU can count, by name, one after the other: the generic names, the metrics, its
 * vendor's events and their parts. */
#pragma once
#include "hpm/events/event.h"

enum event_listed_kind { EVENT_LISTED_GENERIC, EVENT_LISTED_METRIC, EVENT_LISTED_VENDOR };
struct event_listed {
    enum event_listed_kind kind;
    char text[EVENT_TEXT_MAX];  /* for event_parse, or a metric's name */
    const char *about;          /* of a generic name or metric; else "" */
    const char *unit;           /* of a metric; else "" */
    char means[EVENT_TEXT_MAX]; /* the vendor's event of a generic name; else "" */
    uint32_t counters;          /* of an event: programmable ones that can count it */
    bool fixed;                 /* of an event: it has a counter that counts only that */
};
/* The next one behind *cursor, which it moves on; 0: the first. False: there are no more. */
bool event_list(const struct event_pmu *pmu, uint32_t *cursor, struct event_listed *out);
