/* Shared by the files of network devices. Users need net_device.h only. */
#pragma once
#include "net_device.h"
#include "kernel/dev/driver.h"

extern const struct driver net_intel_driver, net_model_driver, net_virtio_driver;

/* Number of buffers of a queue: for its receive ring, and for the stack. */
#define NET_BUFFERS      768
#define NET_RING_ENTRIES 256

/* Makes the queue's buffers, once. Returns 0 or -ENOMEM; then it can be called again. Thread
 * context, the device's `control` held. */
int net_make_buffers(struct net_queue *q);
/* Starts the queue's thread, once. Returns 0 or -ENOMEM. Thread context. */
int net_start_thread(struct net_queue *q);
/* Makes the queue's thread look soon. Any context with locks of ranks below LOCK_THREAD only. */
void net_wake(struct net_queue *q);
/* Calls done() for all frames that are back. Thread context, `work` held, no spinlock. */
void net_call_done(struct net_queue *q);
/* Gives back all frames in flight with -EIO. `send` held. */
void net_give_up(struct net_queue *q);
/* Stops a device that is `failed`, as net_reset() does, without starting it. Thread context, no
 * mutex of it held. */
void net_stop_failed(struct net_device *d);
