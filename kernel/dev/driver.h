/*
 * Drivers of all classes. A driver knows one kind of device; its class says which interface the
 * device has for the rest of the kernel: a block device is a `struct block_device` of
 * kernel/dev/block/block.h. The list of drivers is kernel/drivers.c.
 */
#pragma once

enum device_class {
    DEVICE_MACHINE, /* the simulated machine's registers: kernel/dev/model/machine_find.h */
    DEVICE_BLOCK,   /* disks: kernel/dev/block/block.h */
};

struct driver {
    const char *name;
    enum device_class class;
    /* Finds every device that the driver knows and adds each to its class, as block_add() does.
     * Prints a line for each device, and for one that is there but cannot be used; nothing if there
     * is none. Called once, at the time its class is probed (kernel/main.c). */
    void (*probe)(void);
};
