/* Lines of many threads on all CPUs at once, some with interrupts off; test/qemu/stress.t checks
 * the output. */
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "sched/cpuset.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define LINES_ALL 960 /* of all threads together */
#define LETTERS   60

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
    note_end();
}

static void lines_of_all_cpus_come_out_whole(void)
{
    threads_begin();
    for (unsigned i = 0; i < cpu_count(); i++)
        start_thread_on(i,
                        (struct thread_params){.entry = write_lines, .arg = (void *)(uint64_t)i});
    wait_for_ends(cpu_count());
    kprintf("#lines %u\n", LINES_ALL / cpu_count() * cpu_count());
}

/* Longer than a display's row; test/qemu/framebuffer.t checks the display. */
static void every_character_is_written(void)
{
    for (unsigned lap = 0; lap < 2; lap++)
        for (char c = ' '; c <= '~'; c++)
            kprintf("%s%c", lap || c > ' ' ? "" : "# ", c);
    kprintf("\n");
}

static const struct suite_test tests[] = {
    {"lines of all CPUs come out whole", lines_of_all_cpus_come_out_whole},
    {"every character is written", every_character_is_written},
    {0},
};

const struct suite console_suite = {"console", tests};
