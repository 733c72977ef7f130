/* What hpm/profile.c, who asked for what, and hpm/profile_window.c, whose periods follow what
 * comes, share. */
#pragma once
#include "hpm/internal.h"
#include "hpm/policy/period.h"
#include "kernel/core/cpu.h"

struct hpm_profile {
    struct criteria criteria;
    struct hpm_session *events; /* NULL: none is sampled */
    uint32_t pid, rate, permille;
    uint64_t random;
    struct sample_ring ring[CPU_MAX]; /* each in lines of its own */
    struct profile_criterion {
        uint8_t slot;         /* PROFILE_NONE: accesses, that the hardware records */
        uint8_t event;        /* its number in the session */
        struct period period; /* of an adapted one */
        uint64_t mean, drawn_for;
        /* taken out, and what they stood for */
        uint64_t delivered, stood_for;
        /* of accesses; drawn_at: so many were taken */
        uint64_t lost_before, lost_for, window_lost, drawn_at;
        uint64_t throttles;                                      /* until the present window */
        uint64_t window_taken, window_stood_for, window_counted; /* when the present window began */
    } of[CRITERIA_MAX];
    struct governor governor;
    struct hpm_sums sums;                        /* for work */
    uint64_t began_ns, began_busy, began_cycles; /* when this window began */
    unsigned drawing;
};

extern uint64_t profile_taking_ticks; /* spent on taking, of all profiles; atomic */

static inline bool profile_is_access(const struct hpm_profile *p, unsigned i)
{
    return p->criteria.criterion[i].kind == CRITERION_ACCESS;
}

static inline struct profile_slot *profile_slot(const struct hpm_profile *p, unsigned i)
{
    return &profile_slots[p->of[i].slot];
}

/* profile_window.c */
/* The first window begins. */
void profile_windows_begin(struct hpm_profile *p);
/* Criterion i's mean period, from what was asked for, or adapted, and the governor. */
void profile_set_mean(struct hpm_profile *p, unsigned i);
/* Its distances, which no hardware records, anew where the mean is another one, else one of them: a
 * prime takes thousands of instructions. */
void profile_draw(struct hpm_profile *p, unsigned i);
/* The distance of the next records. */
uint32_t profile_draw_access(struct hpm_profile *p, unsigned i);
