/*
 * Faults of programs: a readable message, and the end of the process. When memory is exhausted, the
 * process that holds most of it is ended, and other threads that need a page wait for its memory.
 */
#include "kernel/proc/internal.h"
#include "kernel/core/printf.h"
#include "mm/pool/swap.h"

static const char *const kind_names[] = {
    [USER_FAULT_MEMORY] = "invalid memory access",
    [USER_FAULT_ILLEGAL] = "illegal instruction",
    [USER_FAULT_PRIVILEGED] = "privileged instruction or impossible address",
    [USER_FAULT_ARITHMETIC] = "arithmetic error",
    [USER_FAULT_ALIGNMENT] = "misaligned access",
    [USER_FAULT_BREAKPOINT] = "breakpoint",
    [USER_FAULT_OTHER] = "exception",
};

static void end_with(struct process *p, int status, const char *why)
{
    if (!process_end(p, status))
        return;
    stdio_flush(p);
    kprintf("process %u %s: %s: ended\n", p->pid, p->name, why);
}

static const char *why_none_leaves(void)
{
    struct swap_stats swap;

    swap_stats(&swap);
    if (swap_failed())
        return "the swap disk has failed";
    if (swap_full())
        return swap.bad_slots ? "what failed writes have left of the swap disk is full"
                              : "the swap disk is full";
    return swap_present() ? "none of it can leave" : "nowhere to swap";
}

static void end_for_memory(struct process *p)
{
    char why[128];

    ksnprintf(why, sizeof(why), "out of memory, and %s", why_none_leaves());
    end_with(p, STATUS_NO_MEMORY, swap_failed() || swap_full() ? why : "out of memory");
}

/* Ends a process that has all the memory it may have, none of which can be evicted. Ending another
 * process would not help it. */
static void end_at_limit(struct process *p)
{
    char why[128];

    if (memory_account_full(&p->kernel, space_tables_wanted(p->space)))
        ksnprintf(why, sizeof(why),
                  "out of memory: it has all the kernel memory that mem.kernel allows");
    else
        ksnprintf(why, sizeof(why),
                  "out of memory: it has all that mem.process and mem.user allow, and %s",
                  why_none_leaves());
    end_with(p, STATUS_NO_MEMORY, why);
}

/* Ends p for an error that concerns p alone. Returns false if the error is another one. */
static bool ends_itself(struct process *p, int err, vaddr_t va)
{
    char where[64], why[128];

    if (err == -EDQUOT)
        end_at_limit(p);
    if (err == -EIO) {
        space_describe(p->space, va, where, sizeof(where));
        ksnprintf(why, sizeof(why), "the page at %#llx (%s) could not be read from disk",
                  (unsigned long long)va, where);
        end_with(p, STATUS_IO, why);
    }
    return err == -EDQUOT || err == -EIO || err == -EINTR;
}

/* Ends the process with most memory. Returns false if that is p, or no process is known to hold
 * any. */
static bool end_largest_but(struct process *p)
{
    struct process *victim = process_largest();

    if (!victim || victim == p)
        end_for_memory(p);
    else
        end_for_memory(victim);
    bool other = victim && victim != p;
    if (victim)
        process_put(victim);
    return other;
}

/* Returns whether a process has been freeing its memory since `before`. */
static bool memory_is_coming(struct process_reaps before)
{
    return before.begun != before.finished || process_reaps().finished != before.finished;
}

int process_page_fault(vaddr_t va, enum fault_access access, UNUSED bool from_user)
{
    struct process *p = thread_current()->process;

    if (!p)
        return -EFAULT;
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

static void report_fault(struct process *p, enum user_fault kind, vaddr_t pc, vaddr_t addr,
                         const struct arch_frame *frame)
{
    char code[SYMBOLS_TEXT_MAX], data[64];
    struct symbol_found place;

    space_describe(p->space, pc, code, sizeof(code));
    space_describe(p->space, addr, data, sizeof(data));
    stdio_flush(p);
    if (kind == USER_FAULT_MEMORY)
        kprintf("process %u %s, thread %u: %s at %#llx (%s), pc %#llx (%s): ended\n", p->pid,
                p->name, thread_current()->tid, kind_names[kind], (unsigned long long)addr, data,
                (unsigned long long)pc, code);
    else
        kprintf("process %u %s, thread %u: %s, pc %#llx (%s): ended\n", p->pid, p->name,
                thread_current()->tid, kind_names[kind], (unsigned long long)pc, code);
    if (symbols_find(&p->symbols, pc, &place)) {
        symbols_describe(&place, code, sizeof(code));
        kprintf("  in %s\n", code);
    }
    arch_frame_print(frame);
}

void process_user_fault(enum user_fault kind, vaddr_t pc, vaddr_t addr, struct arch_frame *frame)
{
    struct process *p = thread_current()->process;

    if (process_end(p, STATUS_FAULT))
        report_fault(p, kind, pc, addr, frame);
    uthread_exit();
}
