/*
 * A request: events and metrics asked for by name, to be packed into groups (hpm/events/group.h).
 * Use:
 *
 *     event_request_init(&r, &pmu);
 *     event_request_add(&r, "ipc", err, sizeof err);
 *     event_request_add(&r, "L2_RQSTS:MISS:u", err, sizeof err);
 *     event_request_pack(&r, 0, &plan, &work, err, sizeof err);
 *     ... event e of the plan is r.event[e]: program it, count it ...
 *     event_request_value(&r, 0, count, counted);
 *
 * The events of a metric share a group. An event that is asked for more than once is counted once.
 * Modes behind a metric's name, as in ipc:u, are those of all its events. Pure: no clock, lock,
 * allocation or register.
 */
#pragma once
#include "hpm/events/event.h"
#include "hpm/events/metric.h"
#include "hpm/events/group.h"

#define EVENT_WISHES_MAX GROUP_EVENTS_MAX

/* An event or metric that was asked for. */
struct event_wish {
    char text[EVENT_TEXT_MAX];
    const struct metric *metric; /* NULL: an event */
    struct metric_program program;
    /* By event of the metric's program, or for the one event: its number in the request. */
    uint8_t event[METRIC_EVENTS_MAX];
    uint64_t events; /* the same as a set */
};

/* Takes about 60 KB. */
struct event_request {
    struct event_pmu pmu;
    unsigned wishes, events;
    struct event_wish wish[EVENT_WISHES_MAX];
    struct event event[GROUP_EVENTS_MAX];
    uint64_t pinned; /* bit e: event e is in every group; set by the caller before packing */
    struct group_event demand[GROUP_EVENTS_MAX]; /* work space of event_request_pack */
};

/* Makes an empty request. */
void event_request_init(struct event_request *r, const struct event_pmu *pmu);
/* Adds a wish. Returns its number; an error of event_parse or metric_find, with the reason in
 * `err`; or -ENOSPC: there is no more room. A refused wish changes nothing. */
int event_request_add(struct event_request *r, const char *text, char *err, size_t err_size);
/* Packs the request into a plan with the request's numbers of events. Returns 0; -EINVAL, -ENOSPC:
 * as group_pack, with the names in `err`. */
int event_request_pack(struct event_request *r, unsigned groups_max, struct group_plan *plan,
                       struct group_work *work, char *err, size_t err_size);
/* For callers that pack several requests together: writes the events and the number of each wish
 * that is a set. Returns the number of sets. */
unsigned event_request_sets(const struct event_request *r, uint64_t set[EVENT_WISHES_MAX],
                            uint8_t wish[EVENT_WISHES_MAX]);
/* Writes in words why packing failed; empty: it did not. `cause` has the request's numbers of
 * events, and numbers of wishes for sets. */
void event_request_explain(const struct event_request *r, const struct group_cause *cause,
                           char *err, size_t err_size);
/* Writes what packing needs to know of events that are packed together on `counters` programmable
 * counters. */
void event_demands(const struct event *event, unsigned events, unsigned counters,
                   struct group_event *out);
/* Returns whether two events count the same. */
bool event_same(const struct event *a, const struct event *b);

/* Returns the figure of a metric. count[e] is the count of event e, taken while a group ran that
 * has all events of the wish; valid if bit e of `counted` is set. */
struct metric_value event_request_value(const struct event_request *r, unsigned wish,
                                        const uint64_t *count, uint64_t counted);
