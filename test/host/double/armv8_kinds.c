/* See armv8_kinds.h. */
#include "test/host/double/armv8_kinds.h"

const struct armv8_kind armv8_narrow = {.version = 1,
                                        .counters = 6,
                                        .ceid0 = CEID(0x00) | CEID(0x01) | CEID(0x03) | CEID(0x08) |
                                                 CEID(0x10) | CEID(0x11) | CEID(0x17),
                                        .ceid1 = CEID(0x22) | 0x40};
const struct armv8_kind armv8_bare = {
    .version = 1, .counters = 6, .ceid0 = CEID(0x00) | CEID(0x11)};
const struct armv8_kind armv8_wide = {
    .version = 6, .counters = 6, .ceid0 = 0xffffffff7fffffff, .ceid1 = 0xffffffffffffffff};
const struct armv8_kind armv8_few = {.version = 6,
                                     .counters = 6,
                                     .ceid0 = CEID(0x08) | CEID(0x11),
                                     .ceid1 = CEID(0x23) | CEID(0x24)};
