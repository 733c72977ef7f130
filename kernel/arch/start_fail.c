/* See start_fail.h. No handlers or locks exist yet, so this formats by itself. */
#include "kernel/arch/start_fail.h"
#include "kernel/core/console.h"
#include "kernel/arch/arch.h"

void start_fail(const char *reason)
{
    static const char prefix[] = "vigil: event=refused reason=";
    size_t n = 0;

    while (reason[n])
        n++;
    arch_console_init();
    console_force(prefix, sizeof(prefix) - 1);
    console_force(reason, n);
    console_force("\n", 1);
    arch_poweroff(1);
}
