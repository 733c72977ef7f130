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

static struct arch_frame first_frame(vaddr_t pc, vaddr_t sp, uint64_t arg)
{
    ASSERT(pc < USER_MAX);
    return (struct arch_frame){.x = {arg}, .sp = sp, .pc = pc, .pstate = SPSR_EL0T};
}

int64_t arch_prctl(UNUSED uint64_t operation, UNUSED uint64_t argument)
{
    return -ENOSYS;
}

void arch_user_init(struct arch_user *u, vaddr_t pc, vaddr_t sp, uint64_t arg, vaddr_t tls)
{
    u->frame = first_frame(pc, sp, arg);
    u->tls = tls;
    memset(u->fpu, 0, sizeof(u->fpu)); /* round to nearest, no traps */
}

void arch_user_copy(struct arch_user *u, const struct arch_frame *frame, vaddr_t sp, bool set_tls,
                    vaddr_t tls)
{
    u->frame = *frame;
    u->frame.x[0] = 0;
    if (sp)
        u->frame.sp = sp;
    u->tls = set_tls ? tls : sysreg_read(tpidr_el0);
    fpu_save(u->fpu);
}

void arch_user_load(const struct arch_user *u)
{
    bool irq = arch_irq_save();
    struct arch_context *ctx = this_cpu()->arch.context;

    *user_frame(ctx) = u->frame;
    ctx->tls = u->tls;
    memcpy(ctx->fpu, u->fpu, sizeof(ctx->fpu));
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
    ctx->tls = 0;
    memset(ctx->fpu, 0, sizeof(ctx->fpu));
    load_user(ctx);
    arch_irq_restore(irq);
}
