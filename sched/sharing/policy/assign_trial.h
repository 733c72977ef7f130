/*
 * Whether a placement is taken back. It is on trial for its first looks at the stalls on other
 * chips' caches. If these are much more than before in two successive looks, it is worse. Stalls
 * below the threshold, for which no sharing is looked for, are never worse.
 *
 * Taking back is tried the same way: if the stalls stay as they are, it was not the placement.
 *
 * Pure: the caller reads the counters and moves the threads.
 */
#pragma once
#include "sched/sharing/policy/stalls.h"

enum {
    ASSIGN_TRIAL_LOOKS = 8,          /* of a trial */
    ASSIGN_TRIAL_WORSE = 2,          /* successive looks that end it */
    ASSIGN_TRIAL_GREW_PERMILLE = 10, /* growth beyond stalls_grew() */
};

enum assign_trial_verdict { ASSIGN_TRIAL_GOES_ON, ASSIGN_TRIAL_PASSED, ASSIGN_TRIAL_FAILED };

struct assign_trial {
    unsigned before;     /* stalls before the placement: thousandths of the process's cycles */
    unsigned looks_left; /* 0: nothing is on trial */
    unsigned worse;      /* successive looks so far */
};

/* Begins a trial. */
void assign_trial_begin(struct assign_trial *t, unsigned before_permille);
/* Begins it again with the same stalls before: more threads were moved. */
void assign_trial_extend(struct assign_trial *t);
static inline bool assign_trial_is_on(const struct assign_trial *t)
{
    return t->looks_left;
}
/* Takes a look at the stalls into account, while a trial is on. threshold: stalls below are not
 * worse. Any verdict but ASSIGN_TRIAL_GOES_ON ends the trial. */
enum assign_trial_verdict assign_trial_look(struct assign_trial *t, unsigned permille,
                                            unsigned threshold);
