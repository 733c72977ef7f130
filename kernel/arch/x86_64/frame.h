/* The registers of an interrupted context as entry.S lays them on the stack. */
#pragma once
#include "kernel/base.h"

struct arch_frame {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
    uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
    uint64_t vector, error;
    uint64_t rip, cs, rflags, rsp, ss; /* pushed by the processor */
};
