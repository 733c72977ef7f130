/*
 * Processes: programs of the bundle, each in an address space of its own, with threads 1:1 on
 * kernel threads.
 *
 * A process is ended by exit_group(2), a fault, a lack of memory or process_end(). That sets
 * "ending", wakes sleeping threads with -EINTR and interrupts running ones; each leaves on its next
 * way to user mode. The last thread frees the memory and tells the waiters.
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
#define THREADS_MAX         4096 /* of all processes */

/* Exit statuses that the kernel gives, beside 128 + the number of a signal; programs give 0 to
 * 255. */
#define STATUS_NO_MEMORY 137
#define STATUS_IO        135 /* a page could not be read in */

extern const struct arg process_args[]; /* boot arguments proc.* */
/* Checks the bundle. Panics if it is broken, as then the image is. Boot CPU, thread context. */
void process_init(void);
/* Starts the application argv[0] of the bundle. `out` gets a reference, which process_finish()
 * drops. Thread context. Returns 0, or an error with a line on the console: -ENOENT: no such
 * application; -ENOEXEC: broken program; -E2BIG: arguments too long; -ENOMEM; -EAGAIN: too many
 * threads; -EDQUOT: mem.kernel allows too little. */
int process_start(const char *const *argv, struct process **out);
/* Sleeps until p has ended and its memory is free. Returns its exit status. */
int process_wait(struct process *p);
/* Drops the reference of process_start(), and sleeps until all descendants of p have ended and
 * their memory is free; they end soon after p. Called once, after process_wait(). */
void process_finish(struct process *p);
void process_put(struct process *p); /* drops a reference */
/* Ends a process. Returns false if it was ending already; the first status counts. Thread context,
 * no spinlock held. */
bool process_end(struct process *p, int status);

/* Returns the process of the next higher pid, referenced, or NULL: to visit all processes. */
struct process *process_after(uint32_t pid);
uint32_t process_pid(const struct process *p);
/* Reads where the cycles of all its threads went, present and past. */
void process_hpm(struct process *p, struct hpm_breakdown *out);
/* Where the cycles of one present thread went. */
struct process_thread_counts {
    uint32_t tid;
    bool news; /* it has run since the last reading but one */
    struct hpm_breakdown counts;
};
/* Reads up to `max` present threads with tids above `tid`, in the order of their tids. Returns the
 * number read. One caller at a time. */
unsigned process_hpm_threads(struct process *p, uint32_t tid, struct process_thread_counts *out,
                             unsigned max);
/* Read the memory figures of a process, and its curve of misses (mm/track/track.h). Return false if
 * there is no such process, or no curve. Thread context, no lock held. */
bool process_memory(uint32_t pid, struct space_stats *out);
bool process_curve(uint32_t pid, struct track_curve *out);
/* Reads the name of the region that memory policies know by this tag into `name`, of
 * REGION_NAME_MAX bytes. Thread context, no lock held. */
bool process_region_name(uint32_t pid, unsigned tag, char *name);
bool process_has_application(const char *name); /* whether it is in the bundle */
/* Finds the next application of the bundle, and advances the cursor, which is 0 at first. Returns
 * false at the end. */
#define PROCESS_APPLICATION_MAX 100 /* characters of a name */
bool process_next_application(uint64_t *cursor, char name[PROCESS_APPLICATION_MAX + 1]);
/* Prints the names of the bundled applications. */
void process_list_applications(void);

/* ---- Handlers for arch_attach ---------------------------------------------------------------- */
int process_page_fault(vaddr_t va, enum fault_access access, bool from_user);
void process_user_fault(enum user_fault kind, vaddr_t pc, vaddr_t addr, struct arch_frame *frame);
/* Takes signals, which changes `frame`. Returns false if there was nothing to do; does not return
 * if the process is ending. Interrupts off. */
bool process_user_return(struct arch_frame *frame);
/* Makes the system call `number` (syscall/syscall.h) for the calling thread, whose registers are in
 * `frame`. Interrupts on. */
int64_t syscall_dispatch(uint64_t number, const uint64_t args[6], struct arch_frame *frame);
/* Tells which arguments programs can list and set (SYS_KNOB_LIST); before the first program. */
void knobs_init(const struct arg *const *tables);
extern const struct arg syscall_args[]; /* boot argument proc.calls */
