/* Between the files of block devices (block.c, block_watch.c, block_wait.c); drivers and users need
 * block.h alone. */
#pragma once
#include "block.h"
#include "kernel/dev/driver.h"

extern const struct driver block_virtio_driver, block_model_driver, block_ram_driver;
extern uint64_t disk_ram, disk_timeout_ms; /* boot arguments */

void block_watch_start(void);
/* There is something to do for the watching thread at that time. Any context whose locks rank up
 * to LOCK_BLOCK. */
void block_watch_by(uint64_t due_ns);
/* The device is not used any more: all it has is back, with that status. Lock held. */
void block_give_up(struct block_device *d, int status);
