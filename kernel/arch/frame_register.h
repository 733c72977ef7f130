/* For printing an interrupted context. */
#pragma once
#include "kernel/lib/base.h"

struct arch_frame;

struct frame_register {
    const char *name; /* all of one width */
    uint64_t value;
};
/* All FRAME_REGISTERS (frame.h) of them, in the order to print them. */
void frame_registers(const struct arch_frame *frame, struct frame_register *out);
