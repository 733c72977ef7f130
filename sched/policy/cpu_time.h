/*
 * Which part of a time on CPUs was spent in the kernel, by looks at it now and then: each says what
 * is going on from then to the next. So both parts only grow, and add up to the whole; of a time
 * of many looks each part is as long as it was on average. Pure: no clock, lock, or register.
 */
#pragma once
#include "kernel/lib/base.h"

/* Time on CPUs, and the part of it in the kernel: nanoseconds. */
struct cpu_time {
    uint64_t run_ns, system_ns;
};

/* What was seen; zeroed at first, as of one who is in user mode. */
struct cpu_mode {
    uint64_t system_ns, seen_ns; /* in the kernel up to the latest look, and run_ns then */
    bool in_kernel;              /* what the look saw */
};

static inline uint64_t cpu_mode_system_ns(const struct cpu_mode *m, uint64_t run_ns)
{
    return m->system_ns + (m->in_kernel && run_ns > m->seen_ns ? run_ns - m->seen_ns : 0);
}

/* Looks when `run_ns` has passed on CPUs. */
static inline void cpu_mode_look(struct cpu_mode *m, uint64_t run_ns, bool in_kernel)
{
    *m = (struct cpu_mode){cpu_mode_system_ns(m, run_ns), run_ns > m->seen_ns ? run_ns : m->seen_ns,
                           in_kernel};
}

static inline uint64_t cpu_time_user_ns(struct cpu_time t)
{
    return t.run_ns - t.system_ns;
}

/* Returns the sum of two. */
static inline struct cpu_time cpu_time_add(struct cpu_time a, struct cpu_time b)
{
    return (struct cpu_time){a.run_ns + b.run_ns, a.system_ns + b.system_ns};
}
