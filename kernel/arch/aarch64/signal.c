/*
 * Frames of signals as Linux has them on AArch64 (arch/arm64/kernel/signal.c), which C libraries
 * and debuggers read: a record for unwinders, and below it the frame, whose context ends with
 * tagged records of the FP state and of the exception.
 */
#include "frame.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/lib/errno.h"
#include <asm/signal.h>
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/ucontext.h>

/* What a program sets of PSTATE: N, Z, C, V, DIT (C5.2.18). */
#define PSTATE_USER   0xf1000000ul
#define SVC_BYTES     4 /* of the instruction */
#define RECORDS_BYTES sizeof(((struct sigcontext *)0)->__reserved)

void fpu_save(void *area);
void fpu_restore(const void *area);

struct rt_sigframe {
    siginfo_t info;
    struct ucontext uc;
};

/* What is before the records. */
#define HEAD_BYTES \
    (offsetof(struct rt_sigframe, uc.uc_mcontext) + offsetof(struct sigcontext, __reserved))
#define UC_BYTES (HEAD_BYTES - offsetof(struct rt_sigframe, uc))

/* What user mode is interrupted with: x29 and x30. */
struct frame_record {
    uint64_t x29, x30;
};

/* As fpu.S stores it. */
struct fpu_area {
    __uint128_t v[32];
    uint64_t fpsr, fpcr;
};
_Static_assert(sizeof(struct fpu_area) == FPU_AREA_SIZE, "layout of fpu.S");

/* Copies the FP state to `at`. A switch of threads meanwhile saves the same again. Returns the end
 * of the record, or 0. */
static NOINLINE vaddr_t push_fpu(vaddr_t at)
{
    bool irq = arch_irq_save();
    struct fpu_area *area = (struct fpu_area *)this_cpu()->arch.context->fpu;
    struct fpsimd_context out = {.head = {FPSIMD_MAGIC, sizeof(out)}};

    fpu_save(area);
    arch_irq_restore(irq);
    out.fpsr = (uint32_t)area->fpsr;
    out.fpcr = (uint32_t)area->fpcr;
    memcpy(out.vregs, area->v, sizeof(out.vregs));
    return arch_copy_to_user(at, &out, sizeof(out)) ? 0 : at + sizeof(out);
}

static int push_records(vaddr_t at, const struct arch_frame *frame, const struct arch_signal *s)
{
    const struct esr_context esr = {{ESR_MAGIC, sizeof(esr)}, frame->esr};
    const struct _aarch64_ctx last = {0, 0};

    at = push_fpu(at);
    if (!at)
        return -EFAULT;
    if (s->fault) {
        if (arch_copy_to_user(at, &esr, sizeof(esr)))
            return -EFAULT;
        at += sizeof(esr);
    }
    return arch_copy_to_user(at, &last, sizeof(last)) ? -EFAULT : 0;
}

/* The frame without its records. */
union head {
    uint8_t bytes[HEAD_BYTES];
    uint64_t words[HEAD_BYTES / sizeof(uint64_t)];
};

#define FIELD(head, field)                                         \
    (*(typeof(((struct rt_sigframe *)0)->field) *)((head)->bytes + \
                                                   offsetof(struct rt_sigframe, field)))

static void fill_head(union head *h, const struct arch_frame *frame, const struct arch_signal *s)
{
    memset(h, 0, sizeof(*h));
    memcpy(&FIELD(h, info), s->info, ARCH_SIGNAL_INFO);
    FIELD(h, uc.uc_stack).ss_sp = (void *)s->alt_sp;
    FIELD(h, uc.uc_stack).ss_flags = (int)s->alt_flags;
    FIELD(h, uc.uc_stack).ss_size = s->alt_bytes;
    memcpy(&FIELD(h, uc.uc_sigmask), &s->mask, sizeof(s->mask));
    FIELD(h, uc.uc_mcontext.fault_address) = s->fault_addr;
    memcpy(&FIELD(h, uc.uc_mcontext.regs), frame->x, sizeof(frame->x));
    FIELD(h, uc.uc_mcontext.sp) = frame->sp;
    FIELD(h, uc.uc_mcontext.pc) = frame->pc;
    FIELD(h, uc.uc_mcontext.pstate) = frame->pstate;
}

int arch_signal_push(struct arch_frame *frame, const struct arch_signal *s)
{
    vaddr_t record =
        ALIGN_DOWN(s->stack_end ? s->stack_end : frame->sp, 16) - sizeof(struct frame_record);
    vaddr_t at = ALIGN_DOWN(record - sizeof(struct rt_sigframe), 16);
    const struct frame_record link = {frame->x[29], frame->x[FRAME_LR]};
    union head h;

    fill_head(&h, frame, s);
    if (at < s->stack_low || arch_copy_to_user(record, &link, sizeof(link)) ||
        arch_copy_to_user(at, &h, sizeof(h)) || push_records(at + HEAD_BYTES, frame, s))
        return -EFAULT;
    frame->x[0] = (uint64_t)s->number;
    frame->x[1] = at + offsetof(struct rt_sigframe, info);
    frame->x[2] = at + offsetof(struct rt_sigframe, uc);
    frame->x[29] = record;
    frame->x[FRAME_LR] = s->restorer;
    frame->sp = at;
    frame->pc = s->handler;
    frame->pstate = (frame->pstate & PSTATE_USER) | SPSR_EL0T;
    return 0;
}

