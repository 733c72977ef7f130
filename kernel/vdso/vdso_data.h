/*
 * The page of data beside the vDSO's code, which both the kernel and that code know. Written once,
 * before the first process begins: the clock's scale and the date do not change, so readers need no
 * sequence lock.
 */
#pragma once
#include <stdint.h>

#define VDSO_CLOCK_SHIFT 32

struct vdso_data {
    uint64_t readable; /* 1: user mode may read the ticks; 0: the system call must be made */
    uint64_t ticks_base,
        ticks_to_ns;  /* ns = (ticks - ticks_base) * ticks_to_ns >> VDSO_CLOCK_SHIFT */
    uint64_t date_ns; /* CLOCK_REALTIME where that is 0 */
};
