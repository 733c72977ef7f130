/*
 * The common part of exceptions: an exception of user mode goes to the attached handlers; one of
 * the kernel is repaired by the fixup table or ends in a panic that describes it. An ISA's trap.c
 * decodes the exceptions and calls these functions.
 */
#pragma once
#include "kernel/arch/arch.h"

/* A memory access that the processor refused. */
struct fault {
    vaddr_t va;
    enum fault_access access;
    bool present; /* a page is mapped there, but not for this access */
    bool corrupt; /* the page tables are corrupt */
};

extern struct arch_handlers arch_handlers; /* the attached handlers; all NULL before */

/* Handle a refused access. Return if it is to be retried or was repaired. Interrupts off at
 * entry. */
void fault_from_user(struct arch_frame *frame, const struct fault *fault);
void fault_in_kernel(struct arch_frame *frame, const struct fault *fault);
/* Repairs an exception of kernel code that is no memory access, by the fixup table. Returns false
 * if the table has no entry. */
bool fault_repair(struct arch_frame *frame);
/* Describes a refused access of the kernel: "CODE: text", to be printed behind "fault=". */
const char *fault_explain(const struct arch_frame *frame, const struct fault *fault);
