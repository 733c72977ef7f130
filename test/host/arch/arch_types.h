/* An instruction set for host tests of code above arch: nothing to save, nothing to map. */
#pragma once
#include "kernel/base.h"

struct arch_cpu {
    int unused;
};
struct arch_context {
    int unused;
};
struct arch_space {
    int unused;
};
