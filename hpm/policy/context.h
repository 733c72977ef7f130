/*
 * The counts of one thread or one CPU, and the sums and stall breakdowns made of them. One CPU
 * writes at a time, the one the thread runs on, with interrupts off. Any CPU reads, and reads again
 * if they were written meanwhile.
 *
 * The plan says which logical counts there are. A reader keeps interrupts off, so that its CPU
 * cannot follow a new plan; before the memory of an old plan is used again, every CPU must have
 * followed. No clock, lock, allocation or register.
 */
#pragma once
#include "hpm/policy/plan.h"

/* Numbers of the figures' events, in one row. */
#define EVENT_STALL(cause)   ((unsigned)(cause))
#define EVENT_DCACHE(source) (STALL_COUNT + (unsigned)(source))
#define EVENT_SERVED(source) (STALL_COUNT + SOURCE_COUNT + (unsigned)(source))
#define EVENT_LOADS          (STALL_COUNT + 2 * SOURCE_COUNT)
#define EVENT_STORES         (EVENT_LOADS + 1)
#define EVENT_MISS(miss)     (EVENT_STORES + 1 + (unsigned)(miss))

/* The logical count of each figure; GROUP_NIL: it is not counted. */
struct context_figures {
    uint8_t instructions, event[HPM_EVENTS];
    /* Cycles of an access that a remote cache serves, where stalls are not counted; 0: unknown. */
    uint32_t remote_latency;
};

/* Adds what the hardware counted while `group` had its turn. count: by counter, PLAN_COUNTERS_ALL
 * of them. */
void context_add(struct hpm_context *c, const struct mux_plan *plan, unsigned group,
                 uint64_t cycles, uint64_t length, const uint64_t *count);
/* Ends a slice, and with it a unit if it is long enough. Units are rounds, or longer where the
 * turns are not the thread's own. */
void context_end_slice(struct hpm_context *c, const struct mux_plan *plan);

/* Reads the few figures of hpm_read_remote, as in the breakdown. Any CPU. */
void context_read_remote(const struct hpm_context *c, const struct mux_plan *plan,
                         const struct context_figures *figures, struct hpm_remote *out);
/* Reads all figures; those of the open unit are estimated. Any CPU. */
void context_read(const struct hpm_context *c, const struct mux_plan *plan,
                  const struct context_figures *figures, struct hpm_breakdown *out);
/* Adds the logical counts of mask `counts` to `sum`. kept: adds them as those of a thread that has
 * ended (mux_sum_keep), and closes the sums' pools as units where they are long enough. part: the
 * caller's memory to work in. Any CPU. */
void context_sum(const struct hpm_context *c, const struct mux_plan *plan, uint64_t counts,
                 bool kept, struct hpm_sums *sum, struct mux_sum part[GROUP_EVENTS_MAX]);
/* Adds `past`, which was summed up earlier, perhaps under another plan, except counts that were
 * born again since. kept: as in context_sum. */
void sums_add_past(const struct hpm_sums *past, const struct mux_plan *plan, bool kept,
                   struct hpm_sums *sum);
/* Reads logical count `i`. Any CPU. */
void context_count(const struct hpm_context *c, const struct mux_plan *plan, unsigned i,
                   struct mux_sum *out);
/* Fits parts to their wholes, and sets how much was seen. */
void hpm_breakdown_fit(struct hpm_breakdown *b);
/* Turns sums into the figures of a breakdown. */
void sums_read(const struct hpm_sums *sums, const struct mux_plan *plan,
               const struct context_figures *figures, struct hpm_breakdown *out);
