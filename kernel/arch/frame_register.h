/* The registers of an interrupted context, for printing. */
#pragma once
#include "kernel/lib/base.h"

struct arch_frame;

struct frame_register {
    const char *name; /* all of one length */
    uint64_t value;
};
/* Returns all FRAME_REGISTERS (frame.h) registers, in the order to print them. */
void frame_registers(const struct arch_frame *frame, struct frame_register *out);
