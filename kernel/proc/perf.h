/*
 * Perf events: files of perf_event_open(2) that count over hpm's sessions. What is counted is read
 * of each thread or CPU as a number that only grows; an event keeps where it began.
 *
 * All in thread context with no lock or gate held, unless stated otherwise.
 */
#pragma once
#include "hpm/linux/attr.h"
#include "kernel/file/file.h"

struct process;
struct thread;

struct perf_asked {
    struct perf_event_attr attr; /* of perf_attr_take() */
    int32_t pid;                 /* thread that is counted; 0: the caller's; -1: a CPU is */
    int32_t cpu;                 /* -1: any */
    struct file *leader;         /* of its group, or NULL */
    uint32_t file_flags;         /* O_* of the new file */
};
/* Makes an event for a thread of `p`. Returns 0 or perf_event_open(2)'s error. */
int perf_open(struct process *p, const struct perf_asked *asked, struct file **out);
/* Returns whether f is a perf event. */
bool perf_is(const struct file *f);

/* Lets the events of `like`, the caller, that are inherited count `t`, which has not run. Returns 0
 * or -ENOMEM. */
int perf_inherit(const struct thread *like, struct thread *t);
/* Ends the counting of the caller, which leaves its process. */
void perf_leave(struct thread *self);
/* The caller runs another program: begins what begins then, and ends what ends then. */
void perf_exec(struct thread *self);
/* Finds what is mapped of an event's file: its buffer, which the first mapping makes. Returns 0
 * with a reference; -EINVAL: not a page and 2^n pages from the beginning, shared; -ENOMEM. */
struct object;
int perf_map(const struct file *f, uint64_t len, uint64_t offset, bool shared, bool writes,
             struct object **out);
/* The caller has mapped code at va. */
void perf_told_mapping(const struct thread *self, vaddr_t va);
/* The file's owner, its signal or its flag FASYNC has changed. */
void perf_told_owner(struct file *f);
/* Returns whether the calling thread, which perf events count and which is on its way to user mode,
 * is to call perf_deliver. Interrupts off. */
bool perf_is_due(void);
/* Writes samples, and tells those who wait for each of them. */
void perf_deliver(void);
/* Enables or disables all events that the caller has opened: prctl(2). */
void perf_enable_own(const struct thread *self, bool on);
