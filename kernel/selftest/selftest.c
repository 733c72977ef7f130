/* See selftest.h: runs the checks and prints their results. */
#include "kernel/selftest/selftest.h"
#include "kernel/selftest/check.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "sched/cpuset.h"
#include "sched/sched.h"

#define POLL_NS (1 * NS_PER_MS)

uint64_t selftest_wanted;
const struct boot_info *selftest_boot;

static const struct check *const subjects[] = {memory_checks,  clock_checks, cpu_checks,
                                               program_checks, stack_checks, NULL};

enum verdict { PASSED, FAILED, SKIPPED, VERDICTS };
static const char *const verdict_names[] = {"passed", "failed", "skipped"};

static enum verdict judge(const struct measured *m)
{
    if (m->skipped)
        return SKIPPED;
    return m->value >= m->low && m->value <= m->high ? PASSED : FAILED;
}

static enum verdict run(const struct check *c)
{
    struct measured m = {.unit = ""};

    c->run(&m);
    enum verdict v = judge(&m);
    if (v == SKIPPED)
        kprintf("selftest: check=%s result=skipped: %s\n", c->name, m.skipped);
    else
        kprintf("selftest: check=%s result=%s value=%llu low=%llu high=%llu unit=%s%s%s\n", c->name,
                verdict_names[v], (unsigned long long)m.value, (unsigned long long)m.low,
                (unsigned long long)m.high, m.unit, m.note[0] ? ": " : "", m.note);
    return v;
}

unsigned selftest_run(const struct boot_info *info)
{
    unsigned counts[VERDICTS] = {0};

    selftest_boot = info;
    kprintf("selftest: report begins\n");
    describe_machine(info);
    for (const struct check *const *subject = subjects; *subject; subject++)
        for (const struct check *c = *subject; c->name; c++)
            counts[run(c)]++;
    kprintf("RESULT selftest arch=%s passed=%u failed=%u skipped=%u\n", arch_name, counts[PASSED],
            counts[FAILED], counts[SKIPPED]);
    return counts[FAILED];
}

void selftest_end(void)
{
    unsigned stacks;
    size_t deepest = kstack_deepest(&stacks);

    kprintf("selftest: stacks=deepest used=%llu bytes=%llu\n", (unsigned long long)deepest,
            (unsigned long long)KSTACK_SIZE);
}

/* ---- For checks ------------------------------------------------------------------------------ */

struct crew {
    void (*fn)(unsigned cpu);
    unsigned running; /* atomic */
};
static struct crew crew;

static void work(UNUSED void *arg)
{
    crew.fn(this_cpu()->index); /* its affinity keeps the thread on the CPU */
    __atomic_sub_fetch(&crew.running, 1, __ATOMIC_RELEASE);
}

static int start_on(unsigned cpu)
{
    const struct cpuset only = cpuset_one(cpu);
    const struct thread_params params = {.name = "selftest",
                                         .entry = work,
                                         .affinity = &only,
                                         .prio = PRIO_NORMAL,
                                         .group = GROUP_NONE};
    struct thread *t;
    int err = thread_create(&params, &t);

    if (err)
        return err;
    __atomic_add_fetch(&crew.running, 1, __ATOMIC_RELAXED);
    thread_start(t);
    thread_put(t);
    return 0;
}

static int on_cpus(unsigned first, unsigned end, void (*fn)(unsigned cpu))
{
    int err = 0;

    crew = (struct crew){.fn = fn};
    for (unsigned i = first; !err && i < end; i++)
        err = start_on(i);
    while (__atomic_load_n(&crew.running, __ATOMIC_ACQUIRE))
        sched_sleep_until(arch_clock_ns() + POLL_NS);
    return err;
}

int on_cpu(unsigned cpu, void (*fn)(unsigned cpu))
{
    return on_cpus(cpu, cpu + 1, fn);
}

int on_every_cpu(void (*fn)(unsigned cpu))
{
    return on_cpus(0, cpu_count(), fn);
}

unsigned largest_of_cpus(const uint64_t *values)
{
    unsigned largest = 0;

    for (unsigned i = 1; i < cpu_count(); i++)
        largest = values[i] > values[largest] ? i : largest;
    return largest;
}
