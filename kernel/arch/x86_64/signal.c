/*
 * Frames of signals as Linux has them on x86-64 (arch/x86/kernel/signal_64.c), which C libraries
 * and debuggers read: below the red zone the FP state, as XSAVE writes it, with Linux's magic
 * numbers; below that the frame.
 */
#include "frame.h"
#include "fpu.h"
#include "x86.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/lib/errno.h"
#include <asm/signal.h>
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/ucontext.h>

#define RED_ZONE 128 /* bytes below the stack pointer that are the function's (System V ABI) */
/* Flags that a program may set: those that POPF sets in user mode. */
#define RFLAGS_USER        0x54dd5ul
#define RFLAGS_FIXED       2ul
#define MXCSR_MASK_DEFAULT 0xffbfu
#define SYSCALL_BYTES      2 /* of the instruction */
#define SINGLE_STEP        1
#define EXCEPTIONS         32
#define FP_SSE             3ul /* features of the area that FXSAVE writes */

struct rt_sigframe {
    uint64_t return_to;
    struct ucontext uc;
    siginfo_t info;
};

/* The part behind FPU_LEGACY bytes (SDM vol. 1, 13.4.2). */
struct xsave_header {
    uint64_t features, compacted, reserved[6];
};

static struct sigcontext context_of(const struct arch_frame *f, const struct arch_signal *s)
{
    return (struct sigcontext){
        .r8 = f->r8,
        .r9 = f->r9,
        .r10 = f->r10,
        .r11 = f->r11,
        .r12 = f->r12,
        .r13 = f->r13,
        .r14 = f->r14,
        .r15 = f->r15,
        .rdi = f->rdi,
        .rsi = f->rsi,
        .rbp = f->rbp,
        .rbx = f->rbx,
        .rdx = f->rdx,
        .rax = f->rax,
        .rcx = f->rcx,
        .rsp = f->rsp,
        .rip = f->rip,
        .eflags = f->rflags,
        .cs = SEL_USER_CODE,
        .ss = SEL_USER_DATA,
        .err = s->fault ? f->error : 0,
        .trapno = s->fault && f->vector < EXCEPTIONS ? f->vector : 0,
        .oldmask = s->mask,
        .cr2 = s->fault_addr,
    };
}

/* Copies the FP state to `at`, with Linux's description of it in the bytes that the processor
 * leaves alone. A switch of threads meanwhile saves the same again. */
static int push_fpu(vaddr_t at)
{
    struct _fpx_sw_bytes describe = {
        .magic1 = FP_XSTATE_MAGIC1,
        .extended_size = (uint32_t)fpu_bytes() + FP_XSTATE_MAGIC2_SIZE,
        .xfeatures = fpu_features(),
        .xstate_size = (uint32_t)fpu_bytes(),
    };
    const uint32_t magic2 = FP_XSTATE_MAGIC2;
    bool irq = arch_irq_save();
    uint8_t *area = fpu_align(this_cpu()->arch.context->fpu);

    fpu_save(area);
    arch_irq_restore(irq);
    if (arch_copy_to_user(at, area, fpu_bytes()))
        return -EFAULT;
    if (!fpu_features())
        return 0;
    if (arch_copy_to_user(at + offsetof(struct _fpstate_64, sw_reserved), &describe,
                          sizeof(describe)) ||
        arch_copy_to_user(at + fpu_bytes(), &magic2, sizeof(magic2)))
        return -EFAULT;
    return 0;
}

