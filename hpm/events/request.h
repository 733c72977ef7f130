/*
 * What somebody wants to know, by name, as a request to pack (hpm/events/group.h): the step between
 * texts and counters.
 *
 *     event_request_init(&r, &pmu);
 *     event_request_add(&r, "ipc", err, sizeof err);              a metric: its events share a
 *     group event_request_add(&r, "L2_RQSTS:MISS:u", err, sizeof err); an event
 *     event_request_pack(&r, 0, &plan, &work, err, sizeof err);
 *     ... event e of the plan is r.event[e]: program it, count it ...
 *     event_request_value(&r, 0, count, counted);
 *
 * An event that is asked for more than once is counted once. Modes behind a metric's name, as in
 * ipc:u, are those of all its events. Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/events/event.h"
#include "hpm/events/metric.h"
#include "hpm/events/group.h"

#define EVENT_WISHES_MAX GROUP_EVENTS_MAX

/* One thing that was asked for. */
struct event_wish {
    char text[EVENT_TEXT_MAX];
    const struct metric *metric; /* NULL: it is an event, alone */
    struct metric_program program;
    /* the program's events, or the one, by their numbers in the request */
    uint8_t event[METRIC_EVENTS_MAX];
    uint64_t events; /* the same as a set */
};

/* Some 60 KB. */
struct event_request {
    struct event_pmu pmu;
    unsigned wishes, events;
    struct event_wish wish[EVENT_WISHES_MAX];
    struct event event[GROUP_EVENTS_MAX];
    uint64_t pinned; /* bit e: event e is in every group; the caller's to set before it packs */
    struct group_event demand[GROUP_EVENTS_MAX]; /* what event_request_pack works in */
};

/* Nothing is asked for yet. */
void event_request_init(struct event_request *r, const struct event_pmu *pmu);
/* The number of the wish; or as event_parse and metric_find, with what is wrong in err; -ENOSPC: no
 * room for so many. A refusal changes nothing. */
int event_request_add(struct event_request *r, const char *text, char *err, size_t err_size);
/* 0 and a plan whose events have the request's numbers; -EINVAL, -ENOSPC: as group_pack, with the
 * names in err. */
int event_request_pack(struct event_request *r, unsigned groups_max, struct group_plan *plan,
                       struct group_work *work, char *err, size_t err_size);
/* The parts of it, for who packs several requests together. Wishes that are sets, their events and
 * numbers: how many. */
unsigned event_request_sets(const struct event_request *r, uint64_t set[EVENT_WISHES_MAX],
                            uint8_t wish[EVENT_WISHES_MAX]);
/* Why not, in words; cause has the request's numbers of events, and those of wishes for sets.
 * Empty where it is possible. */
void event_request_explain(const struct event_request *r, const struct group_cause *cause,
                           char *err, size_t err_size);
/* What packing has to know of events that are to be packed together, on so many programmable
 * counters. */
void event_demands(const struct event *event, unsigned events, unsigned counters,
                   struct group_event *out);
/* Do they count the same? */
bool event_same(const struct event *a, const struct event *b);

/* A metric's figure. count[e] belongs to event e and was counted while a group ran that has all of
 * the wish's events, if bit e of counted is set. */
struct metric_value event_request_value(const struct event_request *r, unsigned wish,
                                        const uint64_t *count, uint64_t counted);
