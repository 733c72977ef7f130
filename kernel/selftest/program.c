/* A program starts, runs in user mode, and ends. */
#include "kernel/selftest/check.h"
#include "kernel/printf.h"
#include "kernel/proc/process.h"

#define PROGRAM "hello"

static void a_program_runs_and_exits(struct measured *m)
{
    const char *const argv[] = {PROGRAM, "selftest"};
    struct process *p;

    m->unit = "status";
    if (!process_has_application(PROGRAM)) {
        m->skipped = "the image has no program " PROGRAM;
        return;
    }
    if (process_start(argv, ARRAY_SIZE(argv), &p)) {
        m->value = STATUS_NO_MEMORY; /* and a line has said why */
        return;
    }
    m->value = (uint64_t)process_wait(p);
    process_put(p);
    ksnprintf(m->note, sizeof(m->note), "of " PROGRAM);
}

const struct check program_checks[] = {
    {"program", a_program_runs_and_exits},
    {0},
};
