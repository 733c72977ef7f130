/* The trial of a placement: see assign_trial.h. */
#include "sched/sharing/policy/assign_trial.h"

void assign_trial_begin(struct assign_trial *t, unsigned before_permille)
{
    t->before = before_permille;
    assign_trial_extend(t);
}

void assign_trial_extend(struct assign_trial *t)
{
    t->looks_left = ASSIGN_TRIAL_LOOKS;
    t->worse = 0;
}

static bool is_worse(const struct assign_trial *t, unsigned permille, unsigned threshold)
{
    return permille >= MAX(threshold, (unsigned)ASSIGN_TRIAL_GREW_PERMILLE) &&
           stalls_grew(t->before, permille - ASSIGN_TRIAL_GREW_PERMILLE);
}

enum assign_trial_verdict assign_trial_look(struct assign_trial *t, unsigned permille,
                                            unsigned threshold)
{
    t->worse = is_worse(t, permille, threshold) ? t->worse + 1 : 0;
    t->looks_left--;
    if (t->worse < ASSIGN_TRIAL_WORSE && t->looks_left)
        return ASSIGN_TRIAL_GOES_ON;
    t->looks_left = 0;
    return t->worse < ASSIGN_TRIAL_WORSE ? ASSIGN_TRIAL_PASSED : ASSIGN_TRIAL_FAILED;
}
