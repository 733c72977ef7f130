/* Shared by the files of block devices. Users need block.h only. */
#pragma once
#include "block.h"
#include "kernel/dev/driver.h"

extern const struct driver block_virtio_driver, block_model_driver, block_ram_driver;
extern uint64_t disk_ram, disk_timeout_ms; /* boot arguments */

void block_watch_start(void);
/* Makes the watching thread look at `due_ns` at the latest. Any context with locks of ranks up to
 * LOCK_BLOCK only. */
void block_watch_by(uint64_t due_ns);
/* Marks the device as failed and gives back all its requests with `status`. Lock held. */
void block_give_up(struct block_device *d, int status);
