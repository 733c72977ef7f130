/* Datagrams: UDP, between lwIP and the sockets of programs. Members as in stream.h. */
#pragma once
#include "kernel/lib/list.h"
#include "kernel/net/lwip/address.h"
#include "kernel/net/lwip/instance.h"

struct pbuf;
struct udp_pcb;
struct net_port;

struct net_port_owner {
    void (*changed)(struct net_port *t, unsigned mask); /* as net_stream_owner's */
    /* A datagram was refused where it went to. Instance's lock held. */
    void (*refused)(struct net_port *t);
};

/* One that was received. */
struct net_datagram {
    struct list in_queue;
    struct net_address from;
    uint32_t to;        /* address, in the order of the network */
    uint32_t interface; /* that it came by: its number, from 1 on */
    uint64_t stamp_ns;  /* date */
    uint32_t bytes;
    uint8_t data[];
};

struct net_port {
    const struct net_port_owner *owner;        /* [-] */
    struct spinlock *lock;                     /* [-] the owner's */
    struct udp_pcb *pcb;                       /* [I] */
    struct net_address own, peer;              /* [L] peer.port 0: it is not connected */
    struct list queue;                         /* [L] of datagrams */
    uint64_t queued;                           /* [L] bytes of memory in it */
    uint64_t room;                             /* [L] for them */
    uint64_t dropped;                          /* [L] datagrams for which there was none */
    bool reuse_address, reuse_port, broadcast; /* [L] */
    uint8_t ttl, tos;                          /* [L] */
};

void net_port_init(struct net_port *t);
/* Thread context, no lock held, all that follow. Return 0 or a negative number, as bind(2),
 * connect(2), sendto(2). */
int net_port_bind(struct net_port *t, const struct net_address *own);
int net_port_connect(struct net_port *t, const struct net_address *peer); /* NULL: none */
/* Sends n bytes; `to` NULL: to its peer. */
int net_port_send(struct net_port *t, const struct net_address *to, const void *data, uint32_t n);
void net_port_close(struct net_port *t);
/* ---- For instances --------------------------------------------------------------------------- */
/* ICMP says that a datagram of a PCB was refused. Instance's lock held. */
void net_port_refused(struct udp_pcb *pcb);

/* Largest datagram. */
#define NET_DATAGRAM_MAX 65507u
