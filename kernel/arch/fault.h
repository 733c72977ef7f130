/*
 * Exceptions, the part that is the same everywhere: a user's ends in the handlers main attached,
 * the kernel's own is repaired by the fixup table or ends in a panic that says what happened. An
 * ISA's trap.c decodes what its processor reports and calls these.
 */
#pragma once
#include "kernel/arch/arch.h"

/* A memory access the processor refused. */
struct fault {
    vaddr_t va;
    enum fault_access access;
    bool present; /* something is mapped there, but not for this access */
    bool corrupt; /* the page tables themselves are broken */
};

extern struct arch_handlers arch_handlers; /* what main attached; NULL before */

/* Both return when the access is to be tried again or has been repaired. Interrupts off at
 * entry. */
void fault_from_user(struct arch_frame *frame, const struct fault *fault);
void fault_in_kernel(struct arch_frame *frame, const struct fault *fault);
/* An exception of the kernel's own code that is no memory access: goes on where the fixup table
 * says; false: it says nothing. */
bool fault_repair(struct arch_frame *frame);
/* What a refused access of the kernel's looks like, in a few words. */
const char *fault_explain(const struct arch_frame *frame, const struct fault *fault);
