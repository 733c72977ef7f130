/* The registers of an interrupted context, for the rest of the kernel. */
#include "frame.h"
#include "kernel/arch/arch.h"

void frame_registers(const struct arch_frame *frame, struct frame_register *out)
{
    static const char *const names[FRAME_REGISTERS] = {
        "x0 ", "x1 ", "x2 ", "x3 ", "x4 ", "x5 ", "x6 ", "x7 ", "x8 ", "x9 ", "x10", "x11",
        "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
        "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp ", "pc ", "pst", "esr", "far",
    };

    /* The frame begins with the registers in this order. */
    for (unsigned i = 0; i < FRAME_REGISTERS; i++)
        out[i] = (struct frame_register){names[i], ((const uint64_t *)frame)[i]};
}

void arch_frame_registers(const struct arch_frame *f, uint64_t *out)
{
    memcpy(out, f->x, sizeof(f->x));
    out[31] = f->sp;
    out[32] = f->pc;
}
