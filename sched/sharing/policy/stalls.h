/*
 * When stalls on other chips' caches have grown enough to be a change: of the program, or of what a
 * placement did to it. In thousandths of a process's cycles.
 */
#pragma once
#include "kernel/lib/base.h"

enum { STALLS_GREW_PERCENT = 150 /* of the stalls before */ };

static inline bool stalls_grew(unsigned before, unsigned now)
{
    return (uint64_t)now * 100 > (uint64_t)before * STALLS_GREW_PERCENT;
}
