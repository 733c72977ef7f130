/*
 * Streams: connections of TCP and those that wait for them, between lwIP and the sockets of
 * programs. A connection belongs to one instance. What is bound holds its port in all of them, by
 * a branch in each but its own, and so a listener listens in all. Data that is sent lies in chunks,
 * which lwIP refers to until the other end has acknowledged it; data that was received stays in
 * lwIP's buffers until a program has read it.
 *
 * Two ends on this machine are fused (fusion.c): what one sends is put straight into the chunks
 * that the other receives. lwIP has made the connection and will end it, but sees no data.
 *
 * Members: [I] the instance's lock, [L] the owner's lock, [bind] that of streams.c, [A] atomic,
 * [-] fixed.
 */
#pragma once
#include "kernel/net/lwip/address.h"
#include "kernel/net/lwip/instance.h"
#include "kernel/lib/list.h"
#include "kernel/mem/account.h"

struct pbuf;
struct tcp_pcb;
struct net_stream;

enum net_stream_state {
    STREAM_NEW,
    STREAM_CONNECTS,
    STREAM_CONNECTED,
    STREAM_LISTENS,
    STREAM_ENDED, /* it was connected, or should have been; error says more */
};

/* Directions that have ended; bits of `shut`. */
enum { STREAM_RECEIVE = 1, STREAM_SEND = 2, STREAM_BOTH = 3 };

/* What a stream's task is asked for; bits. */
enum { STREAM_GO = 1, STREAM_ACCEPTED = 2 };

/* What a stream asks of its owner. */
struct net_stream_owner {
    /* Something that poll returns has changed for `mask`. Instance's and owner's lock held. */
    void (*changed)(struct net_stream *t, unsigned mask);
    /* Makes a stream for a connection to `listener`, with one reference, which the listener's list
     * gets, or returns NULL. Instance's lock held. */
    struct net_stream *(*make)(struct net_stream *listener);
    void (*keep)(struct net_stream *t); /* references; any context, as the next */
    void (*let_go)(struct net_stream *t);
};

/* Data on its way out; or, passed on by the other end, to be read. */
struct net_chunk {
    struct net_chunk *next;
    uint32_t bytes;   /* of `data` */
    uint32_t written; /* [I] given to lwIP */
    uint32_t acked;   /* [I] acknowledged, or read */
    uint32_t charged; /* to the account of the end that sends it */
    uint8_t data[];
};
#define NET_CHUNK_MAX ((uint32_t)(16 * KIB - sizeof(struct net_chunk)))

struct net_stream_options {
    bool reuse_address, reuse_port, keep_alive, no_delay;
    uint32_t idle_s, interval_s, probes; /* of keep_alive */
    uint8_t ttl, tos;
};

struct net_stream {
    const struct net_stream_owner *owner; /* [-] */
    struct spinlock *lock;                /* [-] the owner's */
    struct memory_account *account;       /* [-] */
    const struct net_instance *home;      /* [L] fixed while the stream has a port; or NULL */
    struct net_stream *main;              /* [-] of a branch: the owner's stream; else NULL */
    struct net_stream *branches;          /* [bind] in the other instances, or NULL */
    struct net_task task;
    struct tcp_pcb *pcb;          /* [I] NULL: none yet, or none any more */
    bool ending;                  /* [I] lwIP ends it, and refers to chunks still */
    enum net_stream_state state;  /* [L] */
    unsigned shut;                /* [L] STREAM_* */
    bool finished;                /* [L] the other end has said that it sends no more */
    int error;                    /* [L] negative, of how it ended; taken by net_stream_error() */
    bool joined;                  /* [L] it has been connected, and will not be again */
    bool closed;                  /* [L] its owner has closed it */
    bool resets;                  /* [L] it ends by a reset */
    struct net_address own, peer; /* [L] */
    uint32_t connector; /* [-] pid of the process that connects or has connected; 0: elsewhere */
    struct net_stream_options options; /* [L] */

    struct pbuf *received; /* [L] a chain; parts of it that were read have been cut off */
    struct pbuf *last;     /* [L] of the chain */
    uint64_t queued;       /* [L] bytes in it, and in what was passed; also read without [L] */
    struct pbuf *read;     /* [L] parts that were read, to be freed: a chain */
    uint32_t read_bytes;   /* [L] of which lwIP has not been told */

    struct net_stream *fused; /* [L] referenced: the other end, which is on this machine; or NULL */
    struct net_chunk *passed, *passed_last; /* [L] from it, oldest first; read before `received` */
    struct memory_account *passed_account;  /* [-] referenced: the other end's; or NULL */
    bool filling;         /* [L] the other end writes into passed_last, behind its bytes */
    uint64_t room_wanted; /* [A] tell the owner when the other end has less than that to read;
                             0: do not */

