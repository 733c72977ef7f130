/* What record.c keeps for stream.c; nobody else includes this. */
#pragma once
#include "kernel/trace/ring.h"
#include "kernel/trace/telemetry.h"

extern uint64_t telemetry_ms; /* counters are recorded this often */

unsigned record_cpus(void);
struct ring *record_ring(unsigned cpu);
const uint8_t *record_uuid(void);
