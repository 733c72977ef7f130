/*
 * Devices that carry messages of 9P, of folders that the host shares (Virtual I/O Device 1.2, 5.6;
 * QEMU's virtio-9p). A request is a message that the device reads, and room for its reply. No call
 * waits; the caller's lock guards a device.
 */
#pragma once
#include "kernel/lib/base.h"

struct cpu;
struct share_device;

#define SHARE_TAG_MAX 32 /* bytes of a device's name, its tag; longer ones are of no use here */

/* Opens the device with this tag. wake(arg) is called on CPU `target`, interrupts off, when
 * share_device_take() may return something. Thread context. Returns 0; -ENODEV: no device has the
 * tag; -ENOMEM; -EIO: it cannot be used, and the reason was printed. */
int share_device_open(const char *tag, struct cpu *target, void (*wake)(void *arg), void *arg,
                      struct share_device **out);
/* Passes a request to the device, which owns both parts until share_device_take() returns its
 * token. Any context. Returns 0; -ENOSPC: too many are in flight; -EIO: the device has failed. */
int share_device_send(struct share_device *d, paddr_t message, uint32_t bytes, paddr_t reply,
                      uint32_t room, void *token);
/* Takes back a request and the number of bytes in its reply, at most its room. Any context. Returns
 * 0; -EAGAIN: none; -EIO: the device broke the rules, and this was printed. */
int share_device_take(struct share_device *d, void **token, uint32_t *bytes);
