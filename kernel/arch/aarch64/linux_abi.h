/* Where Linux's system-call interface differs between instruction sets. */
#pragma once

/* Arguments of clone(2), whose order differs (clone(2), "C library/kernel differences"). */
#define ARCH_CLONE_CHILD_TID 4
#define ARCH_CLONE_TLS       3

/* Events of the processor's PMU, as /sys and perf_event_open(2) know them: its name, its type,
 * and the bits of an event's code. */
#define PERF_PMU_NAME "armv8_pmuv3_0"
#define PERF_PMU_TYPE 8 /* the first behind Linux's own */
#define PERF_PMU_CODE "config:0-15"
/* The other file of /sys about an event: counters have 64 bits anyway. */
#define PERF_PMU_MORE      "long"
#define PERF_PMU_MORE_BITS "config1:0"
/* Where config1 has the least latency of accesses. */
#define PERF_LATENCY_SHIFT 16
#define PERF_LATENCY_BITS  "config1:16-31"
/* MEM_ACCESS_RD and MEM_ACCESS_WR, as codes and as files of /sys have them. */
#define PERF_LOADS       0x66
#define PERF_STORES      0x67
#define PERF_LOADS_TEXT  "event=0x66,ldlat=3"
#define PERF_STORES_TEXT "event=0x67,ldlat=1"
