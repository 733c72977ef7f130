/*
 * How fast CPUs were: the cycles of the program's own process by its time on CPUs, both of all its
 * threads, and from its first instruction to its last. Said only where the cycles are known exactly
 * and of the same time: counted all along, in user and kernel mode, interrupts among them.
 */
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include "apps/libc/libc.h"
#include "apps/libc/state.h"
#include "apps/tools/hpmstat/hpmstat.h"

/* Returns the count of `cycles`, if it is exact; 0: there is none. */
static uint64_t exact_cycles(const struct sys_hpm_value *values, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(values[i].name, "cycles") && values[i].kind == SYS_VALUE_COUNT &&
            values[i].sure == SYS_SURE_EXACT)
            return values[i].count;
    return 0;
}

/* Returns whether threads count all cycles of the time that they are on a CPU. */
static bool counts_all(void)
{
    static const char *const needed[][2] = {{"hpm.modes", "both"}, {"hpm.accounts", "off"}};
    struct sys_knob knob;
    unsigned met = 0;

    for (uint32_t cursor = 0; !knob_list(&cursor, &knob);)
        for (unsigned i = 0; i < sizeof needed / sizeof needed[0]; i++)
            met += !strcmp(knob.name, needed[i][0]) && !strcmp(knob.value, needed[i][1]);
    return met == sizeof needed / sizeof needed[0];
}

/* Returns the ns that threads of the process were on CPUs, 0 if it is not known. */
static uint64_t time_on_cpus(uint32_t pid)
{
    const int clock = (int)(~pid << 3 | 2); /* clock_getcpuclockid(3) */
    struct timespec t;

    if (syscall2(SYS_clock_gettime, clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int frequency_add(const struct reading *r, struct sys_hpm_value *values, int n)
{
    static struct sys_hpm_value own[VALUES_MAX];
    struct sys_hpm_read what = r->what;

    if (!r->total || what.scope == SYS_SCOPE_MACHINE || !exact_cycles(values, n) || !counts_all())
        return n;
    what.scope = SYS_SCOPE_PROCESS;
    int read = hpm_values(&what, own, VALUES_MAX);
    uint64_t cycles = exact_cycles(own, read < VALUES_MAX ? read : VALUES_MAX);
    uint64_t ns = time_on_cpus(what.pid);
    if (!cycles || !ns)
        return n;
    values[n] = (struct sys_hpm_value){
        .name = "frequency",
        .unit = "GHz",
        .kind = SYS_VALUE_METRIC,
        .millionths = (int64_t)(((unsigned __int128)cycles * 1000000 + ns / 2) / ns),
        .seen_permille = 1000};
    return n + 1;
}