int arch_signal_push(struct arch_frame *frame, const struct arch_signal *s)
{
    vaddr_t end = s->stack_end ? s->stack_end : frame->rsp - RED_ZONE;
    vaddr_t fpu = ALIGN_DOWN(end - fpu_bytes() - FP_XSTATE_MAGIC2_SIZE, 64);
    vaddr_t at = ALIGN_DOWN(fpu - sizeof(struct rt_sigframe), 16) - 8;
    struct rt_sigframe out = {
        .return_to = s->restorer,
        .uc = {.uc_flags =
                   (fpu_features() ? UC_FP_XSTATE : 0) | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
               .uc_stack = {(void *)s->alt_sp, (int)s->alt_flags, s->alt_bytes},
               .uc_mcontext = context_of(frame, s),
               .uc_sigmask = s->mask},
    };

    memcpy(&out.info, s->info, sizeof(out.info));
    out.uc.uc_mcontext.fpstate = (struct _fpstate *)fpu;
    if (at < s->stack_low || push_fpu(fpu) || arch_copy_to_user(at, &out, sizeof(out)))
        return -EFAULT;
    frame->rdi = (uint64_t)s->number;
    frame->rsi = at + offsetof(struct rt_sigframe, info);
    frame->rdx = at + offsetof(struct rt_sigframe, uc);
    frame->rax = 0;
    frame->rsp = at;
    frame->rip = s->handler;
    frame->rflags &= ~(RFLAGS_DF | RFLAGS_TF | BIT(16));
    return 0;
}

/* Returns the bits of MXCSR that this processor has (SDM vol. 1, 11.6.6). */
static uint32_t mxcsr_mask(void)
{
    uint32_t mask;
    bool irq = arch_irq_save();
    uint8_t *area = fpu_align(this_cpu()->arch.context->fpu);

    fpu_save(area);
    memcpy(&mask, area + offsetof(struct _fpstate_64, mxcsr_mask), sizeof(mask));
    arch_irq_restore(irq);
    return mask ? mask : MXCSR_MASK_DEFAULT;
}

/* Reads the FP state at `at`; 0: that of a new program. Makes of it what XRSTOR does not refuse. */
static int take_fpu(vaddr_t at, uint8_t *area)
{
    struct _fpx_sw_bytes describe;
    struct xsave_header *header = (struct xsave_header *)(area + FPU_LEGACY);
    uint64_t features = 0;
    uint32_t magic2 = 0, mxcsr;

    fpu_reset(area);
    if (!at)
        return 0;
    if (arch_copy_from_user(area, at, FPU_LEGACY))
        return -EFAULT;
    memcpy(&describe, area + offsetof(struct _fpstate_64, sw_reserved), sizeof(describe));
    if (fpu_features() && describe.magic1 == FP_XSTATE_MAGIC1 &&
        describe.xstate_size == fpu_bytes() &&
        !arch_copy_from_user(&magic2, at + fpu_bytes(), sizeof(magic2)) &&
        magic2 == FP_XSTATE_MAGIC2) {
        if (arch_copy_from_user(area + FPU_LEGACY, at + FPU_LEGACY, fpu_bytes() - FPU_LEGACY))
            return -EFAULT;
        features = header->features & fpu_features();
    } else {
        features = FP_SSE;
    }
    *header = (struct xsave_header){.features = features};
    memcpy(&mxcsr, area + offsetof(struct _fpstate_64, mxcsr), sizeof(mxcsr));
    return mxcsr & ~mxcsr_mask() ? -EINVAL : 0;
}

/* Makes the FP state at `at` that of the program. Returns 0 or an error. */
static NOINLINE int load_fpu(vaddr_t at)
{
    uint8_t buffer[FPU_AREA_SIZE + 64], *area = fpu_align(buffer);
    int err = take_fpu(at, area);

    if (err)
        return err;
    bool irq = arch_irq_save();
    uint8_t *own = fpu_align(this_cpu()->arch.context->fpu);
    memcpy(own, area, FPU_AREA_SIZE);
    fpu_restore(own);
    arch_irq_restore(irq);
    return 0;
}

static void take_registers(struct arch_frame *f, const struct sigcontext *c)
{
    f->r8 = c->r8;
    f->r9 = c->r9;
    f->r10 = c->r10;
    f->r11 = c->r11;
    f->r12 = c->r12;
    f->r13 = c->r13;
    f->r14 = c->r14;
    f->r15 = c->r15;
    f->rdi = c->rdi;
    f->rsi = c->rsi;
    f->rbp = c->rbp;
    f->rbx = c->rbx;
    f->rdx = c->rdx;
    f->rax = c->rax;
    f->rcx = c->rcx;
    f->rsp = c->rsp;
    f->rip = c->rip;
    f->rflags = (c->eflags & RFLAGS_USER) | RFLAGS_IF | RFLAGS_FIXED;
    f->cs = SEL_USER_CODE;
    f->ss = SEL_USER_DATA;
}

