/* See vm.h. */
#include "apps/workloads/phases/vm.h"
#include <stdbool.h>

enum { WORD_BITS = 64 };

struct state {
    struct vm *vm;
    size_t pc; /* of the next instruction */
    unsigned depth;
    uint64_t stack[VM_STACK];
};

static bool push(struct state *s, uint64_t value)
{
    if (s->depth == VM_STACK)
        return false;
    s->stack[s->depth++] = value;
    return true;
}

static bool pop(struct state *s, uint64_t *value)
{
    if (!s->depth)
        return false;
    *value = s->stack[--s->depth];
    return true;
}

static void jump(struct state *s, const struct vm_code *i)
{
    s->pc = (size_t)i->imm;
}

static uint64_t *word_at(struct state *s, const struct vm_code *i)
{
    uint64_t at = s->vm->reg[i->b] + (uint64_t)i->imm;

    return at < s->vm->words ? &s->vm->memory[at] : NULL;
}

/* Executes jumps and memory accesses. Returns false if it is not allowed. */
static bool step_other(struct state *s, const struct vm_code *i)
{
    uint64_t *reg = s->vm->reg, *word, back;

    switch (i->op) {
    case VM_LOAD:
        word = word_at(s, i);
        if (word)
            reg[i->a] = *word;
        return word != NULL;
    case VM_STORE:
        word = word_at(s, i);
        if (word)
            *word = reg[i->a];
        return word != NULL;
    case VM_JUMP:
        jump(s, i);
        return true;
    case VM_LESS:
        if (reg[i->a] < reg[i->b])
            jump(s, i);
        return true;
    case VM_EQUAL:
        if (reg[i->a] == reg[i->b])
            jump(s, i);
        return true;
    case VM_CALL:
        back = s->pc;
        jump(s, i);
        return push(s, back);
    case VM_RETURN:
        if (!pop(s, &back))
            return false;
        s->pc = back;
        return true;
    case VM_PUSH:
        return push(s, reg[i->a]);
    case VM_POP:
        return pop(s, &reg[i->a]);
    default:
        return false;
    }
}

static bool step(struct state *s, const struct vm_code *i)
{
    uint64_t *reg = s->vm->reg;

    switch (i->op) {
    case VM_SET:
        reg[i->a] = (uint64_t)i->imm;
        return true;
    case VM_ADD:
        reg[i->a] = reg[i->b] + reg[i->c];
        return true;
    case VM_ADDI:
        reg[i->a] = reg[i->b] + (uint64_t)i->imm;
        return true;
    case VM_SUB:
        reg[i->a] = reg[i->b] - reg[i->c];
        return true;
    case VM_MUL:
        reg[i->a] = reg[i->b] * reg[i->c];
        return true;
    case VM_XOR:
        reg[i->a] = reg[i->b] ^ reg[i->c];
        return true;
    case VM_SHL:
        reg[i->a] = reg[i->b] << (i->imm & (WORD_BITS - 1));
        return true;
    case VM_SHR:
        reg[i->a] = reg[i->b] >> (i->imm & (WORD_BITS - 1));
        return true;
    case VM_ANDI:
        reg[i->a] = reg[i->b] & (uint64_t)i->imm;
        return true;
    default:
        return step_other(s, i);
    }
}

static bool registers_exist(const struct vm_code *i)
{
    return i->a < VM_REGISTERS && i->b < VM_REGISTERS && i->c < VM_REGISTERS;
}

int vm_run(struct vm *vm, const struct vm_code *code, size_t count, uint64_t steps_max)
{
    struct state s = {.vm = vm};

    for (vm->steps = 0; vm->steps < steps_max; vm->steps++) {
        if (s.pc >= count || !registers_exist(&code[s.pc]))
            return -1;
        const struct vm_code *i = &code[s.pc++];
        if (i->op == VM_HALT)
            return 0;
        if (!step(&s, i))
            return -1;
    }
    return -1;
}
