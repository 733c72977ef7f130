/* Replaces kernel/run.c: runs suites by name. See suite.h. */
#include "test/qemu/kernel/suite.h"
#include "kernel/core/printf.h"
#include "kernel/run.h"

static const struct suite *const suites[] = {
    &sched_suite,  &hpm_suite,       &mm_suite,    &spaces_suite,        &arch_suite,
    &msi_suite,    &panics_suite,    &pmu_suite,   &console_suite,       &futex_suite,
    &virtio_suite, &telemetry_suite, &block_suite, &block_failing_suite, &swap_suite,
    &heap_suite,   &string_suite,    &turns_suite, &nic_suite,           NULL};

static unsigned failures;
static const char *skipped;

void suite_fail(const char *file, int line, const char *what)
{
    __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    kprintf("# %s:%d: %s\n", file, line, what);
}

void suite_skip(const char *why)
{
    skipped = why;
}

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* Runs a suite, or the one test that is numbered behind its name. */
static unsigned run_suite(const struct suite *s, const char *only)
{
    unsigned count = 0, failed = 0;

    while (s->tests[count].name)
        count++;
    kprintf("1..%u\n", count);
    for (unsigned i = 0; i < count; i++) {
        char number[8];
        ksnprintf(number, sizeof(number), "%u", i + 1);
        if (only && !same(only, number)) {
            kprintf("ok %u # skip not asked for\n", i + 1);
            continue;
        }
        failures = 0;
        skipped = NULL;
        s->tests[i].run();
        failed += failures != 0;
        kprintf("%sok %u - %s: %s%s%s\n", failures ? "not " : "", i + 1, s->name, s->tests[i].name,
                skipped ? " # skip " : "", skipped ? skipped : "");
    }
    return failed;
}

unsigned run_commands(const struct cmdline *line)
{
    unsigned failed = 0;

    for (unsigned i = 0; i < line->count; i++) {
        const struct suite *const *s = suites;
        while (*s && !same((*s)->name, line->commands[i].argv[0]))
            s++;
        if (!*s) {
            kprintf("Bail out!  no suite is called %s\n", line->commands[i].argv[0]);
            return 1;
        }
        failed += run_suite(*s, line->commands[i].argc > 1 ? line->commands[i].argv[1] : NULL);
    }
    return failed ? 1 : 0;
}
