/* Ends the run before kernel_main(), and prints the reason if there is a console. */
#pragma once
#include "kernel/lib/base.h"

/* `reason`: "WORD KEY=VALUE...: text". */
NORETURN void start_fail(const char *reason);
