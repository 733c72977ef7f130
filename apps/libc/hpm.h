/*
 * What a program may tell the monitoring and the scheduler about itself. Neither call changes what
 * the program computes; a program that makes none of them is observed and placed all the same.
 */
#pragma once
#include <stddef.h>
#include "apps/libc/names.h"
#include "kernel/proc/abi.h"
#include "hpm/pmu/user_page.h"

/*
 * Names this moment of the run. On the simulated multiprocessor the ground truth is written out
 * under this label, so that the part between two marks can be measured by itself. label: a short
 * word without blanks; the applications here use "start" (all threads exist and are warm), "change"
 * (threads have new partners), "steady" (placement should have settled) and "end". Any thread may
 * call it.
 */
void hpm_mark(const char *label) VIGIL(hpm_mark);

/*
 * States which sharing group the calling thread belongs to: threads with the same number work on
 * the same data. May be called again when that changes. Only hand placement acts on it; every
 * other policy has to find the groups by itself. group: 0 or more.
 */
void hpm_group(int group) VIGIL(hpm_group);

/*
 * Events and metrics by name ("cycles,ipc,l1d.miss:u"), counted for every thread of the machine
 * from now on, beside what is counted already: a session. Its number, or -Exxx with what is wrong
 * in why: -ENODEV no counters, -ENOENT no such name, -ENOTSUP not on this machine, -EINVAL
 * malformed or impossible together, -ENOSPC too much at a time.
 */
int hpm_open(const char *names, char *why, size_t size) VIGIL(hpm_open);
/* What they come to: how many there are, the first room of them in out; -ESRCH: no such session,
 * process or thread. */
int hpm_values(const struct sys_hpm_read *read, struct sys_hpm_value *out, size_t room)
    VIGIL(hpm_values);
void hpm_close(int session) VIGIL(hpm_close);
/* What can be counted by name on this machine, one after the other; cursor: 0 at first. 0; -ENOENT:
 * no more; -ENODEV: nothing. */
int hpm_list(uint32_t *cursor, struct sys_hpm_listed *out) VIGIL(hpm_list);
/*
 * Count i of the session's names, an event, no metric, of the calling thread: as hpm_values,
 * without its interval. By the counter's own register, in some ten ns, where user mode can read it
 * (Intel's, AMD's, Arm's counters; the first call of a thread asks the kernel for its page), else
 * by a system call. 1: it was read in user mode; 0: by the call; -EINVAL: there is no such count;
 * an error of hpm_values. No thread may be reading while another one closes the session.
 */
int hpm_count_read(int session, unsigned i, uint64_t *count) VIGIL(hpm_count_read);
/* Where cycles went since the beginning; the session of read is 0. 0, or -ESRCH: no such process
 * or thread. */
int hpm_breakdown(const struct sys_hpm_read *read, struct sys_breakdown *out) VIGIL(hpm_breakdown);

/*
 * Samples of where threads are, by criteria ("cycles, L1D_MISSES:u@10k, time@1ms, entries,
 * access.remote"), from now on: a session. Its number, or -Exxx with what is wrong in why, as
 * hpm_open; -EBUSY: what it takes is in use; -ESRCH: no such process. pid: of this process only,
 * which may be application_next_pid's, 0: of all; rate: samples a second that periods not given aim
 * at; permille: of the busy time that it may cost.
 */
int samples_open(const char *criteria, uint32_t pid, uint32_t rate, uint32_t permille, char *why,
                 size_t size) VIGIL(samples_open);
/* How many there are now, at most room; -ESRCH; -EFAULT: they stay for the next call. */
int samples_take(int session, struct sys_sample *out, size_t room) VIGIL(samples_take);
/* 0; -ENOENT: behind the last criterion. */
int samples_account(int session, unsigned criterion, struct sys_sample_account *out)
    VIGIL(samples_account);
void samples_close(int session) VIGIL(samples_close);

/*
 * Regions: parts of a program, by name. What a session counts for the calling thread between a
 * region's begin and its end is summed by name, for all threads of the process: inclusive of the
 * regions begun inside it, and exclusive of them. A region inside itself counts once. What begin
 * and end cost, a system call each, is the surrounding region's but for its edges.
 */
enum { HPM_REGIONS = 64, HPM_REGION_DEPTH = 16, HPM_REGION_COUNTS = 8, HPM_REGION_NAME = 32 };
struct hpm_region {
    char name[HPM_REGION_NAME]; /* cut off if it is longer */
    uint64_t calls;
    /* in the order of the events' names */
    uint64_t inclusive[HPM_REGION_COUNTS], exclusive[HPM_REGION_COUNTS];
};
/*
 * Counts these events, no metrics, up to 8, from now on; at_exit: 1 prints the table when the
 * program ends. 0; an error of hpm_open; -EINVAL: a metric, -ENOSPC: more than 8, -EBUSY: regions
 * are counted already; with what is wrong in why.
 */
int hpm_regions_start(const char *names, int at_exit, char *why, size_t size)
    VIGIL(hpm_regions_start);
/* 0; -ENODEV: not started; -ENOSPC: more than 64 names, or 16 inside one another; -EINVAL: not the
 * one this thread entered last. What was refused is counted, and said in the table. */
int hpm_region_begin(const char *name) VIGIL(hpm_region_begin);
int hpm_region_end(const char *name) VIGIL(hpm_region_end);
/* How many there are, the first room of them in out. What has ended is in it. */
size_t hpm_regions_read(struct hpm_region *out, size_t room) VIGIL(hpm_regions_read);
void hpm_regions_print(void) VIGIL(hpm_regions_print);

/* Starts an application of the bundle; it ends with its parent. Its pid, or -Exxx, with a line on
 * the console. */
int application_start(char *const *argv, int argc) VIGIL(application_start);
/* The pid that the next one will have, so that what is to be known of it can be asked for before it
 * starts. */
int application_next_pid(void) VIGIL(application_next_pid);
/* Sleeps until it has ended. Its exit status; its counts can still be read, and places in its code
 * be asked for. */
int application_wait(int pid) VIGIL(application_wait);
/* Threads of a process, 0: of all. How many there are, the first room of them in out; -ESRCH. */
int application_threads(int pid, struct sys_thread_info *out, size_t room)
    VIGIL(application_threads);
