/*
 * Faults of programs: a readable message, and the end of the process. When memory is exhausted, the
 * process that holds most of it is ended, and other threads that need a page wait for its memory.
 */
#include "kernel/core/cpu.h"
#include "kernel/proc/internal.h"
#include "kernel/core/printf.h"
#include "mm/pool/swap.h"
#include <asm/signal.h>

/* A key in lines of the console, and what it means. */
struct cause {
    const char *key, *meaning;
};

static const struct cause kinds[] = {
    [USER_FAULT_MEMORY] = {"memory", "invalid memory access"},
    [USER_FAULT_ILLEGAL] = {"illegal", "illegal instruction"},
    [USER_FAULT_PRIVILEGED] = {"privileged", "privileged instruction or impossible address"},
    [USER_FAULT_ARITHMETIC] = {"arithmetic", "arithmetic error"},
    [USER_FAULT_ALIGNMENT] = {"misaligned", "misaligned access"},
    [USER_FAULT_BREAKPOINT] = {"breakpoint", "breakpoint"},
    [USER_FAULT_OTHER] = {"other", "exception"},
};

/* Why no page can be swapped out. */
static struct cause swap_state(void)
{
    struct swap_stats swap;

    swap_stats(&swap);
    if (swap_failed())
        return (struct cause){"failed", "the swap disk has failed"};
    if (swap_full() && swap.bad_slots)
        return (struct cause){"bad", "all slots of the swap disk that can be written are in use"};
    if (swap_full())
        return (struct cause){"full", "the swap disk is full"};
    if (swap_present())
        return (struct cause){"ready", "none of its pages can be evicted"};
    return (struct cause){"none", "there is no swap disk"};
}

/* Ends p, the caller's or looked at, which has all the memory that `limit` allows: "machine", or
 * names of boot arguments. */
static void end_for_memory(struct process *p, const char *limit)
{
    struct cause swap = swap_state();

    if (!process_end(p, STATUS_NO_MEMORY))
        return;
    stdio_flush(p);
    kprintf("process: event=ended reason=memory limit=%s swap=%s pid=%u app=%s: out of memory, and "
            "%s\n",
            limit, swap.key, p->pid, p->name, swap.meaning);
}

/* Ends a process that has all the memory it may have, none of which can be evicted. Ending another
 * process would not help it. */
static void end_at_limit(struct process *p)
{
    bool kernel = memory_account_full(p->kernel, space_tables_wanted(p->space));

    end_for_memory(p, kernel ? "mem.kernel" : "mem.process,mem.user");
}

