/*
 * Samples of a CPU's activity, by criteria. This is each CPU's part; hpm/profile.c opens and closes
 * profiles.
 *
 * A criterion has a slot on every CPU. Events are counted by a counter that is armed for the next
 * sample (pmu.h). When its group's turn is over, the rest of the distance is kept, so rare events
 * are sampled in the end. Time, and entries into the kernel, are counted down where they happen.
 */
#pragma once
#include "hpm/policy/criteria.h"
#include "hpm/pmu/pmu.h"
#include "hpm/sample_ring.h"

#define PROFILE_SLOTS     16
#define PROFILE_DISTANCES 16 /* a power of two */
#define PROFILE_ALIKE     16 /* successive samples of one distance */
#define PROFILE_NONE      0xff

struct hpm_cpu;
struct arch_frame;

/* A slot of the whole machine. Written before its criterion begins and while no CPU counts for
 * it. */
struct profile_slot {
    bool used; /* by a profile, see hpm/profile.c */
    uint8_t criterion, modes;
    const struct hpm_watch *watch; /* threads that are sampled */
    /* Distances of the next samples; one is picked at random each time. Written at any time. */
    uint32_t distance[PROFILE_DISTANCES];
    uint32_t window;  /* number of the present window */
    const char *name; /* of the criterion */
};
extern struct profile_slot profile_slots[PROFILE_SLOTS];
/* Bit s: slot s samples by time. Atomic. */
extern uint32_t profile_timed;

/* A CPU's part. Written by the CPU itself, interrupts off; totals are read by any CPU. */
struct profiler {
    uint64_t time; /* with pc and user: of the sample that is found to be due now */
    vaddr_t pc;
    const struct arch_frame *frame; /* what was interrupted; NULL: the sample is found otherwise */
    bool user;
    uint8_t armed;    /* bit c: counter c is armed */
    uint8_t held;     /* bit c: counter c would be armed if there were no storm */
    uint16_t holding; /* bit s: slot s has held-back counts to publish */
    uint32_t random;  /* xorshift state, not 0 */
    uint32_t storm;   /* interrupts for samples since storm_since */
    uint64_t storm_since;
    struct profiler_counter {
        struct profiler_slot *slot; /* slot it is armed for */
        uint64_t due; /* count at which it is due; held: later counts are not sampled */
    } counter[HPM_COUNTERS_MAX];
    struct profiler_slot {
        const struct profile_slot *of;
        struct sample_ring *ring;
        /* To the next sample; of time: when it is due, by the clock in ns, while the CPU is busy;
         * 0: not begun. */
        uint64_t left;
        uint32_t distance;             /* of the next sample from the one before */
        const struct hpm_watch *watch; /* a copy of of->watch */
        uint8_t alike;                 /* further samples of the present distance */
        const uint32_t *next;          /* the present distance, in of->distance */
        uint32_t throttled;      /* number of the window in which it is throttled; 0: it is not */
        uint64_t lost, lost_for; /* lost samples, and the sum of their distances */
        /* What its counter counted while it was throttled: published with the counts, and not
         * yet. */
        uint64_t held_back, holding;
        uint64_t throttles;
        struct {
            uint16_t cpu, latency;
            uint8_t source, criterion;
        } like; /* members that all its samples have alike */
    } of[PROFILE_SLOTS];
    uint64_t ticks, interrupts; /* cost of sampling */
    uint64_t timed;             /* times that samples by time or entries were looked for */
};

/* The following are for this CPU, interrupts off. */
/* Prepares slot `slot` of CPU `cpu` before its criterion begins. timed: it samples by time. Any
 * CPU. */
void profiler_slot_begin(struct hpm_cpu *hpm, unsigned cpu, unsigned slot, bool timed,
                         struct sample_ring *ring);
/* profile_disarm ends the turn of the armed counters, at reading `now`; profile_arm begins that of
 * the next group at the same reading. arms: counters to be armed; slot: their slots. */
void profile_disarm(struct hpm_cpu *hpm, const struct pmu_latch *now);
void profile_arm(struct hpm_cpu *hpm, const struct pmu_latch *now, uint8_t arms,
                 const uint8_t *slot);
/* Publishes the counts that were held back until the latest reading, when counts are handed out. */
void profile_publish_held(struct hpm_cpu *hpm);
/* Takes the samples of the armed counters that have overflowed, and arms them again. counters: bit
 * c stands for counter c. */
void profile_overflowed(struct hpm_cpu *hpm, unsigned counters);
/* Stops the time of samples by time while the CPU is idle, or lets it go on. */
void profile_idle(struct hpm_cpu *hpm, bool idle);
