/*
 * Who gets what is left of lwIP's memory. Connections begin while a quarter is left, and data is
 * queued while an eighth is: what remains is for acknowledgements, which free memory, and for the
 * small pieces with which connections end and go on.
 */
#pragma once
#include "kernel/lib/base.h"

#define NET_DATA_BYTES 768 /* larger pieces are data, or tables that can do without */

/* Returns whether a piece fits, of a limit of which some is used. */
static inline bool net_has_room(uint64_t limit, uint64_t used, uint64_t bytes)
{
    uint64_t top = bytes > NET_DATA_BYTES ? limit - limit / 8 : limit;

    return bytes <= top && used <= top - bytes;
}

/* Returns whether no connection may begin. */
static inline bool net_is_short(uint64_t limit, uint64_t used)
{
    return used > limit - limit / 4;
}
