/*
 * What is wanted to be counted, of which the present plan is made: the breakdown's figures and the
 * sessions' events. Callers are serialised.
 */
#pragma once
#include "hpm/events/nest.h"
#include "hpm/events/request.h"
#include "hpm/policy/plan.h"

#define SESSIONS_MAX       16 /* those that hpm_session_open_exact has not opened */
#define EXACT_SESSIONS_MAX 48

struct hpm_session {
    struct event_request request;
    uint8_t count[GROUP_EVENTS_MAX]; /* logical count of each event */
    uint64_t liked;                  /* counts that are to be pinned if there is room */
    bool exact; /* liked are all, together with those of all such sessions, or none of these */
    struct fit_set nest[EVENT_NESTS_MAX]; /* events that contain other ones */
    unsigned nests;
    struct hpm_weighed {
        uint64_t units; /* closed when its automatic weights were looked at last */
        uint64_t count[GROUP_EVENTS_MAX];
        wide_t variance[GROUP_EVENTS_MAX];
    } weighed;
    struct fit_event fit[GROUP_EVENTS_MAX]; /* work space of hpm_session_fit */
    struct fit_set known[EVENT_NESTS_MAX];  /* work space of hpm_session_fit */
};

/* Returns the logical counts of the session's events `events`, both as sets. */
static inline uint64_t session_numbers(const struct hpm_session *s, uint64_t events)
{
    uint64_t counts = 0;

    for (; events; events &= events - 1)
        counts |= (uint64_t)1 << s->count[__builtin_ctzll(events)];
    return counts;
}

/* Returns whether there may be one more session. */
bool wanted_room(bool exact);
/* Makes a draft of what is to be wanted, a copy of what is wanted now, to be changed before
 * wanted_add. Returns it. */
struct plan_request *wanted_draft(void);
/* Counts what the draft made last wants, in which the session's events have been numbered, with the
 * session's sets, round and pins, if there is a free place. Returns when every CPU does: 0, or an
 * error of plan_make that changes nothing, with its cause: sets are those of wish_of, by wish, the
 * session's first. */
int wanted_add(struct hpm_session *s, uint8_t wish_of[GROUP_SETS_MAX], struct group_cause *cause);
/* Returns how many groups more wanted_add would make of the draft made last, or its error. Nothing
 * changes. */
int wanted_groups_more(const struct hpm_session *s);
/* Counts no longer what the session wanted. */
void wanted_remove(const struct hpm_session *s);
/* Gives the session's events these weights if the plan that follows has a smaller sum of their
 * variances (shares_variance). Returns whether it has. */
bool wanted_reweigh(struct hpm_session *s, const uint8_t *weight, const uint32_t *deviation);
/* Returns the generation in which a logical count was born. */
uint32_t wanted_born(unsigned count);
/* Returns whether the counts that the scheduler acts on take turns for sessions' pinned events. */
bool wanted_scaled(void);
