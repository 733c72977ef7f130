/* What instructions do to the model that every instruction set has: for struct insn's `execute`. */
#pragma once
#include "test/machine/engine.h"

/* Lets the other CPUs go first. */
void pause_cpu(struct vcpu *v, const struct insn *i);
/* Until an interrupt comes. */
void halt(struct vcpu *v, const struct insn *i);
void fence(struct vcpu *v, const struct insn *i);
/* A repeated string instruction: no line counts as accessed by it yet. */
void begin_string(struct vcpu *v, const struct insn *i);
void exception_return(struct vcpu *v, const struct insn *i);
/* An access to a device that is none to memory: a port, a system register. */
void device_register(struct vcpu *v, const struct insn *i);
