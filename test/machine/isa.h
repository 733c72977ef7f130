/*
 * What differs between the guests' instruction sets: which instructions matter to the model beside
 * their memory accesses, what they do to it, and how QEMU names its exception entry. One table
 * entry per ISA, chosen by the name of the target.
 */
#pragma once
#include "kernel/lib/base.h"

struct vcpu;

#define ISA_INSN_BYTES 16

/* An instruction that matters. */
struct insn {
    /* Called before it executes, with the guest's registers readable; NULL: nothing to do. */
    void (*execute)(struct vcpu *v, const struct insn *i);
    bool atomic; /* reads and writes memory in one: all its accesses are one store */
    bool string; /* repeats itself over memory: a line is accessed once, not once an element */
    bool reads_registers;
    /* where it goes on has to be predicted: conditional and indirect branches, returns */
    bool predicted;
    uint8_t bytes;
    /* Operands, for execute. */
    uint8_t code;            /* which of several */
    int8_t reg, base, index; /* numbers as struct vcpu.registers has them; -1: none */
    uint8_t scale;
    int64_t offset;
    uint16_t system; /* which system register */
    uint64_t pc;
};

struct isa {
    const char *target; /* QEMU's name of it */
    /* names, NULL behind the last: struct vcpu.registers is in this order */
    const char *const *registers;
    /* Fills in what it recognises; the caller has zeroed the rest. */
    void (*decode)(struct insn *i, const uint8_t *bytes, size_t size);
    /* Functions in QEMU's table of CPU operations: which enters exceptions, and which takes
     * interrupts. NULL: that enters exceptions through the same table. */
    const char *exception, *interrupt;
    /* A store to this device address sends an interrupt to a CPU. */
    bool (*sends_ipi)(paddr_t pa);
};

extern const struct isa isa_x86_64, isa_aarch64;

/* The ISA of that target, or NULL. */
const struct isa *isa_find(const char *target);

/* Which half of the address space is the kernel's is the same on all. */
static inline bool isa_user(vaddr_t pc)
{
    return !(pc >> 63);
}
