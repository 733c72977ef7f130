/*
 * Placement without knowledge of sharing, the names of all decisions, and the check of any placement: see place.h.
 */
#include "sched/sharing/policy/assign.h"

const char *const place_why_names[] = {"stays", "joins", "spreads", "balances", "forbidden", "in-turn", NULL};
const char *const place_verdict_names[] = {"move", "right", "no-gain", "no-clusters", "one-chip", NULL};

static void stay_put(struct placement *p, const struct place_input *in)
{
    p->together_before = p->together_after = 1000;
    place_leave_all(p, in, PLACE_NO_CLUSTERS);
}

static void in_turn(struct placement *p, const struct place_input *in)
{
    stay_put(p, in);
    p->verdict = PLACE_MOVE;
    for (unsigned t = 0; t < in->threads; t++) {
        unsigned cpu = t % in->topology->cpus;
        for (unsigned tried = 0; tried < in->topology->cpus && !place_may_use(&in->thread[t], cpu); tried++)
            cpu = (cpu + 1) % in->topology->cpus;
        p->choice[t] = (struct place_choice){cpu, in->topology->cpu[cpu].chip, PLACE_IN_TURN};
        p->migrations += p->choice[t].chip != place_chip_now(in, t);
    }
}

const struct place_policy place_roundrobin = {"roundrobin", in_turn};
const struct place_policy place_default = {"default", stay_put};

const char *place_check(const struct placement *p, const struct place_input *in)
{
    unsigned moved = 0;

    for (unsigned t = 0; t < in->threads; t++) {
        const struct place_choice *c = &p->choice[t];
        if (c->cpu >= in->topology->cpus || c->chip != in->topology->cpu[c->cpu].chip)
            return "a thread's CPU is not on its chip";
        if (!place_may_use(&in->thread[t], c->cpu) && c->cpu != in->thread[t].cpu)
            return "a thread is sent where it may not run";
        if (p->verdict != PLACE_MOVE && c->cpu != in->thread[t].cpu)
            return "a thread moves although none should";
        moved += c->chip != place_chip_now(in, t);
    }
    if (moved != p->migrations)
        return "the migrations do not add up";
    if (p->verdict == PLACE_MOVE && p->together_after < p->together_before)
        return "sharing threads are torn apart";
    return NULL;
}
