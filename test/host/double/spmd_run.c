/* See spmd_run.h. */
#include "test/host/double/spmd_run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/hpm.h"
#include "hpm/hpm.h"

static char text[512], why[512];

void hpm_mark(const char *label)
{
    assert_true(label[0] && !strchr(label, ' '));
}

int program_begin(struct spmd_run *run, const struct spmd_program *program, const char *arguments)
{
    char *words[PROGRAM_WORDS_MAX] = {"program"};
    int count = 1;

    snprintf(text, sizeof text, "%s", arguments);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        assert_in_range(count, 1, PROGRAM_WORDS_MAX - 1);
        words[count++] = word;
    }
    return spmd_begin(run, program, count, words, why, sizeof why);
}

void program_run(struct spmd_run *run, const struct spmd_program *program, const char *arguments)
{
    if (program_begin(run, program, arguments) != 0)
        fail_msg("%s %s: %s", program->name, arguments, why);
    spmd_work(run);
    spmd_check(run);
}
