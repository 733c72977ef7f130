/* Threads: their first stack, the switch between two, the first entry into user mode. */
#include "frame.h"
#include "kernel/core/cpu.h"
#include "kernel/arch/fault.h"

void context_switch(uint64_t *out_sp, uint64_t in_sp);
void context_start(void);
NORETURN void user_enter(struct arch_frame *frame);
void fpu_save(void *area);
void fpu_restore(const void *area);

/* The registers that context_switch saves on the stack. */
struct switch_frame {
    uint64_t x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30;
};

/* Returns the frame at the end of the thread's stack, where entries from user mode save the
 * registers, and its first entry into user mode takes them from. */
static struct arch_frame *user_frame(const struct arch_context *ctx)
{
    return (struct arch_frame *)ctx->stack_top - 1;
}

void arch_context_init(struct arch_context *ctx, void *stack_top, void (*entry)(void *), void *arg)
{
    ctx->stack_top = ALIGN_DOWN((vaddr_t)stack_top, 16);
    struct switch_frame *f = (struct switch_frame *)user_frame(ctx) - 1;
    *f = (struct switch_frame){
        .x19 = (uint64_t)entry, .x20 = (uint64_t)arg, .x30 = (uint64_t)context_start};
    ctx->sp = (uint64_t)f;
    ctx->tls = 0;
    ctx->user = false;
}

static void save_user(struct arch_context *ctx)
{
    ctx->tls = sysreg_read(tpidr_el0);
    fpu_save(ctx->fpu);
}

static void load_user(const struct arch_context *ctx)
{
    sysreg_write(tpidr_el0, ctx->tls);
    fpu_restore(ctx->fpu);
}

void arch_switch(struct arch_context *out, struct arch_context *in)
{
    if (out->user)
        save_user(out);
    if (in->user)
        load_user(in);
    this_cpu()->arch.context = in;
    context_switch(&out->sp, in->sp);
}

void arch_tls_set(vaddr_t tls)
{
    sysreg_write(tpidr_el0, tls);
}

void arch_user_enter(vaddr_t pc, vaddr_t sp, uint64_t arg, vaddr_t tls)
{
    ASSERT(pc < USER_MAX);
    arch_irq_save();
    arch_handlers.user_return(NULL);
    struct arch_context *ctx = this_cpu()->arch.context;
    memset(ctx->fpu, 0, sizeof(ctx->fpu)); /* round to nearest, no traps */
    ctx->tls = tls;
    ctx->user = true;
    load_user(ctx);
    *user_frame(ctx) = (struct arch_frame){.x = {arg}, .sp = sp, .pc = pc, .pstate = SPSR_EL0T};
    user_enter(user_frame(ctx));
}
