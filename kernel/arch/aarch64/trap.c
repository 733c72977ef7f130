/* Decodes exceptions (Arm ARM DDI 0487, D1.3 and D17.2.37 ESR_EL1); kernel/arch/fault.c handles
 * faults. */
#include "frame.h"
#include "gic.h"
#include "internal.h"
#include "kernel/arch/fault.h"
#include "kernel/core/cpu.h"
#include "kernel/core/panic.h"

#define ESR_CLASS(esr) ((esr) >> 26 & 63)
#define ISS_STATUS     0x3f
#define ISS_WRITE      0x40
/* A cache maintenance instruction: reported as a write, but needs permission to read only. */
#define ISS_CACHE 0x100

enum class {
    CLASS_UNDEFINED = 0,
    CLASS_SVC = 0x15,
    CLASS_REGISTER = 0x18,
    CLASS_FETCH_USER = 0x20,
    CLASS_FETCH = 0x21,
    CLASS_ACCESS_USER = 0x24,
    CLASS_ACCESS = 0x25,
    CLASSES = 64
};

/* Fault status without its level (DFSC and IFSC). */
enum status {
    STATUS_ADDRESS_SIZE = 0,
    STATUS_TRANSLATION = 1,
    STATUS_ACCESS_FLAG = 2,
    STATUS_PERMISSION = 3,
    STATUS_WALK_ERROR = 5, /* 20 to 23: external abort during the walk */
    STATUS_ALIGNMENT = 0x21,
};

static const struct {
    const char *name;
    enum user_fault kind;
} classes[CLASSES] = {
    [0x00] = {"undefined instruction", USER_FAULT_ILLEGAL},
    [0x01] = {"trapped WFI or WFE", USER_FAULT_PRIVILEGED},
    [0x07] = {"trapped floating point", USER_FAULT_ILLEGAL},
    [0x0d] = {"branch target", USER_FAULT_OTHER},
    [0x0e] = {"illegal execution state", USER_FAULT_ILLEGAL},
    [0x15] = {"SVC", USER_FAULT_OTHER},
    [0x18] = {"trapped system register", USER_FAULT_PRIVILEGED},
    [0x19] = {"trapped SVE", USER_FAULT_ILLEGAL},
    [0x1c] = {"pointer authentication", USER_FAULT_OTHER},
    [0x1d] = {"trapped SME", USER_FAULT_ILLEGAL},
    [0x20] = {"instruction abort", USER_FAULT_OTHER},
    [0x21] = {"instruction abort", USER_FAULT_OTHER},
    [0x22] = {"PC alignment", USER_FAULT_ALIGNMENT},
    [0x24] = {"data abort", USER_FAULT_OTHER},
    [0x25] = {"data abort", USER_FAULT_OTHER},
    [0x26] = {"SP alignment", USER_FAULT_ALIGNMENT},
    [0x2c] = {"floating-point exception", USER_FAULT_ARITHMETIC},
    [0x2f] = {"system error", USER_FAULT_OTHER},
    [0x30] = {"hardware breakpoint", USER_FAULT_BREAKPOINT},
    [0x31] = {"hardware breakpoint", USER_FAULT_BREAKPOINT},
    [0x32] = {"single step", USER_FAULT_BREAKPOINT},
    [0x33] = {"single step", USER_FAULT_BREAKPOINT},
    [0x34] = {"watchpoint", USER_FAULT_BREAKPOINT},
    [0x35] = {"watchpoint", USER_FAULT_BREAKPOINT},
    [0x3c] = {"BRK", USER_FAULT_BREAKPOINT},
};

static unsigned class_of(const struct arch_frame *frame)
{
    return ESR_CLASS(frame->esr);
}

static const char *class_name(const struct arch_frame *frame)
{
    const char *name = classes[class_of(frame)].name;

    return name ? name : "unknown exception";
}

static bool is_fetch(const struct arch_frame *frame)
{
    return class_of(frame) == CLASS_FETCH || class_of(frame) == CLASS_FETCH_USER;
}

