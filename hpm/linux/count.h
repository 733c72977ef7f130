/*
 * What read(2) of a perf event returns: counts, their times, and their layout.
 *
 * A value is what was really counted. Of its time, `running` is the part in which the event had a
 * counter, by the length in which it was counted: so value * enabled / running, which perf prints,
 * is the estimate, and running equals enabled if and only if the value is exact. Pure.
 */
#pragma once
#include "kernel/lib/base.h"
#include <linux/perf_event.h>

/* What is known of an event's time that it was enabled. */
struct perf_count {
    uint64_t counted;
    uint64_t enabled_ns; /* time on a CPU; of a CPU's event, time */
    uint64_t since_ns;   /* part of enabled_ns since the count was last set to 0 */
    uint64_t blind_ns;   /* part of since_ns in which nothing could count it */
    /* Length of the rest of since_ns in cycles or instructions, and the part of it in which it was
     * counted; both 0: it needs no counter. */
    uint64_t length, seen;
};

/* Adds what has come from `begin` to `end`, two readings of the same thread or CPU. blind: nothing
 * counted it meanwhile. */
void perf_count_add(struct perf_count *sum, const struct perf_count *begin,
                    const struct perf_count *end, bool blind);
/* Sets the count to 0. Its time goes on, but what it stands for is found anew. */
void perf_count_reset(struct perf_count *c);
/* Returns the part of enabled_ns that the value stands for. */
uint64_t perf_running_ns(const struct perf_count *c);

/* An event as a reading shows it. */
struct perf_shown {
    struct perf_count count;
    uint64_t id, lost;
};
/* Returns the number of 64-bit words that a reading of `events` events has in a format, which is
 * checked. */
size_t perf_read_words(uint64_t format, size_t events);
/* Writes it. events: the leader first, or, without PERF_FORMAT_GROUP, the one event. */
void perf_read_put(uint64_t format, const struct perf_shown *events, size_t n, uint64_t *out);
