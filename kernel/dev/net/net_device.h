/*
 * Network devices: cards and their like, for a network stack. A device sends and receives Ethernet
 * frames, through one or more queues; each queue has a receive ring, a transmit ring, an interrupt
 * and a thread, net/K. The interrupt wakes the thread and is masked; the thread takes up to
 * NET_BATCH frames at a time, until there are none, and unmasks it.
 *
 * Received frames are in buffers of the queue, which the stack keeps as long as it needs them. The
 * receive ring is always full: a frame that arrives while the queue has no buffer to put in its
 * place is dropped, and counted. Sent frames are parts of the stack's own memory, which stays until
 * done() is called.
 *
 * Frames are checked here, so that drivers need not: lengths, parts, places of checksums. What is
 * inside of a frame that was received is not checked.
 *
 * Locks, all of a queue: `send` (rank LOCK_NIC) guards its transmit ring and the frames in flight;
 * `pool` (rank LOCK_NIC, never held with `send`) its free buffers; `wake` (LOCK_THREAD) the
 * thread's sleep; the mutex `work` its receive ring: the thread holds it while it works, and calls
 * handlers with it. The device's mutex `control` is held while it is opened, closed and reset.
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/lib/list.h"
#include "sched/sched.h"

#define NET_QUEUES_MAX    8
#define NET_BATCH         64 /* frames that a handler gets at once, at most */
#define NET_PARTS_MAX     16 /* of a frame to be sent */
#define NET_MAC_BYTES     6
#define NET_HEADER_BYTES  14 /* of Ethernet */
#define NET_NAME_MAX      16
#define NET_BUFFER_BYTES  2048 /* stride of buffers; two in a page */
#define NET_BUFFER_MARGIN 64   /* of which the stack may write the first, in front of a frame */
#define NET_OWNER_BYTES   64
#define NET_RSS_KEY_BYTES 40
#define NET_RSS_ENTRIES   128

struct net_device;
struct net_queue;

/* ---- Receiving ------------------------------------------------------------------------------- */

/* What is known about a frame; flags of its first buffer. */
enum {
    /* The checksum of TCP or UDP was found right, or the frame has not left the host and has none:
     * it need not be checked. IPv4's header is not covered. */
    NET_CHECKED = 1,
    NET_HASHED = 2, /* `hash` is net_hash() of the frame's addresses and ports, or addresses */
};

/* A received frame, or a part of it. From receive() to net_free() its members up to `owner` are the
 * stack's; it may write to the bytes of the frame, and NET_BUFFER_MARGIN bytes in front of them. */
struct net_buffer {
    struct net_buffer *next; /* the rest of the frame, or NULL */
    uint8_t *data;           /* in the first buffer, data + NET_HEADER_BYTES is a multiple of 4 */
    uint32_t bytes;          /* in this buffer */
    uint32_t frame_bytes;    /* first buffer: of the whole frame, without checksum */
    uint32_t hash;           /* first buffer, with NET_HASHED */
    uint8_t flags;           /* first buffer: NET_CHECKED, ... */
    uint64_t
        owner[NET_OWNER_BYTES / 8] ALIGNED(16); /* for the stack's own use, undefined at first */

    /* Of net_device.c and the driver. */
    struct net_queue *queue; /* [-] */
    struct net_buffer *free; /* pool lock */
    uint8_t *memory;         /* [-] NET_BUFFER_BYTES of them */
};

/* What the stack wants to hear of a device. Called by threads of the device, each for its queue,
 * interrupts on, no spinlock held. They may sleep, but call nothing that opens, closes or resets
 * the device. */
struct net_handlers {
    /* Takes n frames, 1 to NET_BATCH, in the order of arrival; gives each back by net_free(), now
     * or later. */
    void (*receive)(void *arg, struct net_device *d, unsigned queue,
                    struct net_buffer *const *frames, unsigned n);
    /* The link has gone up, as soon after a reset or the opening as it is, or down: d->up. Or NULL.
     * By the thread of queue 0. */
    void (*link)(void *arg, struct net_device *d);
};

/* Gives back all buffers of a frame. Any context with locks of ranks below LOCK_NIC only, as long
 * as the device exists, also after net_close(). */
void net_free(struct net_buffer *frame);
/* Returns how many buffers of a queue are free. While that are few the stack should copy frames
 * rather than keep them. Any context. */
unsigned net_spare(const struct net_device *d, unsigned queue);

/* ---- Sending --------------------------------------------------------------------------------- */

struct net_part {
    paddr_t at; /* contiguous in physical memory; any alignment */
    uint32_t bytes;
};

/* A frame to be sent, without checksum of Ethernet. The caller owns it, and keeps it and its parts
 * until done() is called. */
