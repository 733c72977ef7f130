/* Where Linux's system-call interface differs between instruction sets. */
#pragma once

/* Arguments of clone(2), whose order differs (clone(2), "C library/kernel differences"). */
#define ARCH_CLONE_CHILD_TID 3
#define ARCH_CLONE_TLS       4

/* Events of the processor's PMU, as /sys and perf_event_open(2) know them: its name, its type,
 * and the bits of an event's code. */
#define PERF_PMU_NAME "cpu"
#define PERF_PMU_TYPE 4 /* PERF_TYPE_RAW */
#define PERF_PMU_CODE "config:0-7"