static bool is_access(const struct arch_frame *frame)
{
    return class_of(frame) == CLASS_ACCESS || class_of(frame) == CLASS_ACCESS_USER;
}

/* Returns whether the exception concerns page tables, and describes the fault. */
static bool fault_of(const struct arch_frame *frame, struct fault *out)
{
    unsigned status = (frame->esr & ISS_STATUS) >> 2;
    bool write = (frame->esr & (ISS_WRITE | ISS_CACHE)) == ISS_WRITE;

    if (!is_fetch(frame) && !is_access(frame))
        return false;
    if (status > STATUS_PERMISSION && status != STATUS_WALK_ERROR)
        return false;
    *out = (struct fault){
        .va = frame->far,
        .access = is_fetch(frame) ? FAULT_EXEC
                  : write         ? FAULT_WRITE
                                  : FAULT_READ,
        .present = status == STATUS_PERMISSION,
        .corrupt = status == STATUS_ADDRESS_SIZE || status == STATUS_WALK_ERROR,
    };
    return true;
}

static void leave_trap(struct arch_frame *frame)
{
    arch_irq_save();
    if (arch_frame_user(frame))
        arch_handlers.user_return(frame, false);
}

static NORETURN void die(const struct arch_frame *frame)
{
    panic_frame(frame, "%s, syndrome %#llx", class_name(frame), (unsigned long long)frame->esr);
}

/* entry.S calls the following with interrupts off; FIQs and system errors are unmasked unless the
 * exception is one. */
void trap_kernel(struct arch_frame *frame);
void trap_kernel(struct arch_frame *frame)
{
    struct fault fault;

    if (fault_of(frame, &fault))
        fault_in_kernel(frame, &fault);
    else if (!fault_repair(frame))
        die(frame);
    leave_trap(frame);
}

/* Without FEAT_IDST the reading of an ID register is an undefined instruction. */
static bool may_read_id(const struct arch_frame *frame)
{
    return class_of(frame) == CLASS_UNDEFINED || class_of(frame) == CLASS_REGISTER;
}

static void user_exception(struct arch_frame *frame)
{
    enum user_fault kind = classes[class_of(frame)].kind;
    bool aligned = (frame->esr & ISS_STATUS) != STATUS_ALIGNMENT;
    struct fault fault;

    if (fault_of(frame, &fault)) {
        fault_from_user(frame, &fault);
        return;
    }
    arch_irq_restore(true);
    if (may_read_id(frame) && cpuinfo_emulate(frame))
        return;
    arch_handlers.user_fault(is_access(frame) && !aligned ? USER_FAULT_ALIGNMENT : kind, frame->pc,
                             is_access(frame) ? frame->far : frame->pc, frame);
}

void trap_user(struct arch_frame *frame);
void trap_user(struct arch_frame *frame)
{
    if (class_of(frame) == CLASS_SVC) {
        arch_irq_restore(true);
        frame->x[0] = (uint64_t)arch_handlers.syscall(frame->x[8], frame->x, frame);
    } else {
        user_exception(frame);
    }
    leave_trap(frame);
}

void trap_irq(struct arch_frame *frame, uint64_t token);
void trap_irq(struct arch_frame *frame, uint64_t token)
{
    if (gic_interrupt(frame, token))
        leave_trap(frame);
}

void trap_fiq(struct arch_frame *frame);
void trap_fiq(struct arch_frame *frame)
{
    gic_fast_interrupt(frame);
}

void trap_error(struct arch_frame *frame);
void trap_error(struct arch_frame *frame)
{
    die(frame);
}

void trap_overflow(struct arch_frame *frame);
void trap_overflow(struct arch_frame *frame)
{
    struct fault fault;

    if (fault_of(frame, &fault))
        panic_frame(frame, "code=overflow at=%#llx fault=%s", (unsigned long long)fault.va,
                    fault_explain(frame, &fault));
    panic_frame(frame, "code=overflow: stack overflow: %s", class_name(frame));
}

void trap_impossible(struct arch_frame *frame);
void trap_impossible(struct arch_frame *frame)
{
    panic_frame(frame, "exception from an impossible state: %s", class_name(frame));
}
