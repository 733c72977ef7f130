/* Which Arm core has which events: part numbers from each core's reference manual (MIDR_EL1).
 * Tables that this kernel's version of libpfm4 does not have are skipped, and all of them if it was
 * built without libpfm4. */
#include "hpm/events/generic.h"

#define ARM          0x41
#define ARMV8        0xf /* the architecture is in the feature registers */
#define ANY_REVISION 0, EVENT_ANY
#define ONE(part)    part, part
#define R0P2         0x02 /* variant << 4 | revision */

const struct event_choice event_choices[] = {
    {ARM, ARMV8, ONE(0xd07), ANY_REVISION, "cortex-a57"},
    {ARM, ARMV8, ONE(0xd08), ANY_REVISION, "cortex-a72"},
    {ARM, ARMV8, ONE(0xd0c), ANY_REVISION, "neoverse-n1"},
    {ARM, ARMV8, ONE(0xd40), ANY_REVISION, "neoverse-v1"},
    {ARM, ARMV8, ONE(0xd49), 0, R0P2, "neoverse-n2-r0p2"},
    {ARM, ARMV8, ONE(0xd49), ANY_REVISION, "neoverse-n2"},
    {ARM, ARMV8, ONE(0xd4f), ANY_REVISION, "neoverse-v2"},
    {ARM, ARMV8, ONE(0xd84), ANY_REVISION, "neoverse-v3"},
    {ARM, ARMV8, ONE(0xd8e), ANY_REVISION, "neoverse-n3"},
    {EVENT_ANY, EVENT_ANY, 0, EVENT_ANY, ANY_REVISION, "pmuv3"},
    {0, 0, 0, 0, 0, 0, NULL},
};

const struct event_generic_map event_generic_maps[] = {
    {"pmuv3", generic_pmuv3},
    {"model", generic_model},
    {NULL, generic_armv8},
    {NULL, NULL},
};
