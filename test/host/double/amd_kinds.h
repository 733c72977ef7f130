/* Kinds of AMD's processors in tests. */
#pragma once
#include "test/host/double/amd_double.h"

#define IBS_ALL 0x3ff /* of Zen 2 and Zen 3 */

extern const struct amd_kind amd_zen2, amd_zen3, amd_milan, amd_zen4;
extern const struct amd_kind amd_bare; /* as under hypervisors: without IBS */
