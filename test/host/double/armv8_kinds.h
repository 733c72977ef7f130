/* Kinds of Arm's processors that tests are made with. */
#pragma once
#include "test/host/double/armv8_double.h"

#define CEID(code) ((uint64_t)1 << ((code)&31))

/* In the manner of a Cortex-A72, of QEMU's without instructions counted, of a Neoverse V2; and what
 * counts stalls only. */
extern const struct armv8_kind armv8_narrow, armv8_bare, armv8_wide, armv8_few;
