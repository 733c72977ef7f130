/* Counters of known frequency that the TSC is measured against. */
#pragma once
#include "kernel/lib/base.h"

struct reference {
    const char *name;
    bool (*probe)(uint64_t *hz); /* false: this machine does not have it */
    uint32_t (*read)(void);      /* counts up, wraps at mask */
    uint32_t mask;
};

extern const struct reference pit_reference;
extern const struct reference *const references[]; /* best first; NULL-terminated */
