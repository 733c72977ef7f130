/*
 * Ports of a virtio console (Virtual I/O Device 1.2, 5.3) that bytes go out by. Buffers are read
 * by the device; nobody waits here: what the device is done with is asked for, and an interrupt
 * says when that is worth while. One call at a time; the caller's lock guards it, if it has several
 * callers.
 */
#pragma once
#include "kernel/lib/base.h"

struct cpu;

#define CONSOLE_IN_FLIGHT_MAX 64 /* buffers of a port */

/* The first console there is. wake(arg) is called on the CPU, interrupts off, when console_find or
 * console_sent may have something new. Thread context, once. 0; -ENODEV: there is none; -ENOMEM;
 * -EIO: unusable, as a line has said. */
int console_open(struct cpu *target, void (*wake)(void *arg), void *arg);
/* The number of the port with this name that somebody on the other side has open; of a console that
 * has but one port and no names, that. 0; -EAGAIN: the device has not said so yet; -EIO: it broke
 * the rules, as a line has said. Thread context. */
int console_find(const char *name, unsigned *port);
/* Hands a buffer over; it is the device's until console_sent returns its token. 0; -ENOSPC: so
 * many are in flight; -EIO. Any context. */
int console_send(unsigned port, paddr_t at, uint32_t bytes, void *token);
/* A buffer the device is done with. 0; -EAGAIN: none yet; -EIO. Any context. */
int console_sent(unsigned port, void **token);
