/*
 * Block devices: disks, for code that keeps pages there. Requests are of whole pages, into or out
 * of arbitrary frames. They are asynchronous; several are in flight, and they complete in any
 * order.
 *
 * Requests are checked here, so that drivers need not. Errors, delays and losses can be injected
 * below any device by boot arguments (disk_args). If a request does not come back within
 * disk.timeout_ms, a line says so, the device is stopped and no longer used, and all its requests
 * are given back with -ETIMEDOUT.
 */
#pragma once
#include "block_faults.h"
#include "kernel/core/cmdline.h"
#include "kernel/lib/list.h"
#include "kernel/core/lock.h"
#include "sched/sched.h"

#define BLOCK_PAGES_MAX 32 /* pages of one request */
#define BLOCK_NAME_MAX  16

struct block_device;

/* A request. The caller owns it and keeps it and its frames until done() is called. */
struct block_request {
    uint64_t page; /* the first, in pages from the device's start */
    /* 1 to the device's pages_max; or 0 with `write`: flush, after which all completed writes are
     * on the medium. */
    uint32_t count;
    bool write;
    paddr_t frame[BLOCK_PAGES_MAX]; /* of each page, page-aligned */
    /* Called on any CPU, interrupts off, no lock held; never before block_submit() returns on the
     * CPU that called it. The request is the caller's again. `status`: 0; -EIO: it failed, and the
     * contents of the frames (or the medium) are undefined; -ETIMEDOUT: the same; the device never
     * answered. */
    void (*done)(struct block_request *r, int status);
    void *owner; /* for done */

    /* From block_submit() to done(): of block.c and the driver. */
    struct block_device *device;
    struct list link;
    uint64_t since_ns, due_ns;
    struct block_fate fate;
    int status;
    bool lost;
    void *driver; /* for the driver's own use */
};

/* The operations of a kind of device. Interrupts off and the device's lock held, unless stated
 * otherwise. */
struct block_ops {
    /* Takes a valid request, for which there is room; block_back() gives it back, now or later. */
    void (*submit)(struct block_device *d, struct block_request *r);
    /* Stops the device: it accesses no frame when this returns, and block_back() is not called
     * again. Thread context, no lock held; nothing is submitted meanwhile or afterwards. */
    void (*stop)(struct block_device *d);
};

struct block_stats {
    uint64_t reads, writes, pages_read, pages_written, errors; /* of completed requests */
};

/* Locking: [L] = lock; [-] = the driver's, constant from block_add() on. */
struct block_device {
    char name[BLOCK_NAME_MAX];   /* [-] */
    const char *kind;            /* [-] name of its driver: virtio, model, ram */
    uint64_t pages;              /* [-] size */
    bool read_only;              /* [-] */
    unsigned depth;              /* [-] requests in flight at most */
    unsigned pages_max;          /* [-] of one request, 1 to BLOCK_PAGES_MAX */
    const struct block_ops *ops; /* [-] */
    struct spinlock lock;        /* rank LOCK_BLOCK */
    struct list in_flight;       /* [L] the driver has them, oldest first */
    struct list late;            /* [L] requests that are back but delayed, by due_ns */
    struct list back;            /* [L] requests that are back; done() is not yet called */
    unsigned busy;               /* [L] requests on these lists */
    bool failed;                 /* [L] no longer used */
    uint64_t serial;             /* [L] number of requests so far */
    struct wait_queue room;      /* [L] threads that wait for room */
    struct block_stats stats;    /* [L] */
    struct block_device *next;   /* in the order they were found */
};

/* ---- Set-up ---------------------------------------------------------------------------------- */
extern const struct arg disk_args[]; /* boot arguments disk.* */
/* Starts watching the devices that were added, or prints that there is none. Once, after
 * DEVICE_BLOCK was probed. Thread context. */
void block_start(void);

/* ---- Devices --------------------------------------------------------------------------------- */
/* Returns the first device, or NULL; ->next leads to others. Constant after block_start(). */
struct block_device *block_first(void);
struct block_device *block_find(const char *name);                      /* or NULL */
void block_read_stats(struct block_device *d, struct block_stats *out); /* any context */

/* ---- Requests -------------------------------------------------------------------------------- */
/* Submits a request to the device. Returns 0: done() will be called; -EAGAIN: the device is full;
 * -EINVAL: the request is outside the device, too long, not aligned, or writes to a read-only
 * device; -EIO: the device has failed. Any context with locks of ranks below LOCK_BLOCK only. */
int block_submit(struct block_device *d, struct block_request *r);
/* Does the same, but waits while the device is full. The end of the process does not end the wait.
 * Thread context. Returns 0, -EINVAL or -EIO. */
int block_submit_wait(struct block_device *d, struct block_request *r);
/* Reads or writes `count` pages and waits for them. Thread context, as above. Returns 0, or the
 * first error: -EINVAL, -EIO or -ETIMEDOUT. */
int block_transfer(struct block_device *d, uint64_t page, size_t count, bool write,
                   const paddr_t *frames);
int block_flush(struct block_device *d); /* likewise */

/* ---- For drivers ----------------------------------------------------------------------------- */
/* Adds a device and prints a line about it with `what`, its kind and location. Thread context. */
void block_add(struct block_device *d, const char *what);
bool block_lock(struct block_device *d);
/* Also calls done() for requests that are back; not for use in submit(). */
void block_unlock(struct block_device *d, bool irq);
/* Gives back a request that the device has completed, with status 0 or -EIO. Lock held. */
void block_back(struct block_request *r, int status);
/* Gives back all requests with -EIO after the driver has stopped the device and printed why. Lock
 * held. */
void block_broken(struct block_device *d);
/* Panics on a broken invariant. Any context. */
void block_check(struct block_device *d);
