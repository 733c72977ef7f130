/*
 * Signals. One that is sent waits with its thread or process, and the thread that is to take it is
 * told by thread->signalled; it takes signals on its way to user mode, where handlers begin. A call
 * that sleeps interruptibly ends with one of the internal error numbers of errno.h, and is made
 * again or ends with EINTR when the signal is taken.
 *
 * The lock of the process guards all of it; [O]: the thread itself writes it, with that lock where
 * others read.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"
#include "kernel/file/file.h"
#include "kernel/proc/signal_queue.h"
#include "sched/sched.h"

struct process;
struct thread;

/* Of a thread. */
struct thread_signals {
    struct signal_queue pending;
    uint64_t mask;     /* [O] blocked */
    uint64_t awaited;  /* [O] it waits for these, blocked or not */
    uint64_t old_mask; /* [O] what the mask is after the call that has replaced it ... */
    bool masked;       /* [O] ... if it has */
    vaddr_t alt_sp;    /* [O] alternate stack; SS_DISABLE: none */
    uint64_t alt_bytes;
    uint32_t alt_flags;
    vaddr_t fault_addr; /* [O] of the last refused access, and ... */
    int fault_error;    /* [O] ... why it was */
    bool fault_now;     /* [O] the frame still has the registers of an exception */
    /* [O] The call that is returning, if it may be made again: its error, number and first
     * argument. 0: none. */
    int again;
    uint64_t call, first;
    uint64_t deadline_ns; /* [O] of that call, if it keeps one ... */
    bool keeps_deadline;  /* [O] ... and is made again with it */
};

/* What a signal does. */
struct signal_action {
    vaddr_t handler; /* SIG_DFL, SIG_IGN */
    uint64_t flags;
    vaddr_t restorer;
    uint64_t mask;
};

/* Of a process. */
struct process_signals {
    struct signal_action action[SIGNALS];
    struct signal_queue pending;
    uint32_t queued;             /* entries that wait, of the process and its threads */
    struct poll_source changes;  /* tells that a signal waits */
    bool stopped;                /* written with the lock, read atomically */
    struct wait_queue continued; /* waits until it is not */
};

/* Returns what a new thread has, with this mask, or NULL. */
struct thread_signals *signals_make(uint64_t mask);
/* Frees what t, which is gone, has. Lock of p not held. */
void signals_free(struct process *p, struct thread *t);
void signals_init(struct process_signals *s);
/* Drops what waits for p, which is gone. */
void signals_end(struct process *p);

/* Sends a signal, which info->si_signo says, to a process, or one of its threads. Thread context,
 * no lock held. Returns 0; -EAGAIN: too many wait; -ESRCH: there is no such thread. */
int signal_send(struct process *p, const siginfo_t *info);
int signal_send_thread(struct process *p, uint32_t tid, const siginfo_t *info);
/* Sends to all processes of a group. */
void signal_send_group(uint32_t group, const siginfo_t *info);
/* Returns whether the caller blocks the signal, or its process ignores it. */
bool signal_is_refused(int number);
/* Sends a parent the signal about a child. As signal_send(). */
int signal_send_news(struct process *p, const siginfo_t *info);
/* Sends an owner's signal, which does not wait now, to p, or its thread `tid`; 0: any. Returns
 * whether it waits: it was not ignored, and there is such a thread. Any context, lock of p held. */
bool signal_send_entry_locked(struct process *p, uint32_t tid, struct signal_entry *e);
/* Sends the caller a signal that it cannot block or ignore: then it ends the process. */
void signal_force(const siginfo_t *info);
/* Returns whether the caller's process handles the signal, and the caller does not block it. */
bool signal_handled(int number);
/* Sets the caller's mask. KILL and STOP cannot be blocked. */
void signal_set_mask(uint64_t mask);
/* Sets it until the call ends: until a handler has begun, or the call ends otherwise. */
void signal_mask_for_call(uint64_t mask);
void signal_unmask_call(int64_t result);
/* Sets the signals that the caller waits for: it is told of them, though it may block them. */
void signal_await(uint64_t set);
/* Sets what a signal does, unless `new` is NULL; drops what waits and is ignored from now on.
 * Returns what it did. */
struct signal_action signal_act(int number, const struct signal_action *new);
/* Returns whether children of p are not waited for, and whether p is told of their stops. */
bool signal_reaps_children(struct process *p);
bool signal_tells_stops(struct process *p);
/* Sets all signals that are not ignored to what they do by default. */
void signals_reset_handlers(struct signal_action action[SIGNALS]);
/* Prepares the caller's process, whose only thread it is, for another program. */
void signals_new_program(struct process *p);
/* Takes a signal of `set`. Returns its number and particulars, or 0. */
int signal_take(uint64_t set, siginfo_t *info);
/* Waits for a signal of `set`, blocked or not, and takes it. Returns its number and particulars;
 * -EAGAIN: the deadline; -EINTR: another signal. Thread context, no lock held. */
int64_t signal_wait(uint64_t set, uint64_t deadline_ns, siginfo_t *info);
/* Takes signals, or makes an interrupted call again: changes `frame`. Does not return if that ends
 * the process. Thread context, interrupts on, on the way to user mode. */
void signals_deliver(struct arch_frame *frame);
/* Notes the result of a call that is returning. */
void signals_call_ends(uint64_t number, uint64_t first, int64_t result);
/* Returns the deadline of a call that was interrupted and is made again, else `deadline_ns`. */
uint64_t signals_deadline(uint64_t deadline_ns);
/* Takes the registers of before a handler from the program's stack. Returns what the result
 * register gets. */
int64_t signals_return(struct arch_frame *frame);
/* Returns what Linux's flags of the alternate stack are with this stack pointer. */
uint32_t signals_stack_flags(const struct thread_signals *ts, vaddr_t sp);
/* Tells threads of p that want it what waits for p: one that had been told has left. Lock of p
 * held. */
void signals_pass_on_locked(struct process *p);
/* Drops signals of `set` wherever they wait in p. Lock of p held. */
void signal_forget_locked(struct process *p, uint64_t set);

/* ---- signal_stop.c --------------------------------------------------------------------------- */
/* Signals that stop a process that does not handle them; Linux's numbers on both instruction
 * sets. */
#define SIGNALS_STOPPING (SIGNAL_BIT(19) | SIGNAL_BIT(20) | SIGNAL_BIT(21) | SIGNAL_BIT(22))
/* Does what a signal does when it is sent: SIGCONT continues p. Lock of p held. */
void signals_sent_locked(struct process *p, int number);
/* Sleeps until p is not stopped, or is ending. Lock of p held, with its interrupt state in irq. */
void signals_wait_stopped_locked(struct process *p, bool *irq);
/* Stops p, the caller's process, by this signal. Thread context, no lock held. */
void signals_stop(struct process *p, int number);
/* Continues all processes if all are stopped. Thread context, no lock held. */
void signals_check_stopped(void);

/* Returns the name of a signal, or "unknown". */
const char *signal_name(int number);
