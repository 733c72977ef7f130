/*
 * Exceptions and interrupts (SDM vol. 3A, chapter 6).  A user's exception ends in the handlers main attached;
 * the kernel's own is repaired by the fixup table or ends in a panic that says what happened.
 */
#include "trap.h"
#include "clock.h"
#include "lapic.h"
#include "x86.h"
#include "kernel/cpu.h"
#include "kernel/panic.h"

/* Page-fault error code (SDM vol. 3A, 4.7). */
#define PF_PRESENT  BIT(0)
#define PF_WRITE    BIT(1)
#define PF_RESERVED BIT(3)
#define PF_EXEC     BIT(4)

const struct arch_handlers *x86_handlers;

static const struct {
    const char *name;
    enum user_fault kind;
} exceptions[VEC_EXCEPTIONS] = {
    [0] = {"division error", USER_FAULT_ARITHMETIC},
    [1] = {"debug", USER_FAULT_BREAKPOINT},
    [2] = {"non-maskable interrupt", USER_FAULT_OTHER},
    [3] = {"breakpoint", USER_FAULT_BREAKPOINT},
    [4] = {"overflow", USER_FAULT_ARITHMETIC},
    [5] = {"bound range", USER_FAULT_ARITHMETIC},
    [6] = {"invalid opcode", USER_FAULT_ILLEGAL},
    [7] = {"no floating-point unit", USER_FAULT_ILLEGAL},
    [8] = {"double fault", USER_FAULT_OTHER},
    [10] = {"invalid TSS", USER_FAULT_OTHER},
    [11] = {"segment not present", USER_FAULT_PRIVILEGED},
    [12] = {"stack segment", USER_FAULT_MEMORY},
    [13] = {"general protection", USER_FAULT_PRIVILEGED},
    [14] = {"page fault", USER_FAULT_MEMORY},
    [16] = {"x87 error", USER_FAULT_ARITHMETIC},
    [17] = {"alignment check", USER_FAULT_ALIGNMENT},
    [18] = {"machine check", USER_FAULT_OTHER},
    [19] = {"SIMD error", USER_FAULT_ARITHMETIC},
    [21] = {"control protection", USER_FAULT_OTHER},
};

static const char *exception_name(uint64_t vector)
{
    const char *name = vector < VEC_EXCEPTIONS ? exceptions[vector].name : NULL;

    return name ? name : "unknown exception";
}

void arch_attach(const struct arch_handlers *handlers)
{
    x86_handlers = handlers;
}

enum fixup_kind { FIXUP_FAULT_IN, FIXUP_NO_FAULT };

/* Distances from the fields themselves; written by usercopy_asm.S. */
struct fixup {
    int32_t from, to;
    int32_t kind;
};
extern const struct fixup fixup_start[], fixup_end[];

static const struct fixup *find_fixup(uint64_t rip)
{
    for (const struct fixup *f = fixup_start; f < fixup_end; f++) {
        if ((uint64_t)&f->from + (uint64_t)(int64_t)f->from == rip)
            return f;
    }
    return NULL;
}

static void apply_fixup(struct arch_frame *frame, const struct fixup *f)
{
    frame->rip = (uint64_t)&f->to + (uint64_t)(int64_t)f->to;
}

static enum fault_access access_of(uint64_t error)
{
    return error & PF_EXEC ? FAULT_EXEC : error & PF_WRITE ? FAULT_WRITE : FAULT_READ;
}

static void user_page_fault(struct arch_frame *frame, vaddr_t va)
{
    arch_irq_restore(frame->rflags & RFLAGS_IF);
    if (va < USER_MAX && !(frame->error & PF_RESERVED) &&
        !x86_handlers->page_fault(va, access_of(frame->error), true))
        return;
    x86_handlers->user_fault(USER_FAULT_MEMORY, frame->rip, va, frame);
}

extern char text_start[], rodata_end[];

static const char *explain(const struct arch_frame *frame, vaddr_t va)
{
    if (va < PAGE_SIZE)
        return "null pointer";
    if (va < USER_MAX && (frame->error & PF_EXEC))
        return "user memory executed";
    if (va < USER_MAX && (frame->error & PF_PRESENT))
        return "user memory touched without access";
    if (va < USER_MAX)
        return "user address outside a user copy";
    if (frame->error & PF_RESERVED)
        return "corrupt page table";
    /* Mapped memory does not fault, so a miss next to the stack pointer is the page below the stack. */
    if (va + PAGE_SIZE - frame->rsp < 2 * PAGE_SIZE)
        return "stack overflow in guard page";
    if (va >= (vaddr_t)text_start && va < (vaddr_t)rodata_end && (frame->error & PF_WRITE))
        return "read-only kernel memory written";
    if (frame->error & PF_EXEC)
        return "data executed";
    return "wild pointer";
}

