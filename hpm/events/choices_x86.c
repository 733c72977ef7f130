/* Which x86 processor has which events. Models: Intel SDM volume 4, table 2-1; AMD, the PPR of each
 * family. Tables that this kernel's version of libpfm4 does not have are skipped, and all of them
 * if it was built without libpfm4. */
#include "hpm/events/generic.h"

#define INTEL        0x756e6547 /* "Genu" */
#define AMD          0x68747541 /* "Auth" */
#define ANY_STEPPING 0, EVENT_ANY
#define ONE(model)   model, model

const struct event_choice event_choices[] = {
    {INTEL, 6, ONE(0x4e), ANY_STEPPING, "skylake"},
    {INTEL, 6, ONE(0x5e), ANY_STEPPING, "skylake"},
    {INTEL, 6, ONE(0x8e), ANY_STEPPING, "skylake"}, /* Kaby Lake, Coffee Lake, Whiskey Lake */
    {INTEL, 6, ONE(0x9e), ANY_STEPPING, "skylake"},
    {INTEL, 6, 0xa5, 0xa6, ANY_STEPPING, "skylake"}, /* Comet Lake */
    {INTEL, 6, ONE(0x55), 0, 4, "skylake-sp"},
    {INTEL, 6, ONE(0x55), 5, EVENT_ANY, "cascadelake"}, /* also Cooper Lake */
    {INTEL, 6, 0x7d, 0x7e, ANY_STEPPING, "icelake"},
    {INTEL, 6, ONE(0x9d), ANY_STEPPING, "icelake"},
    {INTEL, 6, 0x8c, 0x8d, ANY_STEPPING, "icelake"}, /* Tiger Lake */
    {INTEL, 6, ONE(0xa7), ANY_STEPPING, "icelake"},  /* Rocket Lake */
    {INTEL, 6, ONE(0x6a), ANY_STEPPING, "icelake-sp"},
    {INTEL, 6, ONE(0x6c), ANY_STEPPING, "icelake-sp"},
    {INTEL, 6, ONE(0x8f), ANY_STEPPING, "sapphirerapids"},
    {INTEL, 6, ONE(0xcf), ANY_STEPPING, "sapphirerapids"}, /* Emerald Rapids: the same core */
    {INTEL, 6, 0xad, 0xae, ANY_STEPPING, "graniterapids"},
    {INTEL, 6, 0, EVENT_ANY, ANY_STEPPING, "intel-architectural"},
    {AMD, 0x17, 0x30, 0xff, ANY_STEPPING, "zen2"},
    {AMD, 0x19, 0x00, 0x0f, ANY_STEPPING, "zen3"},
    {AMD, 0x19, 0x20, 0x5f, ANY_STEPPING, "zen3"},
    {AMD, 0x19, 0x10, 0x1f, ANY_STEPPING, "zen4"},
    {AMD, 0x19, 0x60, 0xaf, ANY_STEPPING, "zen4"},
    {AMD, 0x1a, 0x00, 0x4f, ANY_STEPPING, "zen5"},
    {AMD, 0x1a, 0x60, 0x7f, ANY_STEPPING, "zen5"},
    {AMD, EVENT_ANY, 0, EVENT_ANY, ANY_STEPPING, "amd-common"},
    {0, 0, 0, 0, 0, 0, NULL},
};

const struct event_generic_map event_generic_maps[] = {
    {"skylake", generic_skylake},
    {"skylake-sp", generic_skylake_sp},
    {"cascadelake", generic_skylake_sp},
    {"icelake", generic_icelake},
    {"icelake-sp", generic_icelake_sp},
    {"sapphirerapids", generic_sapphirerapids},
    {"graniterapids", generic_sapphirerapids},
    {"intel-architectural", generic_intel},
    {"zen2", generic_zen2},
    {"zen3", generic_zen3},
    {"zen4", generic_zen4},
    {"zen5", generic_zen4},
    {"amd-common", generic_amd},
    {"model", generic_model},
    {NULL, NULL},
};
