/*
 * Samples of what a CPU is doing, by criteria: this is each CPU's part, hpm/profile.c has who asked
 * for what.
 *
 * A criterion has a slot in every CPU. Events are counted by a counter that is armed for the next
 * sample (pmu.h); when its group's turn is over what was left of the distance is kept, so rare
 * events get there in the end. Time and entries into the kernel are counted down where they
 * happen.
 */
#pragma once
#include "hpm/policy/criteria.h"
#include "hpm/pmu/pmu.h"
#include "hpm/sample_ring.h"

#define PROFILE_SLOTS     16
#define PROFILE_DISTANCES 16 /* power of two */
#define PROFILE_ALIKE     16 /* samples in a row of one distance */
#define PROFILE_NONE      0xff

struct hpm_cpu;
struct arch_frame;

/* Of the machine. Written before its kind is, and while nothing counts for it. */
struct profile_slot {
    bool used; /* by somebody; hpm/profile.c */
    uint8_t criterion, modes;
    uint32_t pid; /* 0: everybody */
    /* Distances of the next samples, one of which is picked each time. Written at any time. */
    uint32_t distance[PROFILE_DISTANCES];
    uint32_t window;  /* number of the present window */
    const char *name; /* the criterion's */
};
extern struct profile_slot profile_slots[PROFILE_SLOTS];
/* Which slots sample by time and by entries into the kernel. Atomic. */
extern uint32_t profile_timed;

/* Of each CPU. Written by the CPU itself, interrupts off; totals are read by anyone. */
struct profiler {
    uint64_t time; /* and place of a sample that is found to be due now */
    vaddr_t pc;
    bool user;
    uint8_t armed;        /* bit c: counter c is */
    uint8_t held;         /* bit c: it would be, if there were no storm */
    uint16_t holding;     /* bit s: slot s has something to publish */
    uint32_t random;      /* xorshift state, not 0 */
    uint32_t storm;       /* interrupts for samples ... */
    uint64_t storm_since; /* ... since then */
    struct profiler_counter {
        struct profiler_slot *slot; /* which it is armed for */
        uint64_t due;               /* by its count; held: what came afterwards is */
    } counter[HPM_COUNTERS_MAX];
    struct profiler_slot {
        const struct profile_slot *of;
        struct sample_ring *ring;
        /* to the next sample; of time the clock's ns then, while the CPU is busy; 0: not begun */
        uint64_t left;
        uint32_t distance;       /* that it ends */
        uint32_t pid;            /* of->pid */
        uint8_t alike;           /* so many more are ... */
        const uint32_t *next;    /* ... this one of of->distance */
        uint32_t throttled;      /* in this window, not before the next; 0: not */
        uint64_t lost, lost_for; /* samples, and what they stood for */
        /* What happened while it was throttled, and its counter counted: published with the counts,
         * and not yet. */
        uint64_t held_back, holding;
        uint64_t throttles;
        struct {
            uint16_t cpu, latency;
            uint8_t source, criterion;
        } like; /* all its samples, as in struct hpm_sample */
    } of[PROFILE_SLOTS];
    uint64_t ticks, interrupts; /* spent on it */
};

/* All for this CPU, interrupts off. */
/* Before a slot's criterion begins, from anywhere. timed: it is time. */
void profiler_slot_begin(struct hpm_cpu *hpm, unsigned cpu, unsigned slot, bool timed,
                         struct sample_ring *ring);
/* A reading that ends the turn of the armed counters; then the next group's, which has begun at
 * it. */
void profile_disarm(struct hpm_cpu *hpm, const struct pmu_latch *now);
void profile_arm(struct hpm_cpu *hpm, const struct pmu_latch *now, uint8_t arms,
                 const uint8_t *slot);
/* The counts of the latest reading are handed out. */
void profile_publish_held(struct hpm_cpu *hpm);
/* Counters have interrupted, bit c: counter c. */
void profile_overflowed(struct hpm_cpu *hpm, unsigned counters);
/* The CPU becomes idle or busy: only busy time passes. */
void profile_idle(struct hpm_cpu *hpm, bool idle);
