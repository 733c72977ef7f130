/* Decodes exceptions and interrupts (SDM vol. 3A, chapter 6); kernel/arch/fault.c handles
 * faults. */
#include "frame.h"
#include "lapic.h"
#include "x86.h"
#include "kernel/arch/msi.h"
#include "kernel/arch/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/arch/fault.h"
#include "kernel/core/panic.h"

/* Page-fault error code (SDM vol. 3A, 4.7). */
#define PF_PRESENT  BIT(0)
#define PF_WRITE    BIT(1)
#define PF_RESERVED BIT(3)
#define PF_EXEC     BIT(4)

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

static enum fault_access access_of(uint64_t error)
{
    return error & PF_EXEC ? FAULT_EXEC : error & PF_WRITE ? FAULT_WRITE : FAULT_READ;
}

static struct fault fault_of(const struct arch_frame *frame)
{
    return (struct fault){
        .va = read_cr2(),
        .access = access_of(frame->error),
        .present = frame->error & PF_PRESENT,
        .corrupt = frame->error & PF_RESERVED,
    };
}

static void exception(struct arch_frame *frame)
{
    bool user = arch_frame_user(frame);

    if (frame->vector == VEC_PF) {
        struct fault fault = fault_of(frame);
        if (user)
            fault_from_user(frame, &fault);
        else
            fault_in_kernel(frame, &fault);
        return;
    }
    if (user && arch_handlers.user_fault) {
        arch_irq_restore(true);
        arch_handlers.user_fault(exceptions[frame->vector].kind, frame->rip, frame->rip, frame);
        return;
    }
    if (!fault_repair(frame))
        panic_frame(frame, "%s, error code %#llx", exception_name(frame->vector),
                    (unsigned long long)frame->error);
}

static void interrupt(struct arch_frame *frame)
{
    static const enum arch_ipi ipis[] = {
        [VEC_RESCHED - VEC_RESCHED] = IPI_RESCHED,
        [VEC_TLB - VEC_RESCHED] = IPI_TLB,
        [VEC_CALL - VEC_RESCHED] = IPI_CALL,
    };

    if (frame->vector == VEC_SPURIOUS || frame->vector < VEC_MSI)
        return;
    unsigned begin = arch_handlers.interrupt_begin();
    lapic_eoi();
    if (frame->vector < VEC_TIMER)
        msi_arrived((unsigned)frame->vector - VEC_MSI);
    switch (frame->vector) {
    case VEC_TIMER:
        if (clock_timer_fired())
            arch_handlers.timer(frame);
        break;
    case VEC_RESCHED:
    case VEC_TLB:
    case VEC_CALL:
        arch_handlers.ipi(ipis[frame->vector - VEC_RESCHED]);
        break;
    case VEC_PATH:
        arch_handlers.path();
        break;
    case VEC_ERROR:
        lapic_error();
        break;
    }
    arch_handlers.interrupt_end(begin);
}

static void leave_trap(struct arch_frame *frame)
{
    arch_irq_save();
    if (arch_frame_user(frame))
        arch_handlers.user_return(frame, false);
}

/* entry.S calls the following four. The processor leaves AC as user mode set it, which with SMAP
 * permits user access. */
void trap_enter(struct arch_frame *frame);
void trap_enter(struct arch_frame *frame)
{
    arch_user_access_end();
    if (frame->vector < VEC_EXCEPTIONS)
        exception(frame);
    else
        interrupt(frame);
    leave_trap(frame);
}

void trap_pmu_enter(struct arch_frame *frame);
HOT_CODE void trap_pmu_enter(struct arch_frame *frame)
{
    arch_user_access_end();
    lapic_eoi();
    arch_handlers.pmu(frame);
}

void trap_paranoid_enter(struct arch_frame *frame);
void trap_paranoid_enter(struct arch_frame *frame)
{
    arch_user_access_end();
    if (frame->vector == VEC_NMI && this_cpu()->arch.stop) {
        arch_handlers.ipi(IPI_STOP);
        return; /* it was already stopping */
    }
    if (frame->vector == VEC_DF) {
        struct fault fault = fault_of(frame);
        panic_frame(frame, "code=double-fault at=%#llx fault=%s; at: of the last page fault",
                    (unsigned long long)fault.va, fault_explain(frame, &fault));
    }
    panic_frame(frame, "%s", exception_name(frame->vector));
}

void syscall_enter(struct arch_frame *frame);
void syscall_enter(struct arch_frame *frame)
{
    uint64_t args[6] = {frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8, frame->r9};

    arch_irq_restore(true);
    frame->rax = (uint64_t)arch_handlers.syscall(frame->rax, args, frame);
    leave_trap(frame);
}
