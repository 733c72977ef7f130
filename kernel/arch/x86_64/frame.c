/* Looking back: registers and call chains. */
#include "frame.h"
#include "kernel/arch/arch.h"
#include "kernel/printf.h"

#define BACKTRACE_MAX 64

int peek64(const void *src, uint64_t *out);
extern char text_start[], text_end[];

vaddr_t arch_frame_pc(const struct arch_frame *frame)
{
    return frame->rip;
}

bool arch_frame_user(const struct arch_frame *frame)
{
    return frame->cs & 3;
}

void arch_frame_print(const struct arch_frame *f)
{
    const struct {
        const char *name;
        uint64_t v;
    } r[] = {
        {"rax", f->rax},    {"rbx", f->rbx},   {"rcx", f->rcx},    {"rdx", f->rdx}, {"rsi", f->rsi},
        {"rdi", f->rdi},    {"rbp", f->rbp},   {"rsp", f->rsp},    {"r8 ", f->r8},  {"r9 ", f->r9},
        {"r10", f->r10},    {"r11", f->r11},   {"r12", f->r12},    {"r13", f->r13}, {"r14", f->r14},
        {"r15", f->r15},    {"rip", f->rip},   {"flg", f->rflags}, {"cs ", f->cs},  {"ss ", f->ss},
        {"vec", f->vector}, {"err", f->error},
    };

    for (size_t i = 0; i < ARRAY_SIZE(r); i++)
        kprintf("%s%s %016llx", i % 4 ? "  " : i ? "\n  " : "  ", r[i].name, (unsigned long long)r[i].v);
    kprintf("\n");
}

static bool in_text(vaddr_t pc)
{
    return pc >= (vaddr_t)text_start && pc < (vaddr_t)text_end;
}

/* entry.S links interrupted code into the chain of frame pointers, so one walk crosses interrupts and stack
 * switches. */
void arch_backtrace(const struct arch_frame *frame, void (*step)(vaddr_t pc, void *arg), void *arg)
{
    uint64_t rbp = frame ? frame->rbp : (uint64_t)__builtin_frame_address(0);
    uint64_t pc, next;

    if (frame)
        step(frame->rip, arg);
    /* A jump to where no code is has pushed the caller, but made no link. */
    if (frame && !arch_frame_user(frame) && !in_text(frame->rip) && !peek64((const void *)frame->rsp, &pc))
        step(pc, arg);
    for (unsigned i = 0; i < BACKTRACE_MAX && rbp >= DIRECT_BASE && IS_ALIGNED(rbp, sizeof(uint64_t)); i++) {
        if (peek64((const void *)(rbp + 8), &pc) || peek64((const void *)rbp, &next) || !pc)
            return;
        step(pc, arg);
        rbp = next;
    }
}
