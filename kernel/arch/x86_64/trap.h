/* Exceptions and interrupts; see trap.c. */
#pragma once
#include "frame.h"

extern const struct arch_handlers *x86_handlers; /* what main attached; NULL before */
