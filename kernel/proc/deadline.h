/* Deadlines as sched.h has them: the time of arch_clock_ns(), UINT64_MAX: never. */
#pragma once
#include "kernel/arch/arch.h"
#include "kernel/core/wall_clock.h"

/* Returns the time `ns` from now, UINT64_MAX if it overflows. */
static inline uint64_t deadline_after(uint64_t ns)
{
    uint64_t now = arch_clock_ns();

    return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

/* Returns the time of a date, in ns since 1970; 0 of one before boot. */
static inline uint64_t deadline_of_date(uint64_t ns)
{
    uint64_t base = wall_clock_base_ns();

    return ns == UINT64_MAX ? ns : ns > base ? ns - base : 0;
}

/* Returns the time at which a timer set to `ns` comes: ns from now, or `absolute`, a time since
 * boot or, of_date, a date. 0 stays 0: it does not come. */
static inline uint64_t deadline_of_timer(uint64_t ns, bool absolute, bool of_date)
{
    if (!ns || !absolute)
        return ns ? deadline_after(ns) : 0;
    return MAX(of_date ? deadline_of_date(ns) : ns, 1ull);
}