    struct net_chunk *sent, *sent_last; /* [L] oldest first; freed when acknowledged */
    struct net_chunk *unwritten;        /* [L] the first that lwIP has not got whole */
    uint64_t unacked;                   /* [L] bytes in all of them */

    struct list pending;    /* [L] connections to be accepted: in_pending; referenced */
    struct list in_pending; /* [L of listener] */
    unsigned waiting;       /* [L] number in `pending` */
};

/* Initialises one whose `owner`, `lock`, `account` are given. */
void net_stream_init(struct net_stream *t);
/* bind(2), listen(2). These and net_stream_connect() are called for a stream one at a time, in the
 * turn to send. Thread context, no lock held. Return 0; -EINVAL; -EADDRINUSE; -ENOBUFS;
 * -EADDRNOTAVAIL. */
int net_stream_bind(struct net_stream *t, const struct net_address *own);
int net_stream_listen(struct net_stream *t, unsigned backlog);
/* Begins to connect: STREAM_CONNECTS, or a later state already. Thread context, no lock held.
 * Returns 0; -EISCONN, -EALREADY, -ENETUNREACH, -EADDRNOTAVAIL, -ENOBUFS, ... */
int net_stream_connect(struct net_stream *t, const struct net_address *peer);
/* Takes a connection that waits, or returns NULL. Its reference becomes the caller's. Owner's lock
 * held. */
struct net_stream *net_stream_accept(struct net_stream *t);
/* The same, after the lock was given back. No lock held. */
void net_stream_accepted(struct net_stream *t);
/* Where a part of what is sent is to be written. */
struct net_stream_part {
    struct net_stream *to; /* referenced: the fused end; NULL: it goes to lwIP */
    struct net_chunk *chunk;
    bool is_new; /* of the chunk: it is in no list */
    uint8_t *data;
    uint32_t bytes;
};
/* Begins a part. Parts are sent one at a time, by a caller that has the turn to send; shutdown and
 * close have that turn, too. Owner's lock held. */
void net_stream_begin(struct net_stream *t, struct net_stream_part *part);
/* Makes room for at most n bytes. Returns 0; -ENOBUFS: the part has ended. No lock held. */
int net_stream_reserve(struct net_stream *t, uint64_t n, struct net_stream_part *part);
/* Sends what was written to the part. Returns 0; -EPIPE: the stream sends nothing more; -ENOBUFS.
 * Thread context, no lock held. */
int net_stream_commit(struct net_stream *t, struct net_stream_part *part);
void net_stream_drop(struct net_stream *t, struct net_stream_part *part); /* instead of that */
/* Returns whether fewer than `most` bytes are on their way. If not, the owner hears of it when they
 * are fewer than `low`, at most `most`. Owner's lock held. */
bool net_stream_has_room(struct net_stream *t, uint64_t most, uint64_t low);
void net_stream_go(struct net_stream *t); /* no lock held */
/* Finds what was received, behind the first `skip` bytes: stores where it lies and returns how many
 * bytes lie there; 0: there is no more. They stay until net_stream_take(). Owner's lock held. */
uint64_t net_stream_look(const struct net_stream *t, uint64_t skip, const void **from);
/* Takes n bytes, which were read, off the received ones. Returns whether net_stream_go() is to be
 * called: the other end may wait for room. Thread context, no lock held. */
bool net_stream_take(struct net_stream *t, uint64_t n);
/* Ends a direction. Thread context, no lock held. */
void net_stream_shutdown(struct net_stream *t, unsigned how);
/* Ends all: what is queued is still sent, unless it `resets` or received data was not read. Thread
 * context, no lock held. */
void net_stream_close(struct net_stream *t, bool resets);
/* Frees a stream's branches in other instances. The stream has no reference, and no instance refers
 * to it or to them. Any context. */
void net_stream_release(struct net_stream *t);
/* Applies `options` that have changed. Thread context, no lock held. */
void net_stream_set_options(struct net_stream *t);
/* What TCP_MAXSEG tells: bytes of a segment. Thread context, no lock held. */
uint32_t net_stream_segment(struct net_stream *t);

/* ---- For instances --------------------------------------------------------------------------- */
/* Makes an instance the home of a stream that has none. Its lock or the owner's held, or none when
 * no other thread knows of the stream. */
void net_stream_settle(struct net_stream *t, const struct net_instance *home);
