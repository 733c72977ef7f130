/*
 * Counters and samples, and what a program may tell the kernel about itself. hpm_mark() and
 * hpm_group() do not change what a program computes; a program that calls neither is observed and
 * placed all the same.
 */
#pragma once
#include <stddef.h>
#include "apps/libc/names.h"
#include "kernel/proc/abi.h"
#include "hpm/pmu/user_page.h"

/*
 * Names this moment of the run. The simulated multiprocessor writes its ground truth out under this
 * label, so that the part between two marks can be measured by itself. `label` is a short word
 * without blanks. The applications here use "start" (all threads exist and are warm), "change"
 * (threads have new partners), "steady" (placement should have settled) and "end". Any thread may
 * call it.
 */
void hpm_mark(const char *label) VIGIL(hpm_mark);

/*
 * States the sharing group of the calling thread, 0 or more: threads of one group work on the same
 * data. May be called again when that changes. Only sched.policy=hand uses it; every other policy
 * finds the groups itself.
 */
void hpm_group(int group) VIGIL(hpm_group);

/*
 * Opens a session: counts events and metrics by name ("cycles,ipc,l1d.miss:u") for every thread of
 * the machine from now on, beside those that are counted already. Returns its number, or an error
 * with the reason in `why`: -ENODEV: no counters; -ENOENT: no such name; -EOPNOTSUPP: not on this
 * machine; -EINVAL: malformed, or impossible together; -ENOSPC: too many sessions or events.
 *
 * name*4: the event has four times the slices of others, 1 to 8. name*auto: as many as follow from
 * its measured variance. name!: it is counted all the time.
 * {name,name}: they are counted in exactly the same slices; *4 and ! stand behind the braces.
 * round=N: wanted length of a round in cycles; the shortest of all sessions' rules, in whole
 * passes. hpm_turns() tells what has become of it.
 */
int hpm_open(const char *names, char *why, size_t size) VIGIL(hpm_open);
/* Reads the first `room` values of a session. Returns the number of values that the session has, or
 * -ESRCH: no such session, process or thread. */
int hpm_values(const struct sys_hpm_read *read, struct sys_hpm_value *out, size_t room)
    VIGIL(hpm_values);
void hpm_close(int session) VIGIL(hpm_close);
/* Describes how what is counted takes turns, and the turns of the session's first `room` names.
 * Returns the number of names, or -ESRCH: no such session. */
int hpm_turns(int session, struct sys_hpm_turns *out, struct sys_hpm_turn *of, size_t room)
    VIGIL(hpm_turns);
/*
 * Starts a log of what threads count of the session's events over time: each CPU appends a record
 * when a thread leaves it, and every what->every_ns while one runs. Ends with the session. Returns
 * the figures of a record, one for each name that is an event, in their order; or an error with the
 * reason in `why`: -EINVAL, -EBUSY, -ENOSPC as SYS_HPM_LOG; -ESRCH: no such session or process;
 * -EDQUOT, -ENOMEM: no memory.
 */
int hpm_log(int session, const struct sys_hpm_log *what, char *why, size_t size) VIGIL(hpm_log);
/* Takes records, each a struct sys_hpm_logged and its struct sys_hpm_pair. Returns the number
 * taken; -ESRCH; -EINVAL: no room for one. 0 bytes: has all CPUs tell what they have not told yet,
 * for the end of a log: 0. */
int hpm_log_take(int session, void *out, size_t bytes) VIGIL(hpm_log_take);
/* Describes the next event or metric that can be counted by name on this machine, and advances
 * `cursor`, which is 0 at first. Returns 0; -ENOENT: no more; -ENODEV: none. */
int hpm_list(uint32_t *cursor, struct sys_hpm_listed *out) VIGIL(hpm_list);
/*
 * Reads count `i` of the session, an event, not a metric, for the calling thread, without an
 * interval. Where user mode can read the counter's register (Intel's, AMD's and Arm's counters)
 * this takes some ten ns; the thread's first call asks the kernel for its page. Elsewhere it is a
 * system call. Returns 1: read in user mode; 0: by a system call; -EINVAL: no such count; or an
 * error of hpm_values(). No thread may be reading while another one closes the session.
 */
int hpm_count_read(int session, unsigned i, uint64_t *count) VIGIL(hpm_count_read);
/* Reads where cycles went since the beginning; read->session is 0. Returns 0, or -ESRCH: no such
 * process or thread. */