struct net_send {
    struct net_part part[NET_PARTS_MAX];
    unsigned parts; /* 1 to NET_PARTS_MAX; none of them empty */
    /* The device adds 16-bit words from byte sum_from to the end and stores the complement at byte
     * sum_from + sum_at, which holds the sum of the pseudo-header, folded, not complemented. Only
     * if d->offloads has NET_MAKES_SUMS. */
    bool sum;
    uint16_t sum_from, sum_at;
    /* Called by the queue's thread, interrupts on, no spinlock held, never by net_send(). `status`:
     * 0: it was handed to the wire; -EIO: it was given up, as the device was reset or closed. May
     * sleep; may send; calls nothing that opens, closes or resets the device. net_close() and
     * net_reset() call it, too. */
    void (*done)(struct net_send *s, int status);
    void *owner; /* for done */

    /* Of net_device.c and the driver, from net_send() to done(). */
    struct list link;
    uint64_t since_ns;
    uint32_t bytes;
    int status;
    unsigned slots; /* of the transmit ring */
};

/* Sends n frames through a queue, in order. Returns how many were taken, from the first on; or, if
 * the first was not: -EAGAIN: the ring is full, and done() of another frame will follow; -EINVAL:
 * it is too short, too long, or wrong in itself; -ENETDOWN: the device is not open, or has failed.
 * A link that is down takes frames and drops them. Any context with locks of ranks below LOCK_NIC
 * only. */
int net_send(struct net_device *d, unsigned queue, struct net_send *const *frames, unsigned n);

/* ---- Devices --------------------------------------------------------------------------------- */

/* What a device does for the stack; bits of `offloads`. */
enum {
    NET_MAKES_SUMS = 1,  /* struct net_send's `sum` */
    NET_CHECKS_SUMS = 2, /* it may set NET_CHECKED */
    NET_SPREADS = 4,     /* it chooses the queue of a received frame by net_hash_queue() */
    NET_HASHES = 8,      /* it may set NET_HASHED */
};

struct net_stats {
    uint64_t received, received_bytes; /* frames that the stack got */
    uint64_t sent, sent_bytes;         /* frames that were handed to the wire */
    uint64_t no_buffer;                /* frames dropped as no buffer was free */
    uint64_t malformed;         /* frames dropped as too short, too long or reported broken */
    uint64_t missed;            /* frames that the device itself says it has dropped */
    uint64_t full;              /* calls of net_send() that found the ring full */
    uint64_t given_up;          /* frames that were not sent: reset, closed */
    uint64_t interrupts, polls; /* polls: batches, empty ones included */
    uint64_t resets;
};

/* Operations of a kind of device. */
struct net_ops {
    /* Sets up rings and interrupts, or sets them up again after stop(), fills the receive rings
     * with net_take()'s buffers, and begins; interrupts are masked. Thread context, `control` held.
     * Returns 0; -ENOMEM; or -EIO, and the reason was printed. */
    int (*start)(struct net_device *d);
    /* Stops the device: it accesses no memory when this returns. Gives buffers of receive rings
     * back by net_free(). Frames in flight are given back by the caller. Thread context; `control`
     * and each `work` held. */
    void (*stop)(struct net_device *d);
    /* Puts frames into the transmit ring and tells the device. Returns how many there was room for.
     * `send` held. */
    unsigned (*send)(struct net_queue *q, struct net_send *const *frames, unsigned n);
    /* Calls net_sent() for frames that the device has sent. `send` held. */
    void (*reclaim)(struct net_queue *q);
    /* Takes up to NET_BATCH frames out of the receive ring, with net_received(). Returns how many
     * entries of the ring it took, dropped ones included. `work` held. */
    unsigned (*poll)(struct net_queue *q);
    void (*mask)(struct net_queue *q); /* masks the queue's interrupt, in it; interrupts off */
    /* Unmasks it. Returns whether there was more to do already. `work` held. */
    bool (*unmask)(struct net_queue *q);
    /* Looks at the link: sets d->mbps and returns whether it is up. Counts frames that the device
     * has missed. Thread context, `work` of the first queue held. */
    bool (*link)(struct net_device *d);
};

/* Locking: [S] `send`, [P] `pool`, [T] `wake`, [W] `work`, [A] atomic, [-] constant. */
struct net_queue {
    struct net_device *device; /* [-] */
    unsigned number;           /* [-] in the device */
    struct cpu *cpu;           /* [-] its interrupt and its thread are there */
    void *driver;              /* the driver's */

    struct mutex work;
    struct net_buffer *batch[NET_BATCH]; /* [W] frames for receive() */
    unsigned batched;                    /* [W] */
    struct net_stats in;                 /* [W] counts of receiving; no_buffer */

    struct spinlock send;
    struct list in_flight; /* [S] the driver has them, oldest first */
    struct list done;      /* [S] they are back; done() is not yet called */
    struct net_stats out;  /* [S] counts of sending */

