/* Effects of instructions on the model that every instruction set has: for struct insn's
 * `execute`. */
#pragma once
#include "test/machine/engine.h"

/* Lets the other CPUs go first. */
void pause_cpu(struct vcpu *v, const struct insn *i);
/* Halts the CPU until an interrupt comes. */
void halt(struct vcpu *v, const struct insn *i);
void fence(struct vcpu *v, const struct insn *i);
/* Begins a repeated string instruction: it has accessed no line yet. */
void begin_string(struct vcpu *v, const struct insn *i);
void exception_return(struct vcpu *v, const struct insn *i);
/* Accesses a device that is not memory: a port, a system register. */
void device_register(struct vcpu *v, const struct insn *i);
