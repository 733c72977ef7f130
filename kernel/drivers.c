/* See drivers.h. Rows of a class are probed in this order. */
#include "kernel/drivers.h"
#include "kernel/dev/block/block_core.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/dev/net/net_core.h"

static const struct driver *const drivers[] = {
    &machine_driver,    &block_model_driver, &block_virtio_driver, &block_ram_driver,
    &net_virtio_driver, &net_intel_driver,   &net_model_driver,
};

void drivers_probe(enum device_class class)
{
    for (unsigned i = 0; i < ARRAY_SIZE(drivers); i++)
        if (drivers[i]->class == class)
            drivers[i]->probe();
}
