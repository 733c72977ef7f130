/* More marks on every CPU than there is room for; test/qemu/telemetry.t checks what became of
 * them. */
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/trace/telemetry.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"

#define MARKS  5000 /* consecutive, interrupts off: about ten packets */
#define ROUNDS 3

static unsigned next_mark[CPU_MAX];

static void flood_here(UNUSED void *arg)
{
    unsigned *next = &next_mark[this_cpu()->index];
    char label[32];

    for (unsigned i = 0; i < MARKS; i++) {
        ksnprintf(label, sizeof(label), "flood %u", (*next)++);
        telemetry_mark(0, label);
    }
}

static void a_flood_is_recorded_as_far_as_there_is_room(void)
{
    CHECK(telemetry_wants(TELEMETRY_MARKS));
    for (unsigned round = 0; round < ROUNDS; round++) {
        cpu_for_each (cpu) {
            bool irq = arch_irq_save(), own = cpu == this_cpu();
            if (own)
                flood_here(NULL);
            arch_irq_restore(irq);
            CHECK(own || !call_cpu(cpu, flood_here, NULL, 5 * NS_PER_S));
        }
        sched_sleep_until(arch_clock_ns() + 20 * NS_PER_MS);
    }
}

const struct suite telemetry_suite = {"telemetry",
                                      (const struct suite_test[]){
                                          {"a flood is recorded as far as there is room",
                                           a_flood_is_recorded_as_far_as_there_is_room},
                                          {0},
                                      }};
