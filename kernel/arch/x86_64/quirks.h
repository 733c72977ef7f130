/* The functions behind x86-64's quirks. */
#pragma once
#include <stdbool.h>

bool console_found(void); /* whether there is a serial port at COM1 */
/* Returns the counter that the TSC's frequency was measured against; NULL: CPUID gives it. */
const char *clock_measured_by(void);
