/* Checks that a program starts, runs in user mode and ends; and the deepest use of kernel stacks so
 * far. */
#include "kernel/selftest/check.h"
#include "kernel/core/printf.h"
#include "kernel/proc/process.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"

#define PROGRAM "hello"

static void a_program_runs_and_exits(struct measured *m)
{
    const char *const argv[] = {PROGRAM, "selftest", NULL};
    struct process *p;

    m->unit = "status";
    if (!process_has_application(PROGRAM)) {
        m->skipped = "the image has no program " PROGRAM;
        return;
    }
    if (process_start(argv, &p)) {
        m->value = STATUS_NO_MEMORY; /* a line on the console says why */
        return;
    }
    m->value = (uint64_t)process_wait(p);
    process_finish(p);
    ksnprintf(m->note, sizeof(m->note), "of " PROGRAM);
}

/* Leaves room for one more stack frame, which is 1 KB at most. */
static void stacks_are_large_enough(struct measured *m)
{
    unsigned stacks;

    m->unit = "bytes";
    m->value = kstack_deepest(&stacks);
    m->low = 1;
    m->high = KSTACK_SIZE - KIB;
    ksnprintf(m->note, sizeof(m->note), "the deepest use of %u stacks, interrupts included",
              stacks);
}

const struct check stack_checks[] = {
    {"stacks", stacks_are_large_enough},
    {0},
};

const struct check program_checks[] = {
    {"program", a_program_runs_and_exits},
    {0},
};
