/*
 * A network card under lwIP. It belongs to one instance, whose lock guards lwIP's part of it: the
 * functions of struct net_instance lead there. card.c is linked once for each instance.
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/dev/net/net_device.h"
#include "kernel/net/lwip/frame.h"
#include "lwip/netif.h"

struct net_instance;
struct net_sending; /* a frame on its way out */

/* [I]: the instance's lock. */
struct net_card {
    struct net_device *device;       /* [-] */
    const struct net_instance *home; /* [-] */
    uint64_t ip, gateway;            /* [-] as arguments have them; ip 0: a DHCP server tells */
    struct netif netif;              /* [I] */
    struct spinlock tx;
    struct net_sending *free;        /* [tx] frames that are not on their way */
    uint64_t frames[FRAME_VERDICTS]; /* [I] received ones */
    uint64_t no_room;                /* [I] frames that were not sent: none was free */
};

/* Takes frames that carry parts of packets (boot argument net.fragments). */
extern uint64_t net_fragments;
