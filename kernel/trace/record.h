/* The packets of record.c, for kernel/report, which sends them. */
#pragma once
#include "kernel/trace/ring.h"
#include "kernel/trace/telemetry.h"

extern uint64_t telemetry_ms; /* interval at which counters are recorded */

unsigned record_cpus(void);
struct ring *record_ring(unsigned cpu);
const uint8_t *record_uuid(void);
