/*
 * Drivers of all classes. A driver handles one kind of device. Its class is the interface that the
 * device has for the rest of the kernel: a block device is a `struct block_device` of
 * kernel/dev/block/block.h. kernel/drivers.c lists all drivers.
 */
#pragma once

enum device_class {
    DEVICE_MACHINE, /* the simulated machine's registers: kernel/dev/model/machine_find.h */
    DEVICE_BLOCK,   /* disks: kernel/dev/block/block.h */
    DEVICE_NET,     /* network cards: kernel/dev/net/net_device.h */
};

struct driver {
    const char *name;
    enum device_class class;
    /* Finds all of the driver's devices and adds each to its class, as block_add() does. Prints a
     * line for each device, and for a device that cannot be used; nothing if there is none. Called
     * once, when the class is probed (kernel/main.c). */
    void (*probe)(void);
};
