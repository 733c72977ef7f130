/* The registers of an interrupted context, for the rest of the kernel. */
#include "frame.h"
#include "kernel/arch/arch.h"

void frame_registers(const struct arch_frame *f, struct frame_register *out)
{
    const struct frame_register r[FRAME_REGISTERS] = {
        {"rax", f->rax},    {"rbx", f->rbx},   {"rcx", f->rcx},    {"rdx", f->rdx}, {"rsi", f->rsi},
        {"rdi", f->rdi},    {"rbp", f->rbp},   {"rsp", f->rsp},    {"r8 ", f->r8},  {"r9 ", f->r9},
        {"r10", f->r10},    {"r11", f->r11},   {"r12", f->r12},    {"r13", f->r13}, {"r14", f->r14},
        {"r15", f->r15},    {"rip", f->rip},   {"flg", f->rflags}, {"cs ", f->cs},  {"ss ", f->ss},
        {"vec", f->vector}, {"err", f->error},
    };

    memcpy(out, r, sizeof(r));
}

void arch_frame_registers(const struct arch_frame *f, uint64_t *out)
{
    const uint64_t r[ARCH_REGISTERS] = {
        f->rax, f->rbx,    f->rcx, f->rdx, f->rsi, f->rdi, f->rbp, f->rsp,
        f->rip, f->rflags, f->cs,  f->ss,  0,      0,      0,      0, /* ds, es, fs, gs */
        f->r8,  f->r9,     f->r10, f->r11, f->r12, f->r13, f->r14, f->r15};

    memcpy(out, r, sizeof(r));
}
