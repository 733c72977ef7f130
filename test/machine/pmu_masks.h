/* Which counters can count which events: for the machine's PMU, and for the kernel's table of its
 * events (tools/events/model.c). */
#pragma once
#include "kernel/dev/model/machine.h"

/* Bit per counter that can count the event. */
extern const uint8_t pmu_counter_mask[MACHINE_EVENTS];