static void kernel_page_fault(struct arch_frame *frame, vaddr_t va)
{
    const struct fixup *f = find_fixup(frame->rip);

    if (!f)
        panic_frame(frame, "page fault: %s: %s of %#llx", explain(frame, va),
                    frame->error & PF_EXEC    ? "execution"
                    : frame->error & PF_WRITE ? "write"
                                              : "read",
                    (unsigned long long)va);
    if (f->kind == FIXUP_FAULT_IN && va < USER_MAX) {
        if (this_cpu()->spin_depth)
            panic_frame(frame, "user memory copied while holding %u spinlocks", this_cpu()->spin_depth);
        arch_irq_restore(frame->rflags & RFLAGS_IF);
        if (!x86_handlers->page_fault(va, access_of(frame->error), false))
            return;
    }
    apply_fixup(frame, f);
}

static void exception(struct arch_frame *frame)
{
    bool user = arch_frame_user(frame);

    if (frame->vector == VEC_PF) {
        vaddr_t va = read_cr2();
        if (user)
            user_page_fault(frame, va);
        else
            kernel_page_fault(frame, va);
        return;
    }
    if (user && x86_handlers) {
        arch_irq_restore(true);
        x86_handlers->user_fault(exceptions[frame->vector].kind, frame->rip, frame->rip, frame);
    }
    const struct fixup *f = find_fixup(frame->rip);
    if (!f)
        panic_frame(frame, "%s, error code %#llx", exception_name(frame->vector),
                    (unsigned long long)frame->error);
    apply_fixup(frame, f);
}

static void interrupt(struct arch_frame *frame)
{
    static const enum arch_ipi ipis[] = {
        [VEC_RESCHED - VEC_RESCHED] = IPI_RESCHED,
        [VEC_TLB - VEC_RESCHED] = IPI_TLB,
        [VEC_CALL - VEC_RESCHED] = IPI_CALL,
    };

    if (frame->vector == VEC_SPURIOUS || frame->vector < VEC_TIMER)
        return;
    lapic_eoi();
    switch (frame->vector) {
    case VEC_TIMER:
        if (clock_timer_fired())
            x86_handlers->timer();
        break;
    case VEC_RESCHED:
    case VEC_TLB:
    case VEC_CALL:
        x86_handlers->ipi(ipis[frame->vector - VEC_RESCHED]);
        break;
    case VEC_PMU:
        x86_handlers->pmu(frame);
        lapic_pmu_unmask();
        break;
    case VEC_ERROR:
        lapic_error();
        break;
    }
}

static void leave(const struct arch_frame *frame)
{
    arch_irq_save();
    if (arch_frame_user(frame))
        x86_handlers->user_return();
}

/* All three are called by entry.S.  The processor leaves AC as user mode had it, and with SMAP that is a
 * permission. */
void trap_enter(struct arch_frame *frame);
void trap_enter(struct arch_frame *frame)
{
    arch_user_access_end();
    if (frame->vector < VEC_EXCEPTIONS)
        exception(frame);
    else
        interrupt(frame);
    leave(frame);
}

void trap_paranoid_enter(struct arch_frame *frame);
void trap_paranoid_enter(struct arch_frame *frame)
{
    arch_user_access_end();
    if (frame->vector == VEC_NMI && this_cpu()->arch.stop)
        x86_handlers->ipi(IPI_STOP);
    if (frame->vector == VEC_DF) {
        vaddr_t va = read_cr2();
        panic_frame(frame, "double fault: %s, last page fault at %#llx", explain(frame, va),
                    (unsigned long long)va);
    }
    panic_frame(frame, "%s", exception_name(frame->vector));
}

void syscall_enter(struct arch_frame *frame);
void syscall_enter(struct arch_frame *frame)
{
    uint64_t args[6] = {frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8, frame->r9};

    arch_irq_restore(true);
    frame->rax = (uint64_t)x86_handlers->syscall(frame->rax, args);
    leave(frame);
}
