/*
 * The counts of one thread or one CPU, written by one CPU at a time (the one the thread runs on,
 * interrupts off), read by anyone, who looks again if they were written meanwhile; and what is made
 * of them: sums, and the stall breakdown.
 *
 * The plan says which logical counts there are. A reader keeps interrupts off, so that its CPU
 * cannot follow a new plan, which is what whoever makes plans waits for before it uses the old
 * one's memory again. No clock, lock, allocation or register.
 */
#pragma once
#include "hpm/policy/plan.h"

/* Row numbers of the figures' events. */
#define EVENT_STALL(cause)   ((unsigned)(cause))
#define EVENT_DCACHE(source) (STALL_COUNT + (unsigned)(source))
#define EVENT_SERVED(source) (STALL_COUNT + SOURCE_COUNT + (unsigned)(source))
#define EVENT_LOADS          (STALL_COUNT + 2 * SOURCE_COUNT)
#define EVENT_STORES         (EVENT_LOADS + 1)
#define EVENT_MISS(miss)     (EVENT_STORES + 1 + (unsigned)(miss))

/* Which logical count is which figure; GROUP_NIL: it is not counted. */
struct context_figures {
    uint8_t instructions, event[HPM_EVENTS];
    /* cycles of an access that a remote cache serves, where stalls are not counted; 0: not known */
    uint32_t remote_latency;
};

/* What the hardware counted while the group was on: by place, PLAN_COUNTERS_ALL of them. */
void context_add(struct hpm_context *c, const struct mux_plan *plan, unsigned group,
                 uint64_t cycles, uint64_t length, const uint64_t *count);
/* A slice is over, which may be the end of a unit: units are rounds, or longer where the turns are
 * not the thread's own. */
void context_end_slice(struct hpm_context *c, const struct mux_plan *plan);

/* The few figures of hpm_read_remote, as in the breakdown; any CPU. */
void context_read_remote(const struct hpm_context *c, const struct mux_plan *plan,
                         const struct context_figures *figures, struct hpm_remote *out);
/* All of them, the open unit estimated; any CPU. */
void context_read(const struct hpm_context *c, const struct mux_plan *plan,
                  const struct context_figures *figures, struct hpm_breakdown *out);
/* Adds the logical counts of the mask; any CPU. kept: as those of a thread that has ended
 * (mux_sum_keep), and closes as units what the sums' pools can be closed of. part: memory to work
 * in, the caller's alone. */
void context_sum(const struct hpm_context *c, const struct mux_plan *plan, uint64_t counts,
                 bool kept, struct hpm_sums *sum, struct mux_sum part[GROUP_EVENTS_MAX]);
/* Adds what was summed up earlier, perhaps under another plan, but for counts that were born again
 * since; kept as above. */
void sums_add_past(const struct hpm_sums *past, const struct mux_plan *plan, bool kept,
                   struct hpm_sums *sum);
/* One logical count; any CPU. */
void context_count(const struct hpm_context *c, const struct mux_plan *plan, unsigned i,
                   struct mux_sum *out);
/* Makes parts fit their wholes, and says how much was seen. */
void hpm_breakdown_fit(struct hpm_breakdown *b);
/* Sums as figures. */
void sums_read(const struct hpm_sums *sums, const struct mux_plan *plan,
               const struct context_figures *figures, struct hpm_breakdown *out);
