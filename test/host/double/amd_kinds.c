/* See amd_kinds.h. */
#include "test/host/double/amd_kinds.h"

const struct amd_kind amd_zen2 = {.family = 0x17, .model = 0x31, .ibs = IBS_ALL};
const struct amd_kind amd_zen3 = {.family = 0x19, .model = 0x21, .ibs = IBS_ALL};
const struct amd_kind amd_milan = {.family = 0x19, .model = 0x01, .ibs = IBS_ALL};
const struct amd_kind amd_zen4 = {
    .family = 0x19, .model = 0x11, .v2 = 6, .ibs = IBS_ALL | IBS_L3_FILTER};
const struct amd_kind amd_bare = {.family = 0x19, .model = 0x21};
