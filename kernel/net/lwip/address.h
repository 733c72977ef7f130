/* An end of a connection: an address of IPv4 and a port. */
#pragma once
#include "kernel/lib/base.h"

struct net_address {
    uint32_t ip;   /* in the order of the network; 0: any */
    uint16_t port; /* in the order of the host; 0: none */
};

#define NET_LOOPBACK __builtin_bswap32(0x7f000001u)
/* Returns the error number of one of lwIP's, negative or 0. */
int net_error(int of_lwip);
/* Returns whether the address is one of this host's. Instance's lock held or not. */
bool net_is_own(uint32_t ip);
