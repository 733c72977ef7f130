/* Threads: their first stack, the switch between two, the first entry into user mode. */
#include "frame.h"
#include "fpu.h"
#include "x86.h"
#include "kernel/core/cpu.h"
#include "kernel/arch/fault.h"

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
    struct switch_frame *f = (struct switch_frame *)top - 1;

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

void arch_tls_set(vaddr_t tls)
{
    write_fs_base(tls);
}

uint64_t arch_user_hwcap(void)
{
    return 0;
}

void arch_user_enter(vaddr_t pc, vaddr_t sp, uint64_t arg, vaddr_t tls)
{
    struct arch_frame frame = {
        .rdi = arg,
        .rip = pc,
        .cs = SEL_USER_CODE,
        .rflags = RFLAGS_IF | BIT(1),
        .rsp = sp,
        .ss = SEL_USER_DATA,
    };

    ASSERT(pc < USER_MAX);
    arch_irq_save();
    arch_handlers.user_return(NULL);
    struct arch_context *ctx = this_cpu()->arch.context;
    fpu_reset(fpu_align(ctx->fpu));
    ctx->fs_base = tls;
    ctx->gs_base = 0;
    ctx->user = true;
    load_user(ctx);
    user_enter(&frame);
}
