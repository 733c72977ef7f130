/*
 * The interfaces to the world: network cards under lwIP, each with an address of its own. Boot
 * arguments `net.*`.
 */
#pragma once
#include "kernel/core/cmdline.h"

extern const struct arg net_args[];

enum { NET_CARDS = 2, NET_INTERFACES = 1 + NET_CARDS }; /* loopback comes first */

/* An interface as programs see it. Addresses are in the order of the network. */
struct net_interface {
    const char *name; /* as Linux calls them: lo, eth0, eth1 */
    bool loopback, up, running;
    uint32_t ip, mask, gateway; /* 0: none */
    unsigned mtu;
    uint8_t mac[6];
    uint64_t received, received_bytes, received_bad, received_dropped;
    uint64_t sent, sent_bytes, sent_dropped;
};
/* Reads interface `index`, from 0 on. Returns false if there is none. Thread context, no lock held.
 */
bool net_interface(unsigned index, struct net_interface *out);
/* Stores the addresses, in the order of the network, of up to two servers that know names: of the
 * argument net.dns, or that a DHCP server has named. Returns how many. Any context. */
unsigned net_name_servers(uint32_t out[2]);
bool net_by_dhcp(void); /* the first card's address comes from a DHCP server */
/* Calls tell() for each reason for which frames were refused or not sent, with their number. Thread
 * context. */
void net_interface_drops(void (*tell)(void *to, const char *reason, uint64_t frames), void *to);
/* Returns the instance whose card has this address, or leads to it: card k belongs to instance k
 * modulo their number; 0, any address: instance 0. Any context. */
struct net_instance;
const struct net_instance *net_instance_for(uint32_t ip);
/* Opens the cards that the arguments name, if they are there, and gives them addresses. Waits
 * for one by DHCP, for a few seconds. Prints what there is, or what is wrong. Boot, once, after
 * the cards were found. Thread context. */
void net_interface_start(void);
/* Prints how many frames were refused, and why, if any were. Thread context. */
void net_interface_report(void);
