/* What a program must not do and can say in its ISA's own words only (misdeeds.c of each). */
#pragma once
#include <stdint.h>

struct misdeed {
    const char *name;
    void (*run)(void);
};

extern const struct misdeed isa_misdeeds[]; /* ends with a name that is NULL */
extern const uint32_t isa_return;           /* code of a function that only returns */
