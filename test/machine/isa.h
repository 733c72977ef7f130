/*
 * The differences between the guests' instruction sets: which instructions matter to the model
 * beside their memory accesses, their effects, and how QEMU names its exception entry. One table
 * entry per ISA, chosen by the name of the target.
 */
#pragma once
#include "kernel/lib/base.h"

struct vcpu;

#define ISA_INSN_BYTES 16

/* An instruction that matters. */
struct insn {
    /* Called before it executes, with the guest's registers readable; NULL: no effect. */
    void (*execute)(struct vcpu *v, const struct insn *i);
    bool atomic; /* reads and writes memory in one: all its accesses are one store */
    bool string; /* repeated: a line is accessed once, not once for each element */
    bool reads_registers;
    /* has a successor to predict: conditional and indirect branches, returns */
    bool predicted;
    bool jump; /* a direct jump or call, the successor of which is known */
    bool call; /* has a return address, that of the instruction behind it */
    bool back; /* returns from a call */
    uint8_t bytes;
    uint64_t block; /* address of the first instruction that was translated with it */
    /* Operands, for execute. */
    uint8_t code;            /* which of several instructions */
    int8_t reg, base, index; /* indices into struct vcpu.registers; -1: none */
    uint8_t scale;
    int64_t offset;
    uint16_t system; /* which system register */
    uint64_t pc;
};

struct isa {
    const char *target; /* QEMU's name of it */
    /* Names, NULL-terminated: the order of struct vcpu.registers. */
    const char *const *registers;
    int pc, sp;           /* which of them */
    unsigned call_pushes; /* bytes by which a call lowers the stack pointer */
    /* Decodes an instruction, into a zeroed struct insn. */
    void (*decode)(struct insn *i, const uint8_t *bytes, size_t size);
    /* Functions in QEMU's table of CPU operations: `exception` enters exceptions, `interrupt` takes
     * interrupts (NULL: that one enters exceptions through the same table). */
    const char *exception, *interrupt;
    /* Returns whether a store to this device address sends an interrupt to a CPU. */
    bool (*sends_ipi)(paddr_t pa);
};

extern const struct isa isa_x86_64, isa_aarch64;

/* All ISAs have the same half of the address space for the kernel. */
static inline bool isa_user(vaddr_t pc)
{
    return !(pc >> 63);
}
