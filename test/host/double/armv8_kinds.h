/* Kinds of Arm's processors in tests. */
#pragma once
#include "test/host/double/armv8_double.h"

#define CEID(code) ((uint64_t)1 << ((code)&31))

/* Like a Cortex-A72; like QEMU's, without a count of instructions; like a Neoverse V2; and one that
 * counts stalls only. */
extern const struct armv8_kind armv8_narrow, armv8_bare, armv8_wide, armv8_few;
