/*
 * Ports of a virtio console (Virtual I/O Device 1.2, 5.3), for output. The device reads the
 * buffers. No call waits: the caller polls for buffers that the device has read, and an interrupt
 * tells when that is useful. One call at a time; the caller's lock guards it.
 */
#pragma once
#include "kernel/lib/base.h"

struct cpu;

#define CONSOLE_IN_FLIGHT_MAX 64 /* buffers of a port */

/* Opens the first console. wake(arg) is called on CPU `target`, interrupts off, when console_find()
 * or console_sent() may return something new. Thread context, once. Returns 0; -ENODEV: there is
 * none; -ENOMEM; -EIO: it cannot be used, and the reason was printed. */
int console_open(struct cpu *target, void (*wake)(void *arg), void *arg);
/* Finds the number of the port that has this name and is open on the other side; of a console with
 * a single port and no names, that port. Thread context. Returns 0; -EAGAIN: the device has not
 * announced it yet; -EIO: the device broke the rules, and this was printed. */
int console_find(const char *name, unsigned *port);
/* Passes a buffer to the device, which owns it until console_sent() returns its token. Any context.
 * Returns 0; -ENOSPC: CONSOLE_IN_FLIGHT_MAX are in flight; -EIO. */
int console_send(unsigned port, paddr_t at, uint32_t bytes, void *token);
/* Takes back a buffer that the device has read. Any context. Returns 0; -EAGAIN: none yet; -EIO. */
int console_sent(unsigned port, void **token);
