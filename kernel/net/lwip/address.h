/* An end of a connection: an address of IPv4 and a port. */
#pragma once
#include "kernel/lib/base.h"

struct net_address {
    uint32_t ip;   /* in the order of the network; 0: any */
    uint16_t port; /* in the order of the host; 0: none */
};

/* States of TCP, as Linux numbers them. */
enum {
    NET_ESTABLISHED = 1,
    NET_SYN_SENT,
    NET_SYN_RECV,
    NET_FIN_WAIT1,
    NET_FIN_WAIT2,
    NET_TIME_WAIT,
    NET_CLOSE,
    NET_CLOSE_WAIT,
    NET_LAST_ACK,
    NET_LISTEN,
    NET_CLOSING,
    NET_STATES
};

#define NET_LOOPBACK __builtin_bswap32(0x7f000001u)
/* Returns the error number of one of lwIP's, negative or 0. */
int net_error(int of_lwip);
/* Returns whether the address is one of this host's. Instance's lock held or not. */
bool net_is_own(uint32_t ip);
