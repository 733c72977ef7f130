/*
 * Processes: programs of the bundle, each in an address space of its own, with threads 1:1 on
 * kernel threads.
 *
 * A process ends when its last thread has: by SYS_EXIT, a fault, a lack of memory or process_end.
 * "Ending" is then set, sleeping threads are woken with -EINTR, running ones interrupted, and each
 * leaves on its next way to user mode. The last one frees the memory and tells the waiters.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"
#include "hpm/policy/breakdown.h"
#include "kernel/core/cmdline.h"
#include "mm/mm.h"
#include "mm/track/track.h"

struct process;
struct space_stats;
struct thread;
struct track_curve;

#define PROCESS_NAME_MAX    24
#define PROCESS_THREADS_MAX 1024 /* of one process */
#define THREADS_MAX         4096 /* of all together */

/* Exit statuses the kernel gives; programs give 0..255. */
#define STATUS_FAULT     139
#define STATUS_NO_MEMORY 137
#define STATUS_IO        135 /* a page could not be read in */

extern const struct arg process_args[]; /* boot arguments proc.* */
/* Boot CPU, thread context. Checks the bundle; a broken one is the image's fault and panics. */
void process_init(void);
/* Starts the application argv[0] of the bundle. 0; -ENOENT no such application, -ENOEXEC broken
 * program, -E2BIG arguments too long, -ENOMEM, -EAGAIN too many threads, -EDQUOT mem.kernel allows
 * too little: each with a line on the console that names the thing. Thread context; *out holds a
 * reference, process_finish's to drop. */
int process_start(const char *const *argv, unsigned argc, struct process **out);
/* Sleeps until it has ended and its memory is free; its exit status. */
int process_wait(struct process *p);
/* Drops the reference that process_start gave and sleeps until all that it has started, and these,
 * have ended, too, and their memory is back; they end soon after it. Once, behind process_wait. */
void process_finish(struct process *p);
void process_put(struct process *p); /* drops a reference */
/* Ends a process from anywhere; false when it was ending already: the first status counts. Thread
 * context, no spinlock held. */
bool process_end(struct process *p, int status);

/* The process of the next higher pid that is not gone, with a reference, or NULL: to go through all
 * of them. */
struct process *process_after(uint32_t pid);
uint32_t process_pid(const struct process *p);
/* Where the cycles of all its threads went, past and present. */
void process_hpm(struct process *p, struct hpm_breakdown *out);
/* Where those of single threads went that run now. */
struct process_thread_counts {
    uint32_t tid;
    bool news; /* it has run since this was asked the last time, or did for the last time then */
    struct hpm_breakdown counts;
};
/* Of up to max threads, those behind tid in the order of their numbers: how many there are. One
 * caller at a time. */
unsigned process_hpm_threads(struct process *p, uint32_t tid, struct process_thread_counts *out,
                             unsigned max);
/* Its memory, and how often it would miss with more or less (mm/track/track.h). False: there is no
 * such process, or nothing is known. Thread context, no lock held, as the next. */
bool process_memory(uint32_t pid, struct space_stats *out);
bool process_curve(uint32_t pid, struct track_curve *out);
/* The name of a region that memory policies know by this number; name: REGION_NAME_MAX. */
bool process_region_name(uint32_t pid, unsigned tag, char *name);
bool process_has_application(const char *name); /* is it in the bundle? */
/* Names of the bundled applications on the console. */
void process_list_applications(void);

/* ---- Handlers for arch_attach ---------------------------------------------------------------- */
int process_page_fault(vaddr_t va, enum fault_access access, bool from_user);
NORETURN void process_user_fault(enum user_fault kind, vaddr_t pc, vaddr_t addr,
                                 struct arch_frame *frame);
void process_user_return(void); /* interrupts off; does not return in a process that is ending */
/* Makes the system call `number` (abi.h) for the calling thread. Interrupts on. */
int64_t syscall_dispatch(uint64_t number, const uint64_t args[6]);
extern const struct arg syscall_args[]; /* boot argument proc.calls */
