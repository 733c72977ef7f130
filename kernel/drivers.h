/* The drivers of the kernel, for all classes of devices. */
#pragma once
#include "kernel/dev/driver.h"

/* Probes all drivers of `class`, in the order of the list. Once for each class. */
void drivers_probe(enum device_class class);
