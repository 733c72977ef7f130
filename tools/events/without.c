/* Replaces the readers of libpfm4's tables in a kernel that is built without them. */
#include "tools/events/source.h"

void intel_families(void)
{
}

void amd_families(void)
{
}

void arm_families(void)
{
}
