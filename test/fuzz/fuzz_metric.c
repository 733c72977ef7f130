/* Any bytes as a formula: no crash; what is accepted can be evaluated with any counts. */
#include <stdlib.h>
#include <string.h>
#include "hpm/events/metric.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t count[METRIC_EVENTS_MAX] = {0};
    struct metric_program program;
    char err[64], *formula;

    if (size < sizeof count)
        return 0;
    memcpy(count, data, sizeof count);
    size -= sizeof count;
    formula = malloc(size + 1);
    memcpy(formula, data + sizeof count, size);
    formula[size] = '\0';
    if (metric_parse(formula, (unsigned)(count[0] % 9), &program, err, sizeof err)) {
        if (program.steps || !*err)
            abort();
    } else {
        struct metric_value all = metric_evaluate(&program, count, ~0u),
                            some = metric_evaluate(&program, count, 1);
        if (all.trouble == METRIC_EVENT_MISSING ||
            (program.events > 1 && some.trouble == METRIC_FINE))
            abort();
    }
    free(formula);
    return 0;
}
