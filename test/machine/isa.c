/*
 * The instruction sets a guest may have.
 */
#include <string.h>
#include "test/machine/isa.h"

static const struct isa *const isas[] = {&isa_x86_64, &isa_aarch64};

const struct isa *isa_find(const char *target)
{
    for (size_t i = 0; i < ARRAY_SIZE(isas); i++)
        if (strcmp(isas[i]->target, target) == 0)
            return isas[i];
    return NULL;
}
