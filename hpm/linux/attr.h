/*
 * What perf_event_open(2) is asked for: a struct perf_event_attr from a program, of any of its
 * published sizes, checked as Linux checks it. Errors and their order are those of Linux 6.18
 * (kernel/events/core.c: perf_copy_attr(), perf_event_open()). Pure: no clock, lock, allocation or
 * register.
 */
#pragma once
#include "kernel/lib/base.h"
#include <linux/perf_event.h>

/* The bits of a struct perf_event_attr that stand behind `read_format`, as one number. */
#define PERF_ATTR_BITS_AT 40

/* Highest frequency of samples, per second, and what files say of it. */
#define PERF_FREQUENCY_MAX 100000
/* Deepest chain of calls that a sample may ask for. */
#define PERF_STACK_MAX 127

/*
 * Returns how many bytes an attr is that says of itself that it has `size`: 0 means the first
 * published size. -E2BIG: fewer than those, or more than a page.
 */
int perf_attr_bytes(uint32_t size);
/*
 * Makes an attr of the `bytes` bytes at `from`, which perf_attr_bytes has returned; what it is too
 * short for is 0. Returns 0, or
 * - -E2BIG: bytes beyond this kernel's structure are not 0.
 * - -EINVAL: bits that have no meaning, or that do not go together.
 */
int perf_attr_take(const void *from, size_t bytes, struct perf_event_attr *out);
/* Checks what a sample's frequency, period and clock may be. Returns 0 or -EINVAL. */
int perf_attr_check_rate(const struct perf_event_attr *a);
int perf_attr_check_clock(const struct perf_event_attr *a);
/* Checks what an event may tell that exists. Returns 0; -EOVERFLOW: too deep chains; -EOPNOTSUPP:
 * what no event of Vigil's tells (branch stacks, AUX areas, a signal for each sample). */
int perf_attr_check_told(const struct perf_event_attr *a);

/* How an event's leader and a would-be member of its group are used: the thread or CPU that is
 * counted. */
struct perf_scope {
    uint32_t tid; /* of the thread that is counted; 0: a CPU is */
    int32_t cpu;  /* -1: any */
};
/* Checks whether an event may join the group of a leader. Returns 0 or -EINVAL. */
int perf_attr_check_member(const struct perf_event_attr *member, struct perf_scope of_member,
                           const struct perf_event_attr *leader, struct perf_scope of_leader);
