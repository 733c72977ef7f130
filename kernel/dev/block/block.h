/*
 * Block devices: disks, as those see them who keep pages there. Requests are of whole pages, each
 * into or out of frames that may lie anywhere; they are asynchronous, several are in flight, and
 * they come back in any order.
 *
 * What a device may be asked is checked here once, so that drivers need not. Errors, delays and
 * losses can be injected below any device by boot arguments (disk_args). A request that does not
 * come back within disk.timeout_ms is noticed: one line, the device is stopped and used no more,
 * and all it had is given back with -ETIMEDOUT.
 */
#pragma once
#include "block_faults.h"
#include "kernel/core/cmdline.h"
#include "kernel/lib/list.h"
#include "kernel/core/lock.h"
#include "sched/sched.h"

#define BLOCK_PAGES_MAX 32 /* of one request */
#define BLOCK_NAME_MAX  16

struct block_device;

/* The caller's, who keeps it and the frames until done is called. */
struct block_request {
    uint64_t page; /* the first, in pages from the device's start */
    /* 1 to the device's pages_max; or 0, with write: flush, what came back before is on the medium
     * then */
    uint32_t count;
    bool write;
    paddr_t frame[BLOCK_PAGES_MAX]; /* of each page: 4 KB at a multiple of that */
    /* On any CPU, interrupts off, no lock held; never before block_submit returns on the CPU that
     * called it. The request is the caller's again. status: 0; -EIO: it failed, and what frames
     * (or the medium) hold is undefined; -ETIMEDOUT: the same, as the device never answered. */
    void (*done)(struct block_request *r, int status);
    void *owner; /* for done */

    /* From block_submit to done, block.c's and the driver's. */
    struct block_device *device;
    struct list link;
    uint64_t since_ns, due_ns;
    struct block_fate fate;
    int status;
    bool lost;
    void *driver; /* for the driver's own use */
};

/* A kind of device. All of its functions: interrupts off and the device's lock held, unless they
 * say otherwise. */
struct block_ops {
    /* Takes a request that is right and for which there is room; block_back gives it back, now or
     * later. */
    void (*submit)(struct block_device *d, struct block_request *r);
    /* The device touches no frame any more when this returns, and block_back is not called again.
     * Thread context, no lock held; nothing is submitted meanwhile or after it. */
    void (*stop)(struct block_device *d);
};

struct block_stats {
    uint64_t reads, writes, pages_read, pages_written, errors; /* that came back */
};

/* Locking: [L] = lock; [-] = the driver's, fixed before block_add. */
struct block_device {
    char name[BLOCK_NAME_MAX];   /* [-] */
    const char *kind;            /* [-] its driver's name: virtio, model, ram */
    uint64_t pages;              /* [-] its size */
    bool read_only;              /* [-] */
    unsigned depth;              /* [-] requests in flight at most */
    unsigned pages_max;          /* [-] of one request, 1 to BLOCK_PAGES_MAX */
    const struct block_ops *ops; /* [-] */
    struct spinlock lock;        /* rank LOCK_BLOCK */
    struct list in_flight;       /* [L] the driver has them, oldest first */
    struct list late;            /* [L] are back, but delayed, by due_ns */
    struct list back;            /* [L] are back, done is to be called */
    unsigned busy;               /* [L] requests on these lists */
    bool failed;                 /* [L] is not used any more */
    uint64_t serial;             /* [L] requests so far */
    struct wait_queue room;      /* [L] who waits for fewer to be in flight */
    struct block_stats stats;    /* [L] */
    struct block_device *next;   /* in the order they were found */
};

/* ---- Set-up ---- */
extern const struct arg disk_args[]; /* boot arguments disk.* */
/* Starts watching the devices that were added, or prints that there is none. Once, after the class
 * DEVICE_BLOCK was probed. Thread context. */
void block_start(void);

/* ---- Devices --------------------------------------------------------------------------------- */
struct block_device *
block_first(void); /* then ->next; NULL: there is none. Fixed once block_start has returned */
struct block_device *block_find(const char *name);                      /* or NULL */
void block_read_stats(struct block_device *d, struct block_stats *out); /* any context */

/* ---- Requests -------------------------------------------------------------------------------- */
/* Hands a request to the device. 0: done will be called; -EAGAIN: as many are in flight as the
 * device takes; -EINVAL: the request is outside of the device, too long, not aligned, or writes to
 * one that is read-only; -EIO: the device has failed. Any context whose locks rank below
 * LOCK_BLOCK. */
int block_submit(struct block_device *d, struct block_request *r);
/* The same, but waits while the device is full. 0, -EINVAL or -EIO. Thread context; the end of
 * the process is no reason to return. */
int block_submit_wait(struct block_device *d, struct block_request *r);
/* Reads or writes count pages at once and waits for them. 0; or the first error there was:
 * -EINVAL, -EIO, -ETIMEDOUT. Thread context, as above. */
int block_transfer(struct block_device *d, uint64_t page, size_t count, bool write,
                   const paddr_t *frames);
int block_flush(struct block_device *d); /* likewise */

/* ---- For drivers ----------------------------------------------------------------------------- */
/* A device there is from now on; what it is and where goes to the line about it. Thread
 * context. */
void block_add(struct block_device *d, const char *what);
bool block_lock(struct block_device *d);
/* and calls done for what is back: not in submit */
void block_unlock(struct block_device *d, bool irq);
/* The device is done with the request, 0 or -EIO. Lock held. */
void block_back(struct block_request *r, int status);
/* The driver has stopped the device, as a line of its has said: all it had comes back with -EIO.
 * Lock held. */
void block_broken(struct block_device *d);
/* Panics on a broken invariant. Any context. */
void block_check(struct block_device *d);
