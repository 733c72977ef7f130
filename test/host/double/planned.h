/* Requests for plans, and what any plan must keep (hpm/policy/plan.h), for its tests. */
#pragma once
#include "hpm/policy/plan.h"

enum { SLICE = 10000, BOTH = EVENT_USER | EVENT_KERNEL };

extern struct hpm_plan planned;
extern struct plan_work plan_work;
extern struct group_cause plan_cause;
extern const struct event event_cycles, event_instructions;

/* Returns an event that these counters count. */
struct event event_on(uint32_t counters, unsigned config);
/* Returns one of a fixed counter: reference cycles, slots or a share of them, as Intel has them.
 */
struct event event_fixed(unsigned fixed);
/* Returns a request for nothing on a number of programmable counters, and adds count i to it. */
struct plan_request plan_on(unsigned counters);
void plan_want(struct plan_request *r, unsigned i, struct event e);
/* Makes `planned`, which must succeed, or must not. */
void plan_succeeds(const struct plan_request *r);
void plan_is_refused(const struct plan_request *r, int error, enum group_why why);
/* Returns the counter of a logical count in a group, which is at most one; GROUP_NIL: it has none.
 */
unsigned plan_counter_of(unsigned group, unsigned i);
/* Returns how many groups have all of these counts. */
unsigned plan_groups_with(uint64_t counts);
/* Returns whether two events cannot be counted at a time. */
bool plan_excludes(const struct event *a, const struct event *b);
/* Fails the test unless `planned` is a plan of the request. */
void plan_check(const struct plan_request *r);
