/*
 * The names of verdicts, and the check of any placement: see assign.h.
 */
#include "sched/sharing/policy/assign.h"

const char *const assign_verdict_names[] = {"move",        "right",    "no-gain",
                                            "no-clusters", "one-chip", NULL};

const char *assign_check(const struct placement *p, const struct assign_input *in)
{
    unsigned moved = 0;

    for (unsigned t = 0; t < in->threads; t++) {
        const struct assign_choice *c = &p->choice[t];
        if (c->cpu >= in->topology->cpus || c->chip != in->topology->cpu[c->cpu].chip)
            return "a thread's CPU is not on its chip";
        if (!assign_may_use(&in->thread[t], c->cpu) && c->cpu != in->thread[t].cpu)
            return "a thread is sent where it may not run";
        if (p->verdict != ASSIGN_MOVE && c->cpu != in->thread[t].cpu)
            return "a thread moves although none should";
        moved += c->chip != assign_chip_now(in, t);
    }
    if (moved != p->migrations)
        return "the migrations do not add up";
    if (p->verdict == ASSIGN_MOVE && p->together_after < p->together_before)
        return "sharing threads are torn apart";
    return NULL;
}
