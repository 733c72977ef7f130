/* See quirks.h. */
#include "kernel/report/quirks.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"

void quirks_print(const char *prefix)
{
    char text[160];

    for (const struct arch_quirk *q = arch_quirks; q->name; q++) {
        if (q->is_so(text, sizeof(text)))
            kprintf("%squirk: %s: %s\n", prefix, q->name, text);
    }
}
