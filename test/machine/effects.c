/* See effects.h. */
#include "test/machine/effects.h"

void pause_cpu(struct vcpu *v, const struct insn *i)
{
    (void)i;
    turn_pause(v);
}

void halt(struct vcpu *v, const struct insn *i)
{
    (void)i;
    turn_halt(v);
}

void fence(struct vcpu *v, const struct insn *i)
{
    (void)i;
    execute_fence(v);
}

void begin_string(struct vcpu *v, const struct insn *i)
{
    (void)i;
    v->string_loaded = v->string_stored = NEVER;
}

void exception_return(struct vcpu *v, const struct insn *i)
{
    (void)i;
    execute_exception_return(v);
}

void device_register(struct vcpu *v, const struct insn *i)
{
    (void)i;
    execute_device(v);
}