/* Reads the records at `at`. Returns 0 if the FP state is among them. */
static int take_records(vaddr_t at, struct fpsimd_context *fpu)
{
    struct _aarch64_ctx head;
    bool found = false;

    for (uint64_t used = 0;; used += head.size) {
        if (used + sizeof(head) > RECORDS_BYTES)
            return -EINVAL;
        if (arch_copy_from_user(&head, at + used, sizeof(head)))
            return -EFAULT;
        if (!head.magic)
            return head.size || !found ? -EINVAL : 0;
        if (head.size < sizeof(head) || !IS_ALIGNED(head.size, 16) ||
            head.size > RECORDS_BYTES - used)
            return -EINVAL;
        if (head.magic == ESR_MAGIC)
            continue;
        if (head.magic != FPSIMD_MAGIC || head.size != sizeof(*fpu) || found)
            return -EINVAL;
        if (arch_copy_from_user(fpu, at + used, sizeof(*fpu)))
            return -EFAULT;
        found = true;
    }
}

/* Makes the FP state in the records at `at` that of the program. Returns 0 or an error. */
static NOINLINE int load_fpu(vaddr_t at)
{
    struct fpsimd_context fpu;
    int err = take_records(at, &fpu);

    if (err)
        return err;
    bool irq = arch_irq_save();
    struct fpu_area *area = (struct fpu_area *)this_cpu()->arch.context->fpu;
    memcpy(area->v, fpu.vregs, sizeof(area->v));
    area->fpsr = fpu.fpsr;
    area->fpcr = fpu.fpcr;
    fpu_restore(area);
    arch_irq_restore(irq);
    return 0;
}

static void take_head(const union head *h, struct arch_frame *frame, struct arch_signal *s)
{
    memcpy(frame->x, &FIELD(h, uc.uc_mcontext.regs), sizeof(frame->x));
    frame->sp = FIELD(h, uc.uc_mcontext.sp);
    frame->pc = FIELD(h, uc.uc_mcontext.pc);
    frame->pstate = (FIELD(h, uc.uc_mcontext.pstate) & PSTATE_USER) | SPSR_EL0T;
    memcpy(&s->mask, &FIELD(h, uc.uc_sigmask), sizeof(s->mask));
    s->alt_sp = (vaddr_t)FIELD(h, uc.uc_stack).ss_sp;
    s->alt_bytes = FIELD(h, uc.uc_stack).ss_size;
    s->alt_flags = (uint32_t)FIELD(h, uc.uc_stack).ss_flags;
}

int arch_signal_return(struct arch_frame *frame, struct arch_signal *s)
{
    union head h;

    if (!IS_ALIGNED(frame->sp, 16))
        return -EINVAL;
    if (arch_copy_from_user(&h, frame->sp, sizeof(h)))
        return -EFAULT;
    if (FIELD(&h, uc.uc_mcontext.pc) >= SHOWN_MAX)
        return -EINVAL;
    int err = load_fpu(frame->sp + HEAD_BYTES);
    if (err)
        return err;
    take_head(&h, frame, s);
    return 0;
}

void arch_fault_signal(enum user_fault kind, UNUSED const struct arch_frame *frame, int *number,
                       int *code)
{
    static const struct {
        int number, code;
    } signals[] = {
        [USER_FAULT_MEMORY] = {SIGSEGV, SEGV_MAPERR},
        [USER_FAULT_ILLEGAL] = {SIGILL, ILL_ILLOPC},
        [USER_FAULT_PRIVILEGED] = {SIGILL, ILL_ILLOPC},
        [USER_FAULT_ARITHMETIC] = {SIGFPE, FPE_FLTUNK},
        [USER_FAULT_ALIGNMENT] = {SIGBUS, BUS_ADRALN},
        [USER_FAULT_BREAKPOINT] = {SIGTRAP, TRAP_BRKPT},
        [USER_FAULT_OTHER] = {SIGSEGV, SI_KERNEL},
    };

    *number = signals[kind].number;
    *code = signals[kind].code;
}

void arch_call_result(struct arch_frame *frame, int64_t result)
{
    frame->x[0] = (uint64_t)result;
}

int64_t arch_call_result_of(const struct arch_frame *frame)
{
    return (int64_t)frame->x[0];
}

void arch_call_again(struct arch_frame *frame, UNUSED uint64_t number, uint64_t first)
{
    frame->x[0] = first;
    frame->pc -= SVC_BYTES;
}

vaddr_t arch_frame_sp(const struct arch_frame *frame)
{
    return frame->sp;
}
