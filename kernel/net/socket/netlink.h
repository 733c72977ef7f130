/*
 * Sockets of AF_NETLINK, of protocol NETLINK_ROUTE: programs ask for interfaces, addresses and
 * routes, and read answers from a queue. Nothing is changed by them, and changes are not told of.
 */
#pragma once
#include "kernel/lib/list.h"
#include "kernel/net/socket/socket.h"

extern const struct socket_family netlink_family;

/* Messages for a program: what one receive gets. */
struct netlink_answer {
    struct list in_queue;
    uint32_t bytes; /* of `data`; multiples of 4 */
    uint8_t data[];
};
#define NETLINK_ANSWER_MAX 4096 /* bytes of `data`: all interfaces fit */

struct netlink_request {
    uint32_t port, sequence; /* of who asks, which answers repeat */
    uint16_t type;           /* RTM_* */
    uint8_t family;          /* AF_*; 0: any */
    uint32_t index;          /* of an interface; 0: none named */
    const char *name;        /* of one, `name_bytes` long, or NULL */
    unsigned name_bytes;
    bool dumps; /* all of them */
};

/* netlink_route.c: appends what is asked for to an answer. Returns 0, or what is wrong: -ENODEV,
 * -EOPNOTSUPP. Thread context, no lock held. */
int netlink_route(const struct netlink_request *r, struct netlink_answer *a);

/* Appends a message's head, and ends it when its parts are there. Returns where it begins. */
uint32_t netlink_begin(struct netlink_answer *a, const struct netlink_request *r, uint16_t type,
                       uint16_t flags, const void *first, size_t bytes);
void netlink_end(struct netlink_answer *a, uint32_t begin);
