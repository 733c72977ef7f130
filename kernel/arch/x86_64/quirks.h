/* What x86-64's quirks are made of. */
#pragma once
#include <stdbool.h>

bool console_found(void); /* is there a serial port at COM1? */
/* what the TSC's frequency was measured against; NULL: CPUID says it */
const char *clock_measured_by(void);