int hpm_breakdown(const struct sys_hpm_read *read, struct sys_breakdown *out) VIGIL(hpm_breakdown);

/*
 * Opens a session: takes samples by criteria ("cycles, L1D_MISSES:u@10k, time@1ms, entries,
 * access.remote") from now on, of process `pid`, which may be application_next_pid(), or of all if
 * 0. `rate`: samples a second that criteria without a period aim at. `permille`: of the busy time
 * that sampling may cost. Returns its number, or an error with the reason in `why`, as hpm_open();
 * -EBUSY: hardware that it needs is in use; -ESRCH: no such process.
 */
int samples_open(const char *criteria, uint32_t pid, uint32_t rate, uint32_t permille, char *why,
                 size_t size) VIGIL(samples_open);
/* The same, of samples with chains of calls (SYS_CHAINS_), or of a process and its descendants. */
int samples_open_chains(const struct sys_profiling *what, char *why, size_t size)
    VIGIL(samples_open_chains);
/* Reads up to `room` addresses of a sample's chain, the sample's own first, then where calls return
 * to. Returns how many it has; -ESRCH; -ENOENT: the session has no such chain. */
int samples_chain(int session, uint32_t chain, uint64_t *out, size_t room) VIGIL(samples_chain);
/* Takes up to `room` samples. Returns the number taken; -ESRCH; -EFAULT: they stay for the next
 * call. 0: has all CPUs hand over what they have, for an account that is up to date. */
int samples_take(int session, struct sys_sample *out, size_t room) VIGIL(samples_take);
/* Reads the account of a criterion. Returns 0, -ESRCH, or -ENOENT: the session has no such
 * criterion. */
int samples_account(int session, unsigned criterion, struct sys_sample_account *out)
    VIGIL(samples_account);
void samples_close(int session) VIGIL(samples_close);

/*
 * Regions: named parts of a program. The events that a session counts for the calling thread
 * between a region's begin and its end are summed by name, for all threads of the process:
 * inclusive of the regions begun inside it, and exclusive of them. A region inside itself counts
 * once. begin and end take a system call each; its cost falls on the surrounding region but for its
 * edges.
 */
enum { HPM_REGIONS = 64, HPM_REGION_DEPTH = 16, HPM_REGION_COUNTS = 8, HPM_REGION_NAME = 32 };
struct hpm_region {
    char name[HPM_REGION_NAME]; /* cut if longer */
    uint64_t calls;
    /* In the order of the events' names. */
    uint64_t inclusive[HPM_REGION_COUNTS], exclusive[HPM_REGION_COUNTS];
};
/*
 * Counts these events from now on: up to 8, no metrics. at_exit=1 prints the table when the program
 * ends. Returns 0; an error of hpm_open(); -EINVAL: a metric; -ENOSPC: more than 8; -EBUSY: regions
 * are counted already. `why` gets the reason.
 */
int hpm_regions_start(const char *names, int at_exit, char *why, size_t size)
    VIGIL(hpm_regions_start);
/* Begin and end a region. Return 0; -ENODEV: not started; -ENOSPC: more than 64 names, or more than
 * 16 regions inside one another; -EINVAL: not the region that this thread entered last. Refused
 * calls are counted; the table shows their number. */
int hpm_region_begin(const char *name) VIGIL(hpm_region_begin);
int hpm_region_end(const char *name) VIGIL(hpm_region_end);
/* Copies the first `room` regions with the counts of all that have ended. Returns the number of
 * regions. */
size_t hpm_regions_read(struct hpm_region *out, size_t room) VIGIL(hpm_regions_read);
void hpm_regions_print(void) VIGIL(hpm_regions_print);

/* Starts an application of the bundle; it ends with its parent. Returns its pid, or -Exxx, with a
 * line on the console. */
int application_start(char *const *argv, int argc) VIGIL(application_start);
/* Returns the pid that the next application will have, so that it can be observed from its
 * start. */
int application_next_pid(void) VIGIL(application_next_pid);
/* Sleeps until the application has ended. Returns its exit status. Its counts can still be read,
 * and its code be asked for by symbol_of(). */
int application_wait(int pid) VIGIL(application_wait);
/* Lists the threads of a process, of all processes if `pid` is 0, up to `room`. Returns the number
 * of threads, or -ESRCH. */
int application_threads(int pid, struct sys_thread_info *out, size_t room)
    VIGIL(application_threads);
