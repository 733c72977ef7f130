/*
 * A small register machine, for measuring an interpreter: sixteen registers of 64 bits, a memory of
 * words, a stack of return addresses and saved registers. Any program may be given; one that does
 * something not allowed ends. Pure.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { VM_REGISTERS = 16, VM_STACK = 256 };

enum vm_op {
    VM_TRAP, /* instructions not filled in */
    VM_HALT,
    VM_SET,   /* a = imm */
    VM_ADD,   /* a = b + c */
    VM_ADDI,  /* a = b + imm */
    VM_SUB,   /* a = b - c */
    VM_MUL,   /* a = b * c */
    VM_XOR,   /* a = b ^ c */
    VM_SHL,   /* a = b << imm % 64 */
    VM_SHR,   /* a = b >> imm % 64, unsigned*/
    VM_ANDI,  /* a = b & imm */
    VM_LOAD,  /* a = memory[b + imm] */
    VM_STORE, /* memory[b + imm] = a */
    VM_JUMP,  /* to imm */
    VM_LESS,  /* if a < b, unsigned, to imm */
    VM_EQUAL, /* if a == b, to imm */
    VM_CALL,  /* to imm, until RETURN */
    VM_RETURN,
    VM_PUSH, /* pushes a */
    VM_POP,  /* pops a */
};

struct vm_code {
    uint8_t op, a, b, c; /* enum vm_op, registers */
    int32_t imm;
};

struct vm {
    uint64_t reg[VM_REGISTERS];
    uint64_t *memory;
    size_t words;
    uint64_t steps; /* executed by vm_run() */
};

/* Runs from instruction 0 to VM_HALT. Returns 0; -1 if the program left its code, memory or stack,
 * met an unknown instruction, or took more than steps_max. */
int vm_run(struct vm *vm, const struct vm_code *code, size_t count, uint64_t steps_max);