    struct spinlock pool;
    struct net_buffer *buffers; /* `control`: all of them; */
    unsigned made;              /* `control`: that many have memory */
    struct net_buffer *free;    /* [P] */
    unsigned spare;             /* [P] written, [A] read: number of free ones */

    struct spinlock wake;
    struct wait_queue sleeping; /* [T] */
    bool asked;                 /* [T] there is work */
    uint64_t interrupts;        /* [T] */
    bool has_thread;            /* `control` */
};

struct net_device {
    char name[NET_NAME_MAX];    /* [-] its kind and a number */
    const char *kind;           /* [-] name of its driver */
    uint8_t mac[NET_MAC_BYTES]; /* [-] */
    unsigned mtu;               /* [-] largest frame without its header: 1500 */
    unsigned queues;            /* [-] 1 to NET_QUEUES_MAX */
    unsigned offloads;          /* [-] NET_MAKES_SUMS, ... */
    const struct net_ops *ops;  /* [-] */
    struct net_device *next;    /* in the order they were found */
    bool up;                    /* [A] the link */
    unsigned mbps;              /* [A] its speed; 0: unknown */
    bool running;               /* [A] written with `control` and each `work` and `send` held */
    bool failed;                /* [A] broke the rules: sends and receives nothing */
    struct mutex control;
    const struct net_handlers *handlers; /* written as `running`; NULL: not open */
    void *arg;                           /* the same */
    uint64_t resets;                     /* [A] */
    struct net_queue queue[NET_QUEUES_MAX];
};

/* Returns the first device, or NULL; ->next leads to others. Constant after DEVICE_NET was probed.
 */
struct net_device *net_first(void);
struct net_device *net_find(const char *name); /* or NULL */
/* Opens a device: its threads begin to receive, and frames can be sent. Thread context. Returns 0;
 * -EBUSY: it is open; -ENOMEM; or -EIO, and the reason was printed. */
int net_open(struct net_device *d, const struct net_handlers *handlers, void *arg);
/* Closes a device: when it returns no handler runs, and done() was called for all frames. Buffers
 * that the stack has stay its own. Thread context; not from a handler. */
void net_close(struct net_device *d);
/* Stops and starts an open device; frames in flight are given up, and their done() was called when
 * it returns. A device that has a frame for five seconds without sending it is reset by itself; one
 * that broke the rules is not. Thread context; not from a handler. Returns 0; -ENETDOWN: it is not
 * open; or an error of net_open(), and it sends and receives nothing. */
int net_reset(struct net_device *d);
void net_read_stats(struct net_device *d, struct net_stats *out); /* thread context */

/* ---- Spreading frames over queues ------------------------------------------------------------ */
/* The key of all devices that spread. */
extern const uint8_t net_rss_key[NET_RSS_KEY_BYTES];
/* Returns the Toeplitz hash of up to 36 bytes by that key. For TCP over IPv4, as devices do it:
 * source address, destination address, source port, destination port, as in the frame; other IPv4:
 * the addresses alone. Pure. */
uint32_t net_hash(const uint8_t *bytes, size_t n);
/* Returns the queue that a device with NET_SPREADS and this many queues chooses. Pure. */
unsigned net_hash_queue(uint32_t hash, unsigned queues);

/* ---- For drivers ----------------------------------------------------------------------------- */
/* Adds a device, of which kind, mac, mtu, queues, offloads and ops are set, names it and prints a
 * line about it with `what`, its location. Sets its queues' CPUs. Thread context. */
void net_add(struct net_device *d, const char *what);
/* Tells the queue's thread to look; the interrupt. Calls mask(). Interrupts off. */
void net_interrupt(struct net_queue *q);
/* Takes a buffer for a receive ring, or returns NULL. `work` held, or in start(). */
struct net_buffer *net_take(struct net_queue *q);
/* Hands over a frame: its buffers, each with data and bytes; `flags` and `hash` of the first are
 * set. `work` held, at most NET_BATCH in a poll. */
void net_received(struct net_queue *q, struct net_buffer *first);
/* Counts a frame that was dropped: no buffer was free to replace its own, or it is broken. `work`
 * held. */
void net_dropped(struct net_queue *q, bool no_buffer);
/* Says that a frame is in the transmit ring; in send(), before the device can have sent it. `send`
 * held. */
void net_taken(struct net_queue *q, struct net_send *s);
/* Gives back a frame that was sent. `send` held. */
void net_sent(struct net_queue *q, struct net_send *s);
/* Says that the device broke the rules, after the driver has printed why: it sends and receives no
 * more until it is reset. Any context with locks of ranks up to LOCK_NIC only. */
void net_broken(struct net_device *d);
