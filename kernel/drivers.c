/* See drivers.h. */
#include "kernel/drivers.h"
#include "kernel/dev/block/block_core.h"

const struct block_driver *const block_drivers[] = {&block_model_driver, &block_virtio_driver,
                                                    &block_ram_driver, NULL};
