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
/* The other file of /sys about an event. */
#define PERF_PMU_MORE      "umask"
#define PERF_PMU_MORE_BITS "config:8-15"
/* Where config1 has the least latency of accesses. */
#define PERF_LATENCY_SHIFT 0
#define PERF_LATENCY_BITS  "config1:0-15"
/* MEM_TRANS_RETIRED.LOAD_LATENCY and MEM_INST_RETIRED.ALL_STORES, as codes and as files of /sys
 * have them. */
#define PERF_LOADS       0x1cd
#define PERF_STORES      0x82d0
#define PERF_LOADS_TEXT  "event=0xcd,umask=0x1,ldlat=3"
#define PERF_STORES_TEXT "event=0xd0,umask=0x82"
