/*
 * Looks at a frame before lwIP does: every length that lwIP trusts is checked against the bytes
 * that are there, and what has no business on a wire is refused. Ethernet with ARP or IPv4. Pure.
 *
 * Headers must be in the frame's first buffer: Ethernet's, IPv4's with its options, and TCP's with
 * its options, UDP's or ICMP's. lwIP reads them there. Of a later fragment of UDP, it reads eight
 * bytes: a shorter one is refused, unless Ethernet's padding follows it.
 */
#pragma once
#include "kernel/lib/base.h"

enum net_verdict {
    FRAME_ACCEPTED,
    FRAME_SHORT,      /* shorter than Ethernet's header */
    FRAME_TYPE,       /* neither ARP nor IPv4 */
    FRAME_MAC,        /* sent by a group's Ethernet address */
    FRAME_ARP_SHORT,  /* ARP: less than 28 bytes */
    FRAME_ARP_KIND,   /* ARP: not of Ethernet and IPv4 */
    FRAME_ARP_SENDER, /* ARP: sender's addresses are a group's, or of the loopback network */
    FRAME_IP_SHORT,   /* IPv4: less than 20 bytes */
    FRAME_VERSION,    /* IPv4: another version */
    FRAME_IP_HEADER,  /* header length below 20, or beyond the packet */
    FRAME_IP_LENGTH,  /* total length beyond the frame */
    FRAME_OPTIONS,    /* an option's length is 0, 1 or beyond the header */
    FRAME_ROUTE,      /* a source route */
    FRAME_SOURCE,     /* source: zero, loopback, multicast or broadcast */
    FRAME_TARGET,     /* destination: zero or loopback */
    FRAME_FRAGMENT,   /* a fragment, though none are accepted */
    FRAME_PIECE, /* a fragment that ends beyond 65,535 bytes, is empty, or splits TCP's header */
    FRAME_TCP,   /* TCP: header length below 20, or beyond the packet */
    FRAME_TCP_OPTIONS, /* TCP: an option's length is 0, 1 or beyond the header */
    FRAME_TCP_GROUP,   /* TCP to a group: Ethernet's or IPv4's destination */
    FRAME_UDP,         /* UDP: length below 8, or beyond the packet */
    FRAME_ICMP,        /* ICMP: less than 8 bytes */
    FRAME_SPLIT,       /* headers go on in the second buffer */
    FRAME_VERDICTS
};

/* A name for each verdict. */
extern const char *const net_verdicts[FRAME_VERDICTS];

/* Checks a frame of `bytes` bytes, without Ethernet's checksum, of which the first `here` are at
 * `first`. `fragments`: IPv4 fragments are accepted. */
enum net_verdict net_frame_check(const uint8_t *first, size_t here, size_t bytes, bool fragments);

/* The two ends of a connection, as the receiver of its packets sees them: in the order of bytes of
 * the network. */
struct net_ends {
    uint8_t source[4], target[4];
    uint8_t source_port[2], target_port[2];
};

/* Returns net_hash() of a connection's ends, as a network device computes it for TCP. */
uint32_t net_frame_hash_ends(const struct net_ends *ends);
/* Returns net_hash() of an accepted frame, by which its instance is chosen: of the ends for TCP, of
 * the addresses for fragments and other packets of IPv4; 0 for ARP. */
uint32_t net_frame_hash(const uint8_t *first);
