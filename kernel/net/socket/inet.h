/*
 * Sockets of AF_INET: streams over TCP and datagrams over UDP, by the network's instance
 * (kernel/net/lwip). [S] = the socket's lock, [I] = the instance's, [-] = fixed.
 */
#pragma once
#include "kernel/net/lwip/datagram.h"
#include "kernel/net/lwip/stream.h"
#include "kernel/net/socket/socket.h"

/* Options of levels IPPROTO_IP and IPPROTO_TCP, as they are set. */
struct inet_options {
    int tos, ttl, mtu_discover, receive_error, packet_info, no_port, free_bind;
    int multicast_ttl, multicast_loop;
    int no_delay, cork, idle_s, interval_s, probes, syn_count, linger2_s, defer_accept_s;
    int window_clamp, quick_ack, user_timeout_ms, fast_open;
};

struct inet_socket {
    struct socket s;
    struct inet_options options; /* [S] */
    struct mutex reading;        /* turn to take from what was received */
    struct mutex sending;        /* turn to add to what is sent, to bind, listen and connect */
    bool told;                   /* [S] a connect has said that it is connected */
    unsigned backlog;            /* [S] */
    union {
        struct net_stream stream;
        struct net_port port;
    };
};

static inline struct inet_socket *inet_of(struct socket *s)
{
    return container_of(s, struct inet_socket, s);
}

extern const struct socket_family inet_family;
extern const struct socket_ops inet_stream_ops, inet_datagram_ops;

/* inet.c. Takes an address of a call. Returns 0; -EINVAL; -EAFNOSUPPORT. */
int inet_take_address(const struct socket_address *a, struct net_address *out);
void inet_put_address(const struct net_address *a, struct socket_address *out);
/* Prepares a socket that was made, by type. */
void inet_init_stream(struct inet_socket *n);
void inet_init_datagram(struct inet_socket *n);
int inet_bind(struct socket *s, const struct socket_address *at, const struct socket_caller *by);
int64_t inet_ioctl(struct socket *s, uint32_t request, vaddr_t arg);

/* What the tables of sockets tell (/proc/net/tcp, /proc/net/udp). */
struct inet_state {
    struct net_address own, peer;
    uint8_t state;             /* NET_*; of a datagram socket with a peer NET_ESTABLISHED */
    uint64_t to_send, to_read; /* bytes; of a listener: its backlog, connections that wait */
    uint64_t dropped;          /* datagrams */
};
void inet_state(struct socket *s, struct inet_state *out);

/* inet_options.c */
/* Returns the state, NET_*. Lock held. */
uint8_t inet_stream_state(const struct net_stream *t);
void inet_default_options(struct inet_options *o);
int inet_get_option(struct socket *s, int level, int name, void *out, unsigned *bytes);
int inet_set_option(struct socket *s, int level, int name, const void *value, unsigned bytes);
/* Tells the stream or port what its options are. */
void inet_apply_options(struct socket *s, int name);
