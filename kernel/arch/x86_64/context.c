/* Threads: their first stack, the switch between two, the first entry into user mode. */
#include "frame.h"
#include "fpu.h"
#include "x86.h"
#include "kernel/core/cpu.h"
#include "kernel/arch/fault.h"
#include <asm/hwcap2.h>
#include <asm/prctl.h>

void context_switch(uint64_t *out_sp, uint64_t in_sp);
void context_start(void);
NORETURN void user_enter(const struct arch_frame *frame);

/* The registers that context_switch pops. */
struct switch_frame {
    uint64_t r15, r14, r13, r12, rbx, rbp, ret;
};

void arch_context_init(struct arch_context *ctx, void *stack_top, void (*entry)(void *), void *arg)
{
    vaddr_t top = ALIGN_DOWN((vaddr_t)stack_top, 16);
    struct switch_frame *f = (struct switch_frame *)((struct arch_frame *)top - 1) - 1;

    *f = (struct switch_frame){
        .rbx = (uint64_t)entry, .r12 = (uint64_t)arg, .ret = (uint64_t)context_start};
    ctx->sp = (uint64_t)f;
    ctx->stack_top = top;
    ctx->fs_base = ctx->gs_base = 0;
    ctx->user = false;
}

static uint64_t read_fs_base(void)
{
    uint64_t v;

    if (!x86_features.fsgsbase)
        return rdmsr(MSR_FS_BASE);
    __asm__ volatile("rdfsbase %0" : "=r"(v));
    return v;
}

static void write_fs_base(uint64_t v)
{
    if (x86_features.fsgsbase)
        __asm__ volatile("wrfsbase %0" : : "r"(v));
    else
        wrmsr(MSR_FS_BASE, v);
}

/* Reads the GS base of user mode, which can change it only with FSGSBASE. In the kernel SWAPGS has
 * saved it; NMI handles the temporary swap. */
static uint64_t read_user_gs_base(void)
{
    uint64_t v;

    if (!x86_features.fsgsbase)
        return 0;
    __asm__ volatile("swapgs; rdgsbase %0; swapgs" : "=r"(v) : : "memory");
    return v;
}

static void write_user_gs_base(uint64_t v)
{
    if (x86_features.fsgsbase)
        __asm__ volatile("swapgs; wrgsbase %0; swapgs" : : "r"(v) : "memory");
}

static void save_user(struct arch_context *ctx)
{
    ctx->fs_base = read_fs_base();
    ctx->gs_base = read_user_gs_base();
    fpu_save(fpu_align(ctx->fpu));
}

static void load_user(const struct arch_context *ctx)
{
    write_fs_base(ctx->fs_base);
    write_user_gs_base(ctx->gs_base);
    fpu_restore(fpu_align((uint8_t *)ctx->fpu));
}

void arch_switch(struct arch_context *out, struct arch_context *in)
{
    struct arch_cpu *cpu = &this_cpu()->arch;

    if (out->user)
        save_user(out);
    if (in->user)
        load_user(in);
    cpu->kernel_stack = in->stack_top;
    cpu->tss.rsp[0] = in->stack_top;
    cpu->context = in;
    context_switch(&out->sp, in->sp);
}

/* Without FSGSBASE the GS base of user mode is fixed. */
int64_t arch_prctl(uint64_t operation, uint64_t argument)
{
    bool fs = operation == ARCH_SET_FS || operation == ARCH_GET_FS;
    bool irq = arch_irq_save();
    uint64_t base = fs ? read_fs_base() : read_user_gs_base();

    arch_irq_restore(irq);
    switch (operation) {
    case ARCH_SET_FS:
    case ARCH_SET_GS:
        if (argument >= USER_MAX || (!fs && !x86_features.fsgsbase))
            return -EPERM;
        irq = arch_irq_save();
        if (fs)
            write_fs_base(argument);
        else
            write_user_gs_base(argument);
        arch_irq_restore(irq);
        return 0;
    case ARCH_GET_FS:
    case ARCH_GET_GS:
        return arch_copy_to_user(argument, &base, sizeof(base));
    default: /* among them the shadow stacks that programs ask for */
        return -EINVAL;
    }
}

uint64_t arch_user_hwcap(void)
{
    return cpuid(1, 0).edx;
}

uint64_t arch_user_hwcap2(void)
{
    return x86_features.fsgsbase ? HWCAP2_FSGSBASE : 0;
}

/* Returns the frame at the end of the thread's stack, where its first entry into user mode takes
 * the registers from. */
static struct arch_frame *user_frame(const struct arch_context *ctx)
{
    return (struct arch_frame *)ctx->stack_top - 1;
}

static struct arch_frame first_frame(vaddr_t pc, vaddr_t sp, uint64_t arg)
{
    ASSERT(pc < USER_MAX);
    return (struct arch_frame){
        .rdi = arg,
        .rip = pc,
        .cs = SEL_USER_CODE,
        .rflags = RFLAGS_IF | BIT(1),
        .rsp = sp,
        .ss = SEL_USER_DATA,
    };
}

void arch_user_init(struct arch_user *u, vaddr_t pc, vaddr_t sp, uint64_t arg, vaddr_t tls)
{
    u->frame = first_frame(pc, sp, arg);
    u->fs_base = tls;
    u->gs_base = 0;
    fpu_reset(fpu_align(u->fpu));
}

void arch_user_copy(struct arch_user *u, const struct arch_frame *frame, vaddr_t sp, bool set_tls,
                    vaddr_t tls)
{
    bool irq = arch_irq_save();

    u->frame = *frame;
    u->frame.rax = 0;
    if (sp)
        u->frame.rsp = sp;
    u->fs_base = set_tls ? tls : read_fs_base();
    u->gs_base = read_user_gs_base();
    memset(u->fpu, 0, sizeof(u->fpu)); /* XSAVE leaves parts of its header */
    fpu_save(fpu_align(u->fpu));
    arch_irq_restore(irq);
}

void arch_user_load(const struct arch_user *u)
{
    bool irq = arch_irq_save();
    struct arch_context *ctx = this_cpu()->arch.context;

    *user_frame(ctx) = u->frame;
    ctx->fs_base = u->fs_base;
    ctx->gs_base = u->gs_base;
    memcpy(fpu_align(ctx->fpu), fpu_align((uint8_t *)u->fpu), FPU_AREA_SIZE);
    ctx->user = true;
    load_user(ctx);
    arch_irq_restore(irq);
}

const struct arch_frame *arch_user_frame(void)
{
    return user_frame(this_cpu()->arch.context);
}

void arch_user_enter(void)
{
    arch_irq_save();
    struct arch_frame *frame = user_frame(this_cpu()->arch.context);
    arch_handlers.user_return(frame, true);
    user_enter(frame);
}

void arch_user_restart(struct arch_frame *frame, vaddr_t pc, vaddr_t sp)
{
    bool irq = arch_irq_save();
    struct arch_context *ctx = this_cpu()->arch.context;

    *frame = first_frame(pc, sp, 0);
    ctx->fs_base = ctx->gs_base = 0;
    fpu_reset(fpu_align(ctx->fpu));
    load_user(ctx);
    arch_irq_restore(irq);
}
