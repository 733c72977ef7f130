/*
 * A connection to a folder that the host shares: several requests in flight, and fids, the numbers
 * by which the server knows files. A thread that waits for a reply ends when its process does; the
 * request then finishes without it, and a fid that it made is given back.
 *
 * Thread context with no lock held, unless stated otherwise.
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/fs/p9_message.h"
#include "kernel/lib/list.h"
#include "sched/sched.h"

#define P9_SLOTS   8
#define P9_MESSAGE ((uint32_t)32 * 1024)              /* bytes of the largest message */
#define P9_IO_MAX  (P9_MESSAGE - (uint32_t)PAGE_SIZE) /* bytes of one read or write */

struct share_device;

/* A number that the server knows a file by, or is being told. Its memory and number are used
 * again. */
struct p9_fid {
    uint32_t number;  /* [-] */
    uint32_t refs;    /* [A] */
    bool known;       /* [L] the server knows it */
    struct list link; /* [L] of the client's unused or unknown */
};

/* A request in flight. */
struct p9_slot {
    uint8_t *message,
        *reply; /* P9_MESSAGE bytes each; with `state`: the thread's or the device's */
    paddr_t message_at, reply_at;
    enum p9_slot_state {
        P9_FREE,
        P9_FILLED,          /* a thread has it */
        P9_SENT,            /* the device has it, and a thread waits */
        P9_LEFT,            /* the device has it, and no thread waits any more */
        P9_ANSWERED         /* a thread has it, and reads the reply */
    } state;                /* [L] */
    int err;                /* [L] answered: 0 or -EIO */
    uint32_t bytes;         /* [L] of the reply */
    enum p9_type type;      /* [L] of the request */
    struct p9_fid *makes;   /* [L] what the server knows if the request succeeds, or NULL */
    struct p9_fid *unused;  /* [L] of P9_CLUNK: what it knows no more afterwards */
    struct wait_queue done; /* [L] */
};

/* Locking: [L] the lock, which may be taken where locks of ranks below LOCK_SHARE are held. */
struct p9_client {
    struct spinlock lock;
    struct share_device *device;
    const char *tag;        /* for messages */
    uint32_t message_max;   /* [-] as the server agreed to */
    bool failed;            /* [L] the device is not used any more */
    struct wait_queue room; /* [L] threads that wait for a slot */
    struct list unused;     /* [L] fids that are to be given back */
    struct list unknown;    /* [L] fids that the server does not know */
    uint32_t last_fid;      /* [L] */
    uint32_t fids;          /* [L] fids that it knows or may know */
    struct p9_slot slot[P9_SLOTS];
};

/* Connects to the device with this tag, which stays in memory, and attaches the root to *root.
 * Returns 0; -ENODEV: there is no such device; -ENOMEM; -EIO, and the reason was printed. */
int p9_connect(struct p9_client *c, const char *tag, struct p9_fid **root, struct p9_qid *qid);
/* Frees fids, which no thread has any more, known to the host or not. */
void p9_disconnect_for_test(struct p9_client *c);

/* ---- Fids ------------------------------------------------------------------------------------ */
/* Returns one that the server does not know yet, referenced, or NULL without memory. */
struct p9_fid *p9_fid_make(struct p9_client *c);
static inline struct p9_fid *p9_fid_get(struct p9_fid *f)
{
    __atomic_fetch_add(&f->refs, 1, __ATOMIC_RELAXED);
    return f;
}
/* Drops a reference; the last one has the server forget the file, if it knows it, without waiting
 * for that. NULL: nothing. Any context with locks of ranks below LOCK_SHARE. */
void p9_fid_put(struct p9_client *c, struct p9_fid *f);
/* Waits until the server has forgotten what is no longer referenced. */
void p9_wait_given_back(struct p9_client *c);
/* Returns the number of fids that the server knows or may know. */
uint32_t p9_fids(struct p9_client *c);

/* ---- Requests -------------------------------------------------------------------------------- */
struct p9_call {
    struct p9_client *client;
    struct p9_slot *slot;
    struct p9_out out;
    struct p9_in in;
};
/* Takes a slot, and begins a request, to which the caller adds what it consists of. Returns 0;
 * -EINTR: the process ends; -EIO: the device is not used any more. */
int p9_call_begin(struct p9_client *c, enum p9_type type, struct p9_call *call);
/* Sends the request and waits for the reply, which call->in then has. `makes`: the fid that the
 * server knows if the request succeeds; NULL: none. p9_call_end() is next in any case. Returns 0 or
 * an error: the server's; -EIO; -EINTR: the process ends. */
int p9_call_send(struct p9_call *call, struct p9_fid *makes);
/* Ends a call: its reply is not read any more. `err`: what reading it gave; prints a line for
 * -EPROTO, and returns -EIO in its place, else err. */
int p9_call_end(struct p9_call *call, int err);
