/* For what cannot go on before kernel_main: prints the reason, if there is a console already, and
 * ends the run. */
#pragma once
#include "kernel/lib/base.h"

NORETURN void start_fail(const char *reason);