/* Ends p, whose page at va could not be read. */
static void end_for_io(struct process *p, vaddr_t va)
{
    char where[64];

    space_describe(p->space, va, where, sizeof(where));
    if (!process_end(p, STATUS_IO))
        return;
    stdio_flush(p);
    for (char *c = where; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    kprintf(
        "process: event=ended reason=io pid=%u app=%s at=%#llx page=%s: the page could not be read "
        "from disk\n",
        p->pid, p->name, (unsigned long long)va, where);
}

/* Ends p for an error that concerns p alone. Returns false if the error is another one. */
static bool ends_itself(struct process *p, int err, vaddr_t va)
{
    if (err == -EDQUOT)
        end_at_limit(p);
    if (err == -EIO)
        end_for_io(p, va);
    return err == -EDQUOT || err == -EIO || err == -EINTR;
}

/* Ends the process with most memory. Returns false if that is p, or no process is known to hold
 * any. */
static bool end_largest_but(struct process *p)
{
    struct process *victim = process_look_largest();

    if (!victim || victim == p)
        end_for_memory(p, "machine");
    else
        end_for_memory(victim, "machine");
    bool other = victim && victim != p;
    if (victim)
        process_look_end(victim);
    return other;
}

/* Returns whether a process has been freeing its memory since `before`. */
static bool memory_is_coming(struct process_reaps before)
{
    return before.begun != before.finished || process_reaps().finished != before.finished;
}

/* Makes a page usable as process_page_fault() does. */
static int fault_in(struct process *p, vaddr_t va, enum fault_access access)
{
    for (;;) {
        struct process_reaps before = process_reaps();
        int err = space_fault(p->space, va, access);
        if (ends_itself(p, err, va))
            return -EFAULT;
        if (err != -ENOMEM)
            return err;
        if (process_ending(p) || (!memory_is_coming(before) && !end_largest_but(p)))
            return -EFAULT;
        process_wait_reap(before);
    }
}

/* Counts a fault of the thread, also for the CPU that it is on by now. */
static void count_fault(struct thread *t, bool major)
{
    t->faults++;
    t->major_faults += major;
    __atomic_fetch_add(&this_cpu()->faults, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&this_cpu()->major_faults, major, __ATOMIC_RELAXED);
}

int process_page_fault(vaddr_t va, enum fault_access access, bool from_user)
{
    struct thread *t = thread_current();

    if (!t->process)
        return -EFAULT;
    uint64_t slow = t->slow_faults;
    int err = fault_in(t->process, va, access);
    count_fault(t, t->slow_faults != slow);
    if (err && from_user)
        t->signals->fault_error = err;
    return err;
}

static void report_fault(struct process *p, enum user_fault kind, vaddr_t pc, vaddr_t addr,
                         const struct arch_frame *frame)
{
    char code[SYMBOLS_TEXT_MAX], data[64], at[96] = "";
    struct symbol_found found;

    space_describe(p->space, pc, code, sizeof(code));
    const char *in = space_describe(p->space, addr, data, sizeof(data));
    if (kind == USER_FAULT_MEMORY)
        ksnprintf(at, sizeof(at), " at %#llx (%s)", (unsigned long long)addr, data);
    stdio_flush(p);
    kprintf("process: event=ended reason=fault kind=%s in=%s pid=%u app=%s tid=%u: %s%s, pc %#llx "
            "(%s)\n",
            kinds[kind].key, kind == USER_FAULT_MEMORY ? in : "none", p->pid, p->name,
            thread_current()->tid, kinds[kind].meaning, at, (unsigned long long)pc, code);
    if (symbols_find(&p->symbols, pc, &found)) {
        symbols_describe(&found, code, sizeof(code));
        kprintf("  in %s\n", code);
    }
    arch_frame_print(frame);
}

/* Describes the fault as a signal. */
static siginfo_t signal_of(struct process *p, enum user_fault kind, vaddr_t pc, vaddr_t addr,
                           const struct arch_frame *frame)
{
    struct thread_signals *ts = thread_current()->signals;
    siginfo_t info;

    memset(&info, 0, sizeof(info));
    arch_fault_signal(kind, frame, &info.si_signo, &info.si_code);
    if (kind == USER_FAULT_MEMORY) {
        ts->fault_addr = addr;
        if (ts->fault_error == -ENXIO) {
            info.si_signo = SIGBUS;
            info.si_code = BUS_ADRERR;
        } else if (info.si_code == SEGV_MAPERR && addr < USER_MAX &&
                   space_is_mapped(p->space, ALIGN_DOWN(addr, PAGE_SIZE), PAGE_SIZE)) {
            info.si_code = SEGV_ACCERR;
        }
    }
    if (info.si_code != SI_KERNEL)
        info.si_addr =
            (void *)(kind == USER_FAULT_MEMORY || kind == USER_FAULT_ALIGNMENT ? addr : pc);
    ts->fault_error = 0;
    ts->fault_now = true;
    return info;
}

void process_user_fault(enum user_fault kind, vaddr_t pc, vaddr_t addr, struct arch_frame *frame)
{
    struct process *p = thread_current()->process;

    if (process_ending(p))
        uthread_exit();
    siginfo_t info = signal_of(p, kind, pc, addr, frame);
    if (signal_handled(info.si_signo)) {
        signal_force(&info);
        return;
    }
    if (process_end(p, 128 + info.si_signo))
        report_fault(p, kind, pc, addr, frame);
    uthread_exit();
}
