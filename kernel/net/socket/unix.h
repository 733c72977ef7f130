/*
 * Sockets of AF_UNIX, for the unix*.c of this folder.
 *
 * What is sent lies in packets, in the queue of the socket that receives. A packet is charged to
 * the socket that has sent it (SO_SNDBUF, and its maker's account) until it was received, and
 * references that socket. A pair that is connected reference each other; the first close ends that.
 *
 * [S] = lock of the socket, [S'] = lock of the one named, [R] = rights_turn, [-] = fixed.
 */
#pragma once
#include "kernel/net/socket/socket.h"

#define UNIX_QUEUE 10 /* datagrams that wait, and one more, of others than its peer */

enum unix_state { UNIX_ALONE, UNIX_CONNECTED, UNIX_LISTENS };
/* Bits of what is shut: it receives, it sends nothing more. */
enum { UNIX_RECEIVE = 1, UNIX_SEND = 2, UNIX_BOTH = 3 };

struct unix_name {
    uint32_t refs;  /* [A] */
    uint32_t bytes; /* of the address */
    struct sockaddr_un is;
    int type;               /* abstract names of one type are unlike each other */
    struct vnode *node;     /* of a path, referenced; NULL: it is abstract */
    struct unix_socket *of; /* table's lock: bound to it, not referenced; NULL: closed */
    struct list in_bucket;  /* table's lock */
};

struct unix_packet {
    struct list in_queue;     /* [S' receives it] */
    struct unix_socket *from; /* referenced */
    struct socket_credentials credentials;
    struct socket_rights *rights; /* or NULL; taken by a receiver, or with [R] */
    uint64_t stamp_ns;            /* date */
    uint32_t bytes, taken;        /* of `data`; received so far, by the turn to read */
    uint32_t charged;
    char *data; /* behind this structure, or an area */
};

struct unix_socket {
    struct socket s;
    enum unix_state state;          /* [S] */
    unsigned shut;                  /* [S] */
    bool dead;                      /* [S] closed */
    struct unix_socket *peer;       /* [S] referenced; what it sends to */
    struct unix_name *name;         /* [S] referenced, never changed again */
    struct list queue;              /* [S] of packets */
    struct list pending;            /* [S] connections to be accepted: in_pending, referenced */
    struct list in_pending;         /* [S' listens] */
    unsigned queued;                /* [S] in one of both */
    uint64_t queued_bytes;          /* [S] not yet received */
    unsigned backlog;               /* [S] more than that wait: it is full */
    struct wait_queue senders;      /* [S] wait until it is not full */
    struct list refused;            /* [S] in_refused: sockets that found it full */
    struct list in_refused;         /* [S' refused_by] referenced while in it */
    struct unix_socket *refused_by; /* its lock */
    uint64_t sent;                  /* [S] charged for packets that wait elsewhere */
    uint64_t reserved;              /* [S] charged to the account for that */
    struct mutex reading;           /* turn to take from the queue */
    struct file *file;              /* [R] while it is in flight */
    unsigned in_flight;             /* [R] packets that have its file, as often as they do */
    struct list in_all_flights;     /* [R] */
    unsigned outside;               /* [R] unix_rights.c */
    bool candidate, reached;        /* [R] unix_rights.c */
    struct list to_visit;           /* [R] unix_rights.c */
};

static inline struct unix_socket *unix_of(struct socket *s)
{
    return container_of(s, struct unix_socket, s);
}

/* ---- unix.c ---------------------------------------------------------------------------------- */
extern const struct socket_family unix_family;
/* Returns the socket that u sends to, referenced, or NULL. */
struct unix_socket *unix_peer(struct unix_socket *u);

/* ---- unix_name.c ----------------------------------------------------------------------------- */
/* Checks an address. Returns 0 or -EINVAL. */
int unix_check_address(const struct socket_address *a);
/* Binds u. Errors as bind(2). */
int unix_bind(struct socket *s, const struct socket_address *at, const struct socket_caller *by);
int unix_autobind(struct unix_socket *u); /* unless it has a name */
/* Finds the socket of a type that is bound to an address. Returns 0 with a reference;
 * -ECONNREFUSED; -EPROTOTYPE; or an error of the path. */
int unix_find(const struct socket_address *a, int type, const struct socket_caller *by,
              struct unix_socket **out);
