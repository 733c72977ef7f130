/* What x86-64's quirks are made of. */
#pragma once

const char *clock_measured_by(void); /* what the TSC's frequency was measured against; NULL: CPUID says it */
