/* What hpm/profile.c, which opens and reads profiles, and hpm/profile_window.c, which adapts their
 * periods, share. */
#pragma once
#include "hpm/internal.h"
#include "hpm/policy/period.h"
#include "hpm/watch.h"
#include "kernel/core/cpu.h"

struct hpm_profile {
    struct criteria criteria;
    struct hpm_session *events; /* NULL: no event is sampled */
    struct hpm_watch *watch;    /* whose threads it samples */
    uint32_t rate, permille;
    uint64_t random;
    struct sample_ring ring[CPU_MAX]; /* by CPU, each in cache lines of its own */
    struct profile_criterion {
        uint8_t slot;              /* PROFILE_NONE: accesses, which the hardware records */
        struct hpm_access *access; /* of accesses */
        uint8_t event;             /* number of its event in the session */
        struct period period;      /* valid if it is adapted */
        uint64_t mean, drawn_for;
        /* Samples taken out, and the sum of their periods. */
        uint64_t delivered, stood_for;
        /* Of accesses. drawn_at: samples taken when the period was drawn. */
        uint64_t lost_for, window_lost, drawn_at;
        uint64_t throttles;                                      /* before the present window */
        uint64_t window_taken, window_stood_for, window_counted; /* when the present window began */
    } of[CRITERIA_MAX];
    struct governor governor;
    struct hpm_sums sums;                        /* work space */
    uint64_t began_ns, began_busy, began_cycles; /* when the present window began */
    unsigned drawing;
};

extern uint64_t profile_taking_ticks; /* cost of taking samples out, of all profiles; atomic */

static inline bool profile_is_access(const struct hpm_profile *p, unsigned i)
{
    return p->criteria.criterion[i].kind == CRITERION_ACCESS;
}

static inline struct profile_slot *profile_slot(const struct hpm_profile *p, unsigned i)
{
    return &profile_slots[p->of[i].slot];
}

/* In profile_window.c: */
/* Begins the first window. */
void profile_windows_begin(struct hpm_profile *p);
/* Sets criterion i's mean period, as asked for or adapted, stretched by the governor. */
void profile_set_mean(struct hpm_profile *p, unsigned i);
/* Draws the distances of criterion i, which is not recorded by hardware: all of them if the mean
 * has changed, else one, for drawing a prime takes thousands of instructions. */
void profile_draw(struct hpm_profile *p, unsigned i);
/* Returns a new distance of the next records. */
uint32_t profile_draw_access(struct hpm_profile *p, unsigned i);
