/* Lines of many threads on all CPUs at once, some with interrupts off; test/qemu/stress.t looks at what came out. */
#include "kernel/cpu.h"
#include "kernel/printf.h"
#include "sched/cpuset.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"

#define LINES_ALL 960 /* of all threads together */
#define LETTERS   60

static unsigned ended;

static void write_lines(void *arg)
{
    unsigned self = (unsigned)(uint64_t)arg;
    char text[LETTERS + 1] = {0};

    memset(text, 'a' + (int)(self % 26), LETTERS);
    for (unsigned i = 0; i < LINES_ALL / cpu_count(); i++) {
        bool off = i % 3 == 0, irq = arch_irq_enabled();
        if (off)
            arch_irq_save();
        kprintf("#line %u %u %s\n", self, i, text);
        if (off)
            arch_irq_restore(irq);
        CHECK(arch_irq_enabled());
        if (i % 8 == 0)
            sched_yield();
    }
    __atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
}

static void lines_of_all_cpus_come_out_whole(void)
{
    ended = 0;
    for (unsigned i = 0; i < cpu_count(); i++) {
        struct cpuset cpu = cpuset_one(i);
        struct thread_params params = {.name = "lines",
                                       .entry = write_lines,
                                       .arg = (void *)(uint64_t)i,
                                       .affinity = &cpu,
                                       .prio = PRIO_NORMAL,
                                       .group = GROUP_NONE};
        struct thread *t;
        if (thread_create(&params, &t))
            panic("no memory for a test's thread");
        thread_start(t);
        thread_put(t);
    }
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < cpu_count())
        sched_sleep_until(arch_clock_ns() + NS_PER_MS);
    kprintf("#lines %u\n", LINES_ALL / cpu_count() * cpu_count());
}

static const struct suite_test tests[] = {
    {"lines of all CPUs come out whole", lines_of_all_cpus_come_out_whole},
    {0},
};

const struct suite console_suite = {"console", tests};
