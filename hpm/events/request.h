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
 * or all of a text at once (event_request_read):
 *
 *     cycles,l1d.miss*4,LOADS!,{STORES,MISPREDICTS}*2,round=500000
 *
 * - name*N: it weighs N, 1 to EVENT_WEIGHT_MAX; see hpm/policy/shares.h.
 * - name*auto: its weight is to follow from its measured variance.
 * - name!: it is pinned, in every group.
 * - {names}: they are tied: counted in exactly the same slices. *N, *auto and ! stand behind the
 *   braces.
 * - round=N: wanted length of a round, 1 to EVENT_ROUND_MAX cycles or instructions.
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
#define EVENT_WEIGHT_MAX 8
#define EVENT_ROUND_MAX  (1ull << 36)

/* An event or metric that was asked for. */
struct event_wish {
    char text[EVENT_TEXT_MAX];
    const struct metric *metric; /* NULL: an event */
    struct metric_program program;
    /* By event of the metric's program, or for the one event: its number in the request. */
    uint8_t event[METRIC_EVENTS_MAX];
    uint64_t events; /* the same as a set */
    uint8_t tie;     /* braces that it is in, from 1; 0: none */
};

/* Takes about 60 KB. */
struct event_request {
    struct event_pmu pmu;
    unsigned wishes, events;
    struct event_wish wish[EVENT_WISHES_MAX];
    struct event event[GROUP_EVENTS_MAX];
    uint64_t pinned;                  /* bit e: event e is in every group */
    uint64_t automatic;               /* bit e: its weight is to follow from its variance */
    uint8_t weight[GROUP_EVENTS_MAX]; /* of event e; 0: 1 */
    /* Braces that event e is in. An event is another one in braces than outside. */
    uint8_t tie[GROUP_EVENTS_MAX];
    uint8_t ties;   /* number of braces */
    uint8_t tying;  /* braces that wishes are being added to; 0: none */
    uint64_t round; /* wanted; 0: any */
    struct group_event demand[GROUP_EVENTS_MAX]; /* work space of event_request_pack */
};

/* Makes an empty request. */
void event_request_init(struct event_request *r, const struct event_pmu *pmu);
/* Adds a wish. Returns its number; an error of event_parse or metric_find, with the reason in
 * `err`; or -ENOSPC: there is no more room. A refused wish changes nothing. */
int event_request_add(struct event_request *r, const char *text, char *err, size_t err_size);
/* Adds all that `text` asks for, separated by commas or blanks. Returns 0; as event_request_add;
 * or -EINVAL: nothing is asked for, or what stands beside the names is malformed. */
int event_request_read(struct event_request *r, const char *text, char *err, size_t err_size);
/* Packs the request into a plan with the request's numbers of events. Returns 0; -EINVAL, -ENOSPC:
 * as group_pack, with the names in `err`. */
int event_request_pack(struct event_request *r, unsigned groups_max, struct group_plan *plan,
                       struct group_work *work, char *err, size_t err_size);
/* For callers that pack several requests together: writes the events of each metric and each pair
 * of braces, and the number of its (first) wish. Returns the number of sets. */
unsigned event_request_sets(const struct event_request *r, uint64_t set[EVENT_WISHES_MAX],
                            uint8_t wish[EVENT_WISHES_MAX]);
/* Returns the events of braces number `tie`, from 1; 0: of all of them. */
uint64_t event_request_tied(const struct event_request *r, unsigned tie);
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