/* Takes the name of a socket that is closed out of the table. */
void unix_unbind(struct unix_socket *u);
struct unix_name *unix_name_get(struct unix_name *n);
void unix_name_put(struct unix_name *n); /* of NULL: nothing */
/* Stores u's address, or that it has none: as getsockname(2), or, `bare`, as recvfrom(2). */
void unix_put_address(struct unix_socket *u, struct socket_address *out, bool bare);

/* ---- unix_packet.c --------------------------------------------------------------------------- */
/* The largest part of a stream that makes one packet. */
uint32_t unix_part_max(struct unix_socket *u);
/* Waits until u may send, and makes a packet of n bytes out of m, with rights and credentials of m
 * if `first`. Returns 0; -EPIPE: it is shut; -EAGAIN, -EINTR, ...; -EFAULT; -ENOBUFS;
 * -ETOOMANYREFS. */
int unix_make_packet(struct unix_socket *u, struct socket_message *m, uint32_t n, bool first,
                     uint64_t deadline_ns, struct unix_packet **out);
/* Puts it into the queue of a socket. Lock of `to` held; with rights also rights_turn. */
void unix_put_packet_locked(struct unix_socket *to, struct unix_packet *p);
/* Frees packets that are in no queue: the list's, or one. No lock held. */
void unix_free_packets(struct list *packets);
void unix_free_packet(struct unix_packet *p);
/* Takes a packet out of u's queue, all of which was received. Lock held. */
void unix_remove_packet_locked(struct unix_socket *u, struct unix_packet *p);
/* Takes all packets of u's queue. No lock held. */
void unix_take_packets(struct unix_socket *u, struct list *out);
/* Tells m what comes with p. */
void unix_tell_source(struct unix_socket *u, const struct unix_packet *p, struct socket_message *m);

/* ---- unix_stream.c, unix_datagram.c ---------------------------------------------------------- */
int64_t unix_send_stream(struct socket *s, struct socket_message *m, unsigned flags);
int64_t unix_receive_stream(struct socket *s, struct socket_message *m, unsigned flags);
int unix_connect_stream(struct socket *s, const struct socket_address *to, bool nonblock,
                        const struct socket_caller *by);
int unix_accept(struct socket *s, bool nonblock, const struct socket_caller *by,
                struct socket **out);
int64_t unix_send_datagram(struct socket *s, struct socket_message *m, unsigned flags);
int64_t unix_receive_datagram(struct socket *s, struct socket_message *m, unsigned flags);
int64_t unix_send_seqpacket(struct socket *s, struct socket_message *m, unsigned flags);
int64_t unix_receive_seqpacket(struct socket *s, struct socket_message *m, unsigned flags);
int unix_connect_datagram(struct socket *s, const struct socket_address *to, bool nonblock,
                          const struct socket_caller *by);
unsigned unix_poll_stream(struct socket *s);
unsigned unix_poll_datagram(struct socket *s);
/* Tells those that have found u full, if it is no more: that wait, and that poll. Lock held, and
 * released. */
void unix_not_full_unlock(struct unix_socket *u, bool irq);
void unix_tell_refused(struct unix_socket *u); /* those that poll; no lock held */
/* u does not send to `to` any more. */
void unix_leave_refused(struct unix_socket *u, struct unix_socket *to);

/* ---- unix_rights.c: descriptors in flight ---------------------------------------------------- */
extern struct mutex rights_turn;
/* Checks that u may have the files of p in flight, and charges for them. Returns 0,
 * -ETOOMANYREFS or -ENOBUFS. */
int unix_charge_rights(struct unix_socket *u, const struct socket_rights *r,
                       const struct socket_caller *by);
void unix_uncharge_rights(struct unix_socket *u, unsigned n);
/* The files of p are in flight from now on: p enters a queue. rights_turn held. */
void unix_rights_leave(const struct unix_packet *p);
/* The files of p, which has left its queue, are in flight no more. */
void unix_rights_land(const struct unix_packet *p);
/* Takes the files of a packet that is received; or, if it is only looked at, makes a copy. Returns
 * NULL if there are none, or without memory. */
struct socket_rights *unix_rights_arrive(struct unix_packet *p, bool looked_at);
/* Closes files that no process can ever receive, as they are in flight to each other only. */
void unix_collect(void);
