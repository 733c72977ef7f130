/* See fault.h. Uses what every ISA's frame.h offers: frame_sp, frame_irqs, frame_go. */
#include "kernel/arch/fault.h"
#include "frame.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/core/panic.h"

struct arch_handlers arch_handlers HOT;

void arch_attach(const struct arch_handlers *handlers)
{
    arch_handlers = *handlers;
}

enum fixup_kind { FIXUP_FAULT_IN, FIXUP_NO_FAULT };

/* An entry of the fixup table: distances from the fields themselves, written by the macro of
 * kernel/arch/fixup.inc. */
struct fixup {
    int32_t from, to;
    int32_t kind;
};
extern const struct fixup fixup_start[], fixup_end[];

static vaddr_t target(const int32_t *distance)
{
    return (vaddr_t)distance + (vaddr_t)(int64_t)*distance;
}

static const struct fixup *find_fixup(const struct arch_frame *frame)
{
    for (const struct fixup *f = fixup_start; f < fixup_end; f++) {
        if (target(&f->from) == arch_frame_pc(frame))
            return f;
    }
    return NULL;
}

bool fault_repair(struct arch_frame *frame)
{
    const struct fixup *f = find_fixup(frame);

    if (f)
        frame_go(frame, target(&f->to));
    return f;
}

void fault_from_user(struct arch_frame *frame, const struct fault *fault)
{
    arch_irq_restore(frame_irqs(frame));
    may_wait("fault in user mode");
    if (fault->va < USER_MAX && !fault->corrupt &&
        !arch_handlers.page_fault(fault->va, fault->access, true))
        return;
    arch_handlers.user_fault(USER_FAULT_MEMORY, arch_frame_pc(frame), fault->va, frame);
}

extern char text_start[], rodata_end[];

const char *fault_explain(const struct arch_frame *frame, const struct fault *fault)
{
    vaddr_t va = fault->va;

    if (va < PAGE_SIZE)
        return "null-pointer: null pointer";
    if (va < USER_MAX && fault->access == FAULT_EXEC)
        return "user-execution: user memory executed";
    if (va < USER_MAX && fault->present)
        return "user-access: user memory touched without access";
    if (va < USER_MAX)
        return "user-address: user address outside a user copy";
    if (fault->corrupt)
        return "page-table: corrupt page table";
    /* Mapped memory does not fault, so a fault near the stack pointer is in the page below the
     * stack. */
    if (va + PAGE_SIZE - frame_sp(frame) < 2 * PAGE_SIZE)
        return "stack-overflow: stack overflow in guard page";
    if (va >= (vaddr_t)text_start && va < (vaddr_t)rodata_end && fault->access == FAULT_WRITE)
        return "read-only: read-only kernel memory written";
    if (fault->access == FAULT_EXEC)
        return "data-executed: data executed";
    return "wild-pointer: wild pointer";
}

void fault_in_kernel(struct arch_frame *frame, const struct fault *fault)
{
    static const char *const names[] = {
        [FAULT_READ] = "read", [FAULT_WRITE] = "write", [FAULT_EXEC] = "execution"};
    const struct fixup *f = find_fixup(frame);

    if (!f)
        panic_frame(frame, "code=page-fault access=%s at=%#llx fault=%s", names[fault->access],
                    (unsigned long long)fault->va, fault_explain(frame, fault));
    if (f->kind == FIXUP_FAULT_IN && fault->va < USER_MAX) {
        if (this_cpu()->spin_depth)
            panic_frame(frame, "code=lock-held locks=%u: user memory copied with spinlocks held",
                        this_cpu()->spin_depth);
        arch_irq_restore(frame_irqs(frame));
        if (!arch_handlers.page_fault(fault->va, fault->access, false))
            return;
    }
    frame_go(frame, target(&f->to));
}
