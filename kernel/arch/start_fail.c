/* See start_fail.h.  Nothing is attached yet, so this prints by hand. */
#include "kernel/arch/start_fail.h"
#include "kernel/arch/arch.h"

void start_fail(const char *reason)
{
    static const char prefix[] = "vigil: cannot start: ";
    size_t n = 0;

    while (reason[n])
        n++;
    arch_console_init();
    arch_console_write(prefix, sizeof(prefix) - 1);
    arch_console_write(reason, n);
    arch_console_write("\n", 1);
    arch_poweroff(1);
}