int arch_signal_return(struct arch_frame *frame, struct arch_signal *s)
{
    struct ucontext uc;
    /* The handler's return has taken the first word of the frame. */
    vaddr_t at = frame->rsp - 8;

    if (arch_copy_from_user(&uc, at + offsetof(struct rt_sigframe, uc), sizeof(uc)))
        return -EFAULT;
    if (uc.uc_mcontext.rip >= SHOWN_MAX)
        return -EINVAL;
    int err = load_fpu((vaddr_t)uc.uc_mcontext.fpstate);
    if (err)
        return err;
    take_registers(frame, &uc.uc_mcontext);
    s->mask = uc.uc_sigmask;
    s->alt_sp = (vaddr_t)uc.uc_stack.ss_sp;
    s->alt_bytes = uc.uc_stack.ss_size;
    s->alt_flags = (uint32_t)uc.uc_stack.ss_flags;
    return 0;
}

/* Returns the si_code of an unmasked exception of x87 or SSE, from its status bits. */
static int float_code(unsigned status)
{
    return status & 1    ? FPE_FLTINV
           : status & 4  ? FPE_FLTDIV
           : status & 8  ? FPE_FLTOVF
           : status & 18 ? FPE_FLTUND
           : status & 32 ? FPE_FLTRES
                         : FPE_FLTINV;
}

static int arithmetic_code(const struct arch_frame *frame)
{
    uint16_t control, status;
    uint32_t mxcsr;
    bool irq = arch_irq_save();
    uint8_t *area = fpu_align(this_cpu()->arch.context->fpu);

    fpu_save(area);
    memcpy(&control, area, sizeof(control));
    memcpy(&status, area + offsetof(struct _fpstate_64, swd), sizeof(status));
    memcpy(&mxcsr, area + offsetof(struct _fpstate_64, mxcsr), sizeof(mxcsr));
    arch_irq_restore(irq);
    switch (frame->vector) {
    case 0:
        return FPE_INTDIV;
    case 4:
        return FPE_INTOVF;
    case 16:
        return float_code(status & ~(unsigned)control);
    default:
        return float_code(mxcsr & ~(mxcsr >> 7));
    }
}

void arch_fault_signal(enum user_fault kind, const struct arch_frame *frame, int *number, int *code)
{
    *number = SIGSEGV;
    *code = SI_KERNEL;
    if (kind == USER_FAULT_MEMORY && frame->vector == VEC_PF)
        *code = SEGV_MAPERR;
    if (kind == USER_FAULT_ILLEGAL) {
        *number = SIGILL;
        *code = ILL_ILLOPN;
    }
    if (kind == USER_FAULT_ARITHMETIC) {
        *number = SIGFPE;
        *code = arithmetic_code(frame);
    }
    if (kind == USER_FAULT_ALIGNMENT) {
        *number = SIGBUS;
        *code = BUS_ADRALN;
    }
    if (kind == USER_FAULT_BREAKPOINT) {
        *number = SIGTRAP;
        *code = frame->vector == SINGLE_STEP ? TRAP_TRACE : SI_KERNEL;
    }
}

void arch_call_result(struct arch_frame *frame, int64_t result)
{
    frame->rax = (uint64_t)result;
}

int64_t arch_call_result_of(const struct arch_frame *frame)
{
    return (int64_t)frame->rax;
}

void arch_call_again(struct arch_frame *frame, uint64_t number, UNUSED uint64_t first)
{
    frame->rax = number;
    frame->rip -= SYSCALL_BYTES;
}

vaddr_t arch_frame_sp(const struct arch_frame *frame)
{
    return frame->rsp;
}
